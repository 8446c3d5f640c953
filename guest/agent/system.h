// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hostd/base/clock.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/task.h"
#include "hostd/base/work_pool.h"

namespace dormouse::agent {

enum class PowerAction { Off, Reboot };

// What the agent does to the machine it runs on. Real: LinuxSystem. The agent's
// one thread.
class System {
  public:
    virtual ~System() = default;
    virtual WallTime wall() const = 0;
    virtual Result<> set_wall(WallTime time) = 0;
    virtual double uptime_seconds() const = 0;
    virtual std::string boot_id() const = 0;

    // Writes everything to disk, drops the page cache and tells the disk which
    // blocks are free. The value: whether that last part worked.
    virtual Task<Result<bool>> quiesce() = 0;

    // Begins to go down and returns; what was sent before still gets out.
    virtual void power(PowerAction action) = 0;
};

class LinuxSystem final : public System {
  public:
    explicit LinuxSystem(EventLoop& loop) : loop_(loop) {}
    WallTime wall() const override;
    Result<> set_wall(WallTime time) override;
    double uptime_seconds() const override;
    std::string boot_id() const override;
    Task<Result<bool>> quiesce() override;
    void power(PowerAction action) override;

  private:
    EventLoop& loop_;
    WorkPool pool_{1};
};

}  // namespace dormouse::agent
