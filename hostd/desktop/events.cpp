// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/events.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::desktop {

std::string_view event_type_name(EventType type) {
    switch (type) {
        case EventType::Open:
            return "events.open";
        case EventType::Lost:
            return "events.lost";
        case EventType::DesktopCreated:
            return "desktop.created";
        case EventType::DesktopState:
            return "desktop.state";
        case EventType::DesktopUpdated:
            return "desktop.updated";
        case EventType::DesktopDeleted:
            return "desktop.deleted";
        case EventType::OperationUpdated:
            return "operation.updated";
        case EventType::TemplateUpdated:
            return "template.updated";
    }
    return "events.lost";
}

struct EventLog::Listener {
    std::string owner;
    Filter filter;
    EventSink sink;
};

struct EventLog::Listeners {
    std::map<std::uint64_t, std::shared_ptr<Listener>> all;
    std::uint64_t next = 1;
};

struct EventLog::Watch final : EventWatch {
    Watch(std::weak_ptr<Listeners> where, std::uint64_t key) : listeners(std::move(where)), id(key) {}
    ~Watch() override {
        if (const auto still = listeners.lock()) still->all.erase(id);
    }
    std::weak_ptr<Listeners> listeners;
    std::uint64_t id;
};

EventLog::EventLog(const Clock& clock, std::size_t capacity)
    : clock_(clock), capacity_(capacity), listeners_(std::make_shared<Listeners>()) {}

void EventLog::publish(Event event) {
    event.id = ++last_id_;
    event.at = clock_.wall();
    // A copy: who hears it may stop listening, or make others do so.
    const auto listeners = listeners_->all;
    events_.push_back(std::move(event));
    if (events_.size() > capacity_) events_.pop_front();
    const auto& published = events_.back();
    for (const auto& [id, listener] : listeners)
        if (listeners_->all.contains(id) && listener->filter(published)) listener->sink.event(published);
}

std::unique_ptr<EventWatch> EventLog::watch(std::string owner, std::optional<std::uint64_t> after,
                                            Filter filter, EventSink sink) {
    const auto id = listeners_->next++;
    const auto listener =
        std::make_shared<Listener>(Listener{std::move(owner), std::move(filter), std::move(sink)});
    listeners_->all.emplace(id, listener);
    const auto first = events_.empty() ? last_id_ + 1 : events_.front().id;
    // Also one from the future: it comes from another host, or from before the
    // database was put back.
    const bool known = after && *after <= last_id_ && *after + 1 >= first;
    const Event opening{.id = known   ? *after
                              : after ? first - 1
                                      : last_id_,
                        .type = EventType::Open,
                        .at = clock_.wall()};
    listener->sink.event(opening);
    if (after && !known) listener->sink.event({.id = first - 1, .type = EventType::Lost, .at = opening.at});
    if (after)
        for (const auto& event : events_)
            if (event.id > opening.id && listener->filter(event)) listener->sink.event(event);
    return std::make_unique<Watch>(listeners_, id);
}

void EventLog::end_of(std::string_view owner) {
    std::vector<std::shared_ptr<Listener>> ended;
    for (auto one = listeners_->all.begin(); one != listeners_->all.end();) {
        if (one->second->owner != owner) {
            ++one;
            continue;
        }
        ended.push_back(one->second);
        one = listeners_->all.erase(one);
    }
    for (const auto& listener : ended) listener->sink.end();
}

}  // namespace dormouse::desktop
