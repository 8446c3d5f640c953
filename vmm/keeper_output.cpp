// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_output.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "hostd/base/file.h"

namespace dormouse::vmm {

OutputLog::OutputLog(EventLoop& loop, UniqueFd pipe, std::filesystem::path file, std::size_t limit)
    : pipe_(std::move(pipe)), path_(std::move(file)), limit_(limit) {
    ::fcntl(pipe_.get(), F_SETFL, ::fcntl(pipe_.get(), F_GETFL) | O_NONBLOCK);
    watch_ = loop.watch(pipe_.get(), POLLIN, [this](short) {
        if (!read_once()) watch_.reset();
    });
}

bool OutputLog::read_once() {
    char buffer[8 << 10];
    const auto got = ::read(pipe_.get(), buffer, sizeof buffer);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    add({buffer, static_cast<std::size_t>(got)});
    return true;
}

void OutputLog::drain() {
    char buffer[8 << 10];
    for (;;) {
        const auto got = ::read(pipe_.get(), buffer, sizeof buffer);
        if (got <= 0) return;
        add({buffer, static_cast<std::size_t>(got)});
    }
}

void OutputLog::add(std::string_view bytes) {
    write(bytes);
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const auto piece = bytes.substr(0, end);
        unfinished_ += piece.substr(0, kLineLength - std::min(unfinished_.size(), kLineLength));
        if (end == std::string_view::npos) return;
        bytes.remove_prefix(end + 1);
        if (!unfinished_.empty() && unfinished_.back() == '\r') unfinished_.pop_back();
        lines_.push_back(std::exchange(unfinished_, {}));
        if (lines_.size() > kLines) lines_.pop_front();
    }
}

std::vector<std::string> OutputLog::tail() const {
    std::vector<std::string> result{lines_.begin(), lines_.end()};
    if (!unfinished_.empty()) result.push_back(unfinished_);
    if (result.size() > kLines) result.erase(result.begin());
    return result;
}

void OutputLog::write(std::string_view bytes) {
    if (file_ && size_ + bytes.size() > limit_) {
        file_.reset();
        auto older = path_;
        older += ".1";
        ::rename(path_.c_str(), older.c_str());
    }
    if (!file_) {
        auto opened = open_file(path_, O_WRONLY | O_CREAT | O_APPEND);
        if (!opened) return;
        file_ = std::move(*opened);
        struct stat info {};
        size_ = ::fstat(file_.get(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
    }
    size_ += bytes.size();
    [[maybe_unused]] const auto written = write_all(file_.get(), bytes);
}

}  // namespace dormouse::vmm
