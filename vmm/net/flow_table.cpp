// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/flow_table.h"

#include <iterator>
#include <utility>
#include <vector>

namespace dormouse::net {

Flow* FlowTable::find(std::uint16_t guest_port, Address destination, std::uint16_t port) {
    const auto found = flows_.find(key_of(guest_port, destination, port));
    return found == flows_.end() ? nullptr : &found->second;
}

Flow* FlowTable::add(Flow flow) {
    const auto key = key_of(flow.guest_port, flow.destination, flow.port);
    if (const auto before = flows_.find(key); before != flows_.end()) remove(before->second);
    if (open() >= kMostOpen || over_ >= kMostOver) return nullptr;
    return &flows_.emplace(key, std::move(flow)).first->second;
}

void FlowTable::remove(const Flow& flow) {
    const auto found = flows_.find(key_of(flow.guest_port, flow.destination, flow.port));
    if (found == flows_.end()) return;
    if (found->second.over()) --over_;
    flows_.erase(found);
}

void FlowTable::finished(Flow&) {
    ++over_;
}

std::size_t FlowTable::end_if(const std::function<bool(const Flow&)>& which,
                              const std::function<void(Flow&)>& end) {
    // First out of the table: `end` may have effects that come back to it.
    std::vector<Flow> ending;
    for (auto at = flows_.begin(); at != flows_.end();) {
        const auto next = std::next(at);
        if (which(at->second)) {
            if (at->second.over()) --over_;
            ending.push_back(std::move(flows_.extract(at).mapped()));
        }
        at = next;
    }
    for (auto& flow : ending) end(flow);
    return ending.size();
}

void FlowTable::for_each(const std::function<void(Flow&)>& body) {
    for (auto& [key, flow] : flows_) body(flow);
}

bool FlowTable::is_stale(const Flow& flow, MonotonicTime now) {
    const auto idle = now - flow.last_seen;
    if (flow.over()) return idle >= kOverTime;
    return idle >= (flow.answered ? kIdleTime : kUnansweredTime);
}

}  // namespace dormouse::net
