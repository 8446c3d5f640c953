// SPDX-License-Identifier: Apache-2.0
// A guest that sends whatever it likes: frames, each with a length of two bytes
// before it, to the filter alone and to the filter with the stack behind it. What
// passes must be what the filter promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "vmm/net/gate.h"
#include "vmm/net/slirp_stack.h"

namespace {

using namespace dormouse;

void require(bool condition) {
    if (!condition) std::abort();
}

void check_for_stack(net::Bytes frame, const net::Policy& policy) {
    const auto [problem, packet] = net::read_packet(frame);
    require(problem.empty());
    require(packet.from_mac == net::kGuestMac);
    if (packet.kind == net::PacketKind::Tcp) {
        require(packet.from == net::kGuestAddress && !packet.has(net::tcp_flag::kUrgent));
        require(net::read_16(frame, 52) == 0);  // the urgent pointer
        if (packet.to == net::kHostLoopback)
            require(packet.to_port == 9);
        else
            require(policy.decide({packet.to, packet.to_port, {}}).allowed);
    } else if (packet.kind == net::PacketKind::Udp) {
        require(packet.to_port == 67 && packet.from_port == 68);
    } else {
        require(packet.kind == net::PacketKind::Arp && !packet.arp_request);
    }
}

template <class Handle>
void for_each_frame(const std::uint8_t* data, std::size_t size, Handle handle) {
    for (std::size_t at = 0; at + 2 <= size;) {
        std::size_t length = static_cast<std::size_t>(data[at]) << 8 | data[at + 1];
        at += 2;
        length = std::min(length, size - at);
        std::vector<std::uint8_t> frame(data + at, data + at + length);
        at += length;
        handle(frame);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ManualClock clock;
    EventLoop loop{clock};
    net::NameCache names{clock};
    net::DestinationLog log{clock, "fuzz"};
    const net::Policy policy{{.mode = net::Mode::Open, .allow = {{net::kHostLoopback, 9}}}, {}};
    // The first byte chooses whether the stack is there. It connects to nothing but
    // this host's discard port, through the gateway.
    const bool with_stack = size > 0 && data[0] == 0;
    std::unique_ptr<net::SlirpStack> stack;
    net::Gate* gate_of_stack = nullptr;
    net::Gate gate{clock,
                   {.to_guest = [](net::Bytes frame) { require(net::read_packet(frame).problem.empty()); },
                    .to_stack =
                        [&](net::Bytes frame) {
                            check_for_stack(frame, policy);
                            const auto packet = net::read_packet(frame).packet;
                            // Only what makes no connections to elsewhere.
                            const bool local =
                                packet.kind != net::PacketKind::Tcp || packet.to == net::kHostLoopback;
                            if (stack && local) stack->input(frame);
                        },
                    .to_name_server = [](std::string_view, std::uint16_t) {}},
                   names,
                   log};
    gate_of_stack = &gate;
    if (with_stack) {
        auto made =
            net::SlirpStack::make(loop, [&](net::MutableBytes frame) { gate_of_stack->from_stack(frame); });
        require(made.has_value());
        stack = std::move(*made);
    }
    gate.set_policy(policy);
    for_each_frame(data, size, [&](std::vector<std::uint8_t>& frame) {
        gate.from_guest(frame);
        if (stack) {
            (void)stack->before_wait();
            loop.run_once(Duration::zero());
            stack->after_wait();
        }
        clock.advance(std::chrono::milliseconds{1});
    });
    gate.count_traffic();
    gate.set_policy(net::Policy{});
    require(gate.open_flows() == 0);
    stack.reset();  // it may call the gate once more
    return 0;
}
