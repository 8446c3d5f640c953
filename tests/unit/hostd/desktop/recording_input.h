// SPDX-License-Identifier: Apache-2.0
// A guest's end of QMP's input-send-event for tests: writes down what comes and
// when, knows what is down in the guest, and fails where it is told to.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/desktop/input.h"

namespace dormouse::desktop {

// Runs `task` to its end while time passes in steps.
template <class T>
T drive(ManualClock& clock, EventLoop& loop, Task<T> task, Duration step = std::chrono::milliseconds{1}) {
    std::optional<T> result;
    auto body = [](Task<T> inner, std::optional<T>& out) -> Task<void> {
        out.emplace(co_await std::move(inner));
    };
    spawn(body(std::move(task), result));
    for (;;) {
        loop.run_ready();
        if (result) return std::move(*result);
        clock.advance(step);
    }
}

class RecordingGuest {
  public:
    // What becomes of a send that fails: lost on the way there, or on the way back.
    enum class Loss { OnTheWayThere, OnTheWayBack };

    explicit RecordingGuest(EventLoop& loop) : loop_(loop) {}

    void die_at(std::size_t send) { fail_from_ = send; }  // every send from this number on fails
    void recover() { fail_from_ = std::numeric_limits<std::size_t>::max(); }

    InputDevice::Send send() {
        return [this](nlohmann::json events) { return receive(this, std::move(events)); };
    }

    // Short words: "ctrl v" (down), "ctrl ^" (up), "left v", "to 100,200" (axis values).
    std::vector<std::string> log;
    std::vector<MonotonicTime> times;       // of each report
    std::vector<std::size_t> report_sizes;  // events in each
    std::set<std::string> down;
    std::set<std::size_t> failing;  // the numbers of sends that fail, from 0
    Loss loss = Loss::OnTheWayThere;
    std::size_t sends = 0;
    std::function<void()> on_send;

    std::string words() const {
        std::string all;
        for (const auto& word : log) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
        return all;
    }

  private:
    static Task<Result<>> receive(RecordingGuest* self, nlohmann::json events) {
        co_await self->loop_.sleep(std::chrono::microseconds{100});  // like a real answer: not at once
        const bool fails = self->sends >= self->fail_from_ || self->failing.count(self->sends) > 0;
        ++self->sends;
        if (self->on_send) self->on_send();
        if (!fails || self->loss == Loss::OnTheWayBack) self->take(events);
        if (fails) co_return fail(Errc::Interrupted, "the QMP connection was lost");
        co_return Result<>{};
    }

    void take(const nlohmann::json& events) {
        times.push_back(loop_.clock().now());
        report_sizes.push_back(events.size());
        std::string axes;
        for (const auto& event : events) {
            const auto& data = event.at("data");
            if (event.at("type") == "abs") {
                axes += fmt::format("{}{}", axes.empty() ? "to " : ",", data.at("value").get<int>());
                continue;
            }
            const std::string name = event.at("type") == "btn" ? data.at("button").get<std::string>()
                                                               : data.at("key").at("data").get<std::string>();
            const bool is_down = data.at("down").get<bool>();
            log.push_back(fmt::format("{} {}", name, is_down ? "v" : "^"));
            if (is_down) {
                down.insert(name);
            } else {
                down.erase(name);
            }
        }
        if (!axes.empty()) log.push_back(axes);
    }

    EventLoop& loop_;
    std::size_t fail_from_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace dormouse::desktop
