// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hostd/base/event_loop.h"
#include "hostd/base/process.h"

namespace dormouse::vmm {

// The desktop's network process, which the keeper starts beside QEMU and again
// whenever it has ended. It dies with the keeper.
//
// Owns the process: destroying this ends and reaps it. On the loop's thread.
class KeeperNetwork {
  public:
    static constexpr Duration kFirstPause = std::chrono::milliseconds{50};
    static constexpr Duration kLongestPause = std::chrono::seconds{5};
    // One that has run for so long is started again at once the next time.
    static constexpr Duration kGoodRun = std::chrono::seconds{10};

    KeeperNetwork(EventLoop& loop, Spawner& spawner, std::filesystem::path binary,
                  std::filesystem::path run_folder, nlohmann::json config);
    KeeperNetwork(const KeeperNetwork&) = delete;
    KeeperNetwork& operator=(const KeeperNetwork&) = delete;
    ~KeeperNetwork();

    void start();
    void set_config(nlohmann::json config) { config_ = std::move(config); }  // for the next start
    void restart();                                                          // ends the one that runs

  private:
    Result<> try_start();
    void on_exit();
    void start_later();
    void kill();

    EventLoop& loop_;
    Spawner& spawner_;
    const std::filesystem::path binary_;
    const std::filesystem::path run_folder_;
    nlohmann::json config_;
    Child child_;
    EventLoop::IoWatch watch_;
    EventLoop::TimerId timer_ = 0;
    MonotonicTime started_{};
    Duration pause_ = kFirstPause;
};

}  // namespace dormouse::vmm
