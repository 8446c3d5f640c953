// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "display/bus.h"
#include "hostd/base/unique_fd.h"
#include "pictures.h"

namespace dormouse::display::testing {

// QEMU's side of the D-Bus display, speaking the real protocol: it is the
// authentication server of both connections, does the listener's hand-shake and
// its GetAll before it handles anything else, and calls the listener. Runs on
// the test's own thread; each call waits for its answer, so that a test knows
// that the source has handled it.
class FakeQemuDisplay {
  public:
    static constexpr std::chrono::microseconds kPatience =
        std::chrono::seconds{20};  // beyond that the source hangs
    enum class Handshake { AfterReply, BeforeReply };

    FakeQemuDisplay();
    UniqueFd take_client_end() { return std::move(client_end_); }

    // Serves until a listener was registered and shook hands. False when that
    // failed or nothing came for so long.
    bool accept(Handshake order = Handshake::AfterReply, std::chrono::microseconds patience = kPatience);
    // Serves until RegisterListener comes, and answers it with an error.
    bool refuse_listener();
    void close() {
        listener_.reset();
        console_.reset();
    }
    void close_listener() { listener_.reset(); }

    // Each gives the name of the error that the source answered with, or "".
    std::string scanout(const RawPixels& picture);
    std::string update(int x, int y, const RawPixels& part);
    std::string disable();
    std::string mouse_set(int x, int y, int on);
    std::string cursor_define(int width, int height, int hot_x, int hot_y, std::span<const std::byte> argb);
    std::string scanout_dmabuf(int fd);
    std::string call_with_text(const char* member);                   // a string, which no method takes
    int listener_interfaces() const { return listener_interfaces_; }  // how many GetAll told; -1: none

    // Says by PropertiesChanged that the screen has another size now.
    void tell_size(std::uint32_t width, std::uint32_t height);

    // Sends a picture without waiting for an answer, as QEMU does.
    void post_scanout(const RawPixels& picture);

  private:
    BusHandle serve(UniqueFd socket);
    bool process_until(const std::function<bool()>& done, std::chrono::microseconds patience = kPatience);
    bool shake_hands();
    BusMessage method(const char* member);
    std::string call(const BusMessage& message);
    static int on_register(sd_bus_message* message, void* self, sd_bus_error* error);

    UniqueFd client_end_;
    BusHandle console_;
    BusHandle listener_;
    Handshake order_ = Handshake::AfterReply;
    bool refusing_ = false;
    bool called_ = false;
    bool shaken_ = false;
    int listener_interfaces_ = -1;
    BusSlot object_;
};

// Lets a test wait for what another thread does, without guessing how long.
class Signal {
  public:
    void raise() {
        const std::lock_guard lock{mutex_};
        changed_.notify_all();
    }
    bool wait_until(const std::function<bool()>& holds) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, std::chrono::seconds{20}, holds);
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace dormouse::display::testing
