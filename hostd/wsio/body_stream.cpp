// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/body_stream.h"

#include <algorithm>
#include <utility>

namespace dormouse::wsio {

bool BodyStream::write(std::string_view bytes) {
    std::function<void()> wake;
    {
        const std::lock_guard lock{mutex_};
        if (closed_ || ended_ || size() + bytes.size() > limit_) return false;
        // Of what was there before the connection knows already.
        if (size() == 0) wake = wake_;
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
        more = size() > 0 || ended_;
    }
    if (more) wake();
}

std::string BodyStream::take(std::size_t most) {
    const std::lock_guard lock{mutex_};
    auto part = waiting_.substr(taken_, most);
    taken_ += part.size();
    // Moving the rest up for each part would take longer and longer.
    if (taken_ == waiting_.size() || taken_ > limit_ / 2) waiting_.erase(0, std::exchange(taken_, 0));
    return part;
}

bool BodyStream::has_more() const {
    const std::lock_guard lock{mutex_};
    return size() > 0 || ended_;
}

bool BodyStream::ended() const {
    const std::lock_guard lock{mutex_};
    return ended_ && size() == 0;
}

void BodyStream::close() {
    // Destroyed outside the lock: they may own anything.
    std::function<void()> told;
    std::function<void()> wake;
    {
        const std::lock_guard lock{mutex_};
        if (closed_) return;
        closed_ = true;
        waiting_ = {};
        taken_ = 0;
        told = std::exchange(on_closed_, nullptr);
        wake = std::exchange(wake_, nullptr);
    }
    if (told) told();
}

}  // namespace dormouse::wsio
