// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "vmm/net/frame.h"

struct Slirp;

namespace dormouse::net {

// libslirp: makes sockets of the guest's TCP, and answers DHCP. It opens whatever
// it is asked to, so only what the Gate lets through may reach it.
//
// On the loop's thread. libslirp wants to be told of every round of the loop:
// before_wait() says how long the round may wait, after_wait() does its work.
class SlirpStack {
  public:
    using ToGuest = std::function<void(MutableBytes frame)>;
    static Result<std::unique_ptr<SlirpStack>> make(EventLoop& loop, ToGuest to_guest);
    SlirpStack(const SlirpStack&) = delete;
    SlirpStack& operator=(const SlirpStack&) = delete;
    ~SlirpStack();

    void input(Bytes frame);  // may call `to_guest`
    Duration before_wait();
    void after_wait();

  private:
    struct Close {
        void operator()(Slirp* slirp) const noexcept;
    };
    struct Polled {
        int fd;
        short events;
        short ready;
    };
    struct Watch {
        EventLoop::IoWatch watch;
        short events = 0;
        std::size_t index = 0;
        std::uint64_t round = 0;
    };
    SlirpStack(EventLoop& loop, ToGuest to_guest);
    int add(int fd, int events);
    int ready(int index) const;

    friend struct SlirpCallbacks;
    EventLoop& loop_;
    ToGuest to_guest_;
    Frame out_;  // a frame on its way to the guest
    std::vector<Polled> polled_;
    std::map<int, Watch> watches_;
    std::uint64_t round_ = 0;
    std::unique_ptr<Slirp, Close> slirp_;  // goes first: it calls back
};

}  // namespace dormouse::net
