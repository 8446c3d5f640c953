// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "hostd/base/event_loop.h"

namespace dormouse {

// Lets one coroutine at a time through, in the order of asking. For the tasks of
// one event loop; the guard may outlive the mutex.
class AsyncMutex {
  public:
    class Guard {
      public:
        Guard(Guard&& other) noexcept : state_(std::move(other.state_)) {}
        Guard& operator=(Guard&&) = delete;
        ~Guard() {
            if (state_) pass_on(*state_);
        }

      private:
        friend class AsyncMutex;
        struct State;
        explicit Guard(std::shared_ptr<State> state) : state_(std::move(state)) {}
        struct State {
            bool held = false;
            std::deque<Completion<bool>> waiting;
        };
        static void pass_on(State& state) {
            if (state.waiting.empty()) {
                state.held = false;
                return;
            }
            auto next = std::move(state.waiting.front());
            state.waiting.pop_front();
            next.complete(true);  // stays held, for the next
        }
        std::shared_ptr<State> state_;
    };

    explicit AsyncMutex(EventLoop& loop) : loop_(loop), state_(std::make_shared<Guard::State>()) {}

    Task<Guard> lock() {
        auto state = state_;
        if (state->held) {
            Completion<bool> turn{loop_};
            state->waiting.push_back(turn);
            co_await turn;
        }
        state->held = true;
        co_return Guard{state};
    }
    bool held() const { return state_->held; }

  private:
    EventLoop& loop_;
    std::shared_ptr<Guard::State> state_;
};

}  // namespace dormouse
