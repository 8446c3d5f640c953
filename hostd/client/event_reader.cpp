// SPDX-License-Identifier: Apache-2.0
#include "hostd/client/event_reader.h"

#include <utility>

namespace dormouse::client {

Result<> EventReader::feed(std::string_view bytes, const std::function<bool(const ServerSentEvent&)>& take) {
    for (const char byte : bytes) {
        // A line ends with CR, LF or CR LF.
        const bool second_half = byte == '\n' && std::exchange(after_cr_, false);
        if (second_half) continue;
        after_cr_ = byte == '\r';
        if (byte != '\r' && byte != '\n') {
            if (line_.size() + (data_ ? data_->size() : 0) >= limit_)
                return fail(Errc::Corrupt, "the server sent an event that is too long");
            line_ += byte;
            continue;
        }
        if (std::exchange(at_start_, false) && line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);
        const bool more = take_line(take);
        line_.clear();
        if (!more) return {};
    }
    return {};
}

bool EventReader::take_line(const std::function<bool(const ServerSentEvent&)>& take) {
    if (line_.empty()) {
        auto type = std::exchange(type_, {});
        if (!data_) return true;
        ServerSentEvent event{id_, type.empty() ? "message" : std::move(type), std::move(*data_)};
        data_.reset();
        return take(event);
    }
    const std::string_view line{line_};
    const auto colon = line.find(':');
    const auto field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
        if (data_) {
            *data_ += '\n';
            data_->append(value);
        } else {
            data_.emplace(value);
        }
    } else if (field == "event") {
        type_ = value;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
        id_ = value;
    }
    return true;  // a comment (no field) or a field that we do not know
}

}  // namespace dormouse::client
