// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "guest/agent/system.h"

namespace dormouse::agent {

// A machine whose clock and power are the test's.
class FakeSystem final : public System {
  public:
    WallTime wall() const override { return time; }
    Result<> set_wall(WallTime wanted) override {
        if (!may_set_clock) return fail(Errc::Denied, "not root");
        time = wanted;
        ++clock_steps;
        return {};
    }
    double uptime_seconds() const override { return 12.5; }
    std::string boot_id() const override { return "boot-7"; }
    Task<Result<bool>> quiesce() override {
        ++quiesced;
        co_return true;
    }
    void power(PowerAction action) override { powered.push_back(action); }

    WallTime time{std::chrono::seconds{1'000'000'000}};
    bool may_set_clock = true;
    int clock_steps = 0;
    int quiesced = 0;
    std::vector<PowerAction> powered;
};

}  // namespace dormouse::agent
