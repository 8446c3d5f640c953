// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "display/image.h"
#include "hostd/base/unique_fd.h"

typedef struct _rfbScreenInfo rfbScreenInfo;  // NOLINT: libvncserver's name
typedef struct _rfbClientRec rfbClientRec;    // NOLINT

namespace dormouse::display::testing {

// A real VNC server (libvncserver) at the other end of a socket pair, with a
// thread of its own. Its screen is black at first.
class FakeRfbServer {
  public:
    explicit FakeRfbServer(Size size);
    ~FakeRfbServer();
    FakeRfbServer(const FakeRfbServer&) = delete;
    FakeRfbServer& operator=(const FakeRfbServer&) = delete;

    UniqueFd take_client_end() { return std::move(client_end_); }

    void fill(const Rect& rect, Pixel pixel);
    void resize(Size size, Pixel pixel);
    // All of it opaque but for the pixel at 0, 0, which the mask leaves out.
    void show_cursor(Size size, int hot_x, int hot_y, Pixel pixel);
    void move_cursor(int x, int y);
    void close_connection();

    int clipboards() const { return clipboards_; }  // ClientCutText messages that came

  private:
    void serve();
    void run(const std::function<void()>& job);  // on the server's thread

    UniqueFd client_end_;
    UniqueFd server_end_;
    std::vector<Pixel> pixels_;
    std::vector<Pixel> retired_;  // libvncserver may still look at the old one
    rfbScreenInfo* screen_ = nullptr;
    std::atomic<int> clipboards_{0};
    std::atomic<bool> stopping_{false};
    std::mutex mutex_;
    std::vector<std::function<void()>> jobs_;  // guarded by mutex_
    std::thread thread_;
};

}  // namespace dormouse::display::testing
