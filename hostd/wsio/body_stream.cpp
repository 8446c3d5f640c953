// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/body_stream.h"

#include <algorithm>
#include <utility>

namespace dormouse::wsio {

bool BodyStream::write(std::string_view bytes) {
    std::function<void()> wake;
    {
        const std::lock_guard lock{mutex_};
        if (closed_ || ended_ || waiting_.size() + bytes.size() > limit_) return false;
        // Of what was there before the connection knows already.
        if (waiting_.empty()) wake = wake_;
        waiting_.append(bytes);
    }
    if (wake) wake();
    return true;
}

void BodyStream::end(std::string_view last) {
    std::function<void()> wake;
    {
        const std::lock_guard lock{mutex_};
        if (closed_ || ended_) return;
        waiting_.append(last);
        ended_ = true;
        wake = wake_;
    }
    if (wake) wake();
}

bool BodyStream::closed() const {
    const std::lock_guard lock{mutex_};
    return closed_;
}

void BodyStream::on_closed(std::function<void()> callback) {
    {
        const std::lock_guard lock{mutex_};
        if (!closed_) {
            on_closed_ = std::move(callback);
            return;
        }
    }
    callback();
}

void BodyStream::attach(std::function<void()> wake) {
    bool more = false;
    {
        const std::lock_guard lock{mutex_};
        wake_ = wake;
        more = !waiting_.empty() || ended_;
    }
    if (more) wake();
}

std::string BodyStream::take(std::size_t most) {
    const std::lock_guard lock{mutex_};
    if (waiting_.size() <= most) return std::exchange(waiting_, {});
    auto part = waiting_.substr(0, most);
    waiting_.erase(0, most);
    return part;
}

bool BodyStream::has_more() const {
    const std::lock_guard lock{mutex_};
    return !waiting_.empty() || ended_;
}

bool BodyStream::ended() const {
    const std::lock_guard lock{mutex_};
    return ended_ && waiting_.empty();
}

void BodyStream::close() {
    // Destroyed outside the lock: they may own anything.
    std::function<void()> told;
    std::function<void()> wake;
    {
        const std::lock_guard lock{mutex_};
        if (closed_) return;
        closed_ = true;
        waiting_.clear();
        told = std::exchange(on_closed_, nullptr);
        wake = std::exchange(wake_, nullptr);
    }
    if (told) told();
}

}  // namespace dormouse::wsio
