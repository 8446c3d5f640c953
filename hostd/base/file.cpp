// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace dormouse {

namespace fs = std::filesystem;

Result<UniqueFd> open_file(const fs::path& path, int flags, unsigned mode) {
    UniqueFd fd{::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode))};
    if (!fd) return fail_errno(fmt::format("cannot open {}", path.string()));
    return fd;
}

Result<std::string> read_file(const fs::path& path, std::size_t limit) {
    DORMOUSE_TRY_ASSIGN(const auto fd, open_file(path, O_RDONLY));
    std::string content;
    char buffer[64 << 10];
    for (;;) {
        const auto got = ::read(fd.get(), buffer, sizeof buffer);
        if (got < 0) {
            if (errno == EINTR) continue;
            return fail_errno(fmt::format("cannot read {}", path.string()));
        }
        if (got == 0) return content;
        content.append(buffer, static_cast<std::size_t>(got));
        if (content.size() > limit)
            return fail(Errc::TooLarge, fmt::format("{} is longer than {} bytes", path.string(), limit));
    }
}

Result<> write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return fail_errno("cannot write");
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<> sync_directory(const fs::path& directory) {
    DORMOUSE_TRY_ASSIGN(const auto fd, open_file(directory, O_RDONLY | O_DIRECTORY));
    if (::fsync(fd.get()) != 0) return fail_errno(fmt::format("cannot sync {}", directory.string()));
    return {};
}

Result<> write_file_atomic(const fs::path& path, std::string_view content, unsigned mode) {
    auto partial = path;
    partial += ".partial";
    {
        DORMOUSE_TRY_ASSIGN(const auto fd, open_file(partial, O_WRONLY | O_CREAT | O_TRUNC, mode));
        if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return fail_errno("cannot set the mode");
        if (const auto written = write_all(fd.get(), content); !written)
            return fail_in(partial.string(), written.error());
        if (::fsync(fd.get()) != 0) return fail_errno(fmt::format("cannot sync {}", partial.string()));
    }
    if (::rename(partial.c_str(), path.c_str()) != 0)
        return fail_errno(fmt::format("cannot replace {}", path.string()));
    return sync_directory(path.parent_path().empty() ? fs::path{"."} : path.parent_path());
}

Result<> make_directories(const fs::path& path, unsigned mode) {
    std::error_code error;
    if (fs::is_directory(path, error)) return {};
    fs::create_directories(path, error);
    if (error) return fail_errno(fmt::format("cannot make {}", path.string()), error.value());
    if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0)
        return fail_errno(fmt::format("cannot set the mode of {}", path.string()));
    return {};
}

Result<> remove_tree(const fs::path& path) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return fail_errno(fmt::format("cannot remove {}", path.string()), error.value());
    return {};
}

Result<UniqueFd> lock_file(const fs::path& path) {
    DORMOUSE_TRY_ASSIGN(auto fd, open_file(path, O_RDWR | O_CREAT));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return fail(Errc::Conflict, fmt::format("{} is locked by another process", path.string()));
        return fail_errno(fmt::format("cannot lock {}", path.string()));
    }
    return fd;
}

}  // namespace dormouse
