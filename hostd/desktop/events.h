// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "hostd/base/clock.h"
#include "hostd/desktop/commands_desktop.h"
#include "hostd/desktop/commands_operation.h"

namespace dormouse::desktop {

enum class EventType {
    Open,  // the first of every stream: it has begun behind this id
    Lost,  // what came before is not known any more: look at everything anew
    DesktopCreated,
    DesktopState,    // its state
    DesktopUpdated,  // anything else of it
    DesktopDeleted,
    OperationUpdated,
    TemplateUpdated,
};
std::string_view event_type_name(EventType type);  // "desktop.state"

// Something has changed, and what it is like now.
struct Event {
    std::uint64_t id = 0;  // grows, also from one daemon to the next; below 2^53
    EventType type = EventType::Open;
    WallTime at{};
    std::optional<DesktopInfo> desktop;  // of the deleted: as it was at last
    std::optional<OperationInfo> operation;
    std::optional<TemplateName> image;
};

struct EventSink {
    std::function<void(const Event&)> event;
    std::function<void()> end;  // nothing more comes: the token is gone
};

// Somebody listens for as long as this lives.
class EventWatch {
  public:
    virtual ~EventWatch() = default;
};

// The latest events, and those who listen. Core thread; must outlive nobody: a
// watch that is left over hears nothing any more.
class EventLog {
  public:
    using Filter = std::function<bool(const Event&)>;

    explicit EventLog(const Clock& clock, std::size_t capacity = 10'000);

    // Ids go on behind this one.
    void begin_at(std::uint64_t last_id) { last_id_ = last_id; }
    std::uint64_t last_id() const { return last_id_; }

    void publish(Event event);  // gives it its id and time

    // At once Open; then, where `after` is given, what came since (behind Lost
    // when that is not all known); then what is published. Only what `filter` lets
    // through. `owner` is for end_of().
    std::unique_ptr<EventWatch> watch(std::string owner, std::optional<std::uint64_t> after, Filter filter,
                                      EventSink sink);

    // Ends the watches of one owner.
    void end_of(std::string_view owner);

  private:
    struct Listener;
    struct Watch;
    struct Listeners;

    const Clock& clock_;
    const std::size_t capacity_;
    std::uint64_t last_id_ = 0;
    std::deque<Event> events_;  // oldest first, ids without gaps
    std::shared_ptr<Listeners> listeners_;
};

}  // namespace dormouse::desktop
