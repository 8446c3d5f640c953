// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/operations.h"

#include <algorithm>
#include <list>
#include <utility>

#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/base/utf8.h"

namespace dormouse::desktop {

namespace {

constexpr std::size_t kLongestLine = 4096;  // bytes; what is longer is cut
constexpr std::size_t kLongestStep = 200;
constexpr std::size_t kLogAtOnce = 256 << 10;

}  // namespace

std::string_view operation_state_name(OperationState state) {
    switch (state) {
        case OperationState::Running:
            return "running";
        case OperationState::Succeeded:
            return "succeeded";
        case OperationState::Failed:
            return "failed";
        case OperationState::Cancelled:
            return "cancelled";
    }
    return "failed";
}

Result<OperationState> parse_operation_state(std::string_view name) {
    for (const auto state : {OperationState::Running, OperationState::Succeeded, OperationState::Failed,
                             OperationState::Cancelled})
        if (operation_state_name(state) == name) return state;
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not a state of an operation", name),
                "states: running, succeeded, failed, cancelled");
}

struct OperationEntry {
    OperationInfo info;
    Cancel cancel;
    std::string log;
    std::uint64_t log_begins = 0;  // offset of its first byte
    MonotonicTime forget_after{};  // once it has ended
    std::vector<Completion<bool>> waiting;
};

struct Operations::State {
    State(EventLoop& event_loop, OperationLimits bounds) : loop(event_loop), limits(bounds) {}

    OperationEntry* find(const OperationId& id) {
        prune();
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const OperationEntry& entry) { return entry.info.id == id; });
        return found == entries.end() ? nullptr : &*found;
    }
    std::size_t running() const {
        return static_cast<std::size_t>(std::count_if(
            entries.begin(), entries.end(),
            [](const OperationEntry& entry) { return entry.info.state == OperationState::Running; }));
    }
    void changed(const OperationEntry& entry) const {
        if (listener) listener(entry.info);
    }
    void prune() {
        const auto now = loop.clock().now();
        auto finished = entries.size() - running();
        for (auto entry = entries.begin(); entry != entries.end();) {
            const bool ended = entry->info.state != OperationState::Running;
            if (ended && (finished > limits.finished || entry->forget_after <= now)) {
                entry = entries.erase(entry);
                --finished;
            } else {
                ++entry;
            }
        }
    }
    void finish(OperationEntry& entry, Result<OperationResult> result);

    EventLoop& loop;
    const OperationLimits limits;
    Listener listener;
    std::list<OperationEntry> entries;  // oldest first
};

void Operations::State::finish(OperationEntry& entry, Result<OperationResult> result) {
    auto& info = entry.info;
    if (info.state != OperationState::Running) return;
    if (result) {
        info.state = OperationState::Succeeded;
        info.progress = 1;
        info.result = std::move(*result);
    } else {
        const bool cancelled = entry.cancel.cancelled();
        info.state = cancelled ? OperationState::Cancelled : OperationState::Failed;
        info.error = std::move(result.error());
        log::info("operation.ended", {{"operation", info.id.str()},
                                      {"kind", info.kind},
                                      {"state", operation_state_name(info.state)},
                                      {"why", info.error->message}});
    }
    info.cancelling = false;
    info.finished_at = loop.clock().wall();
    entry.forget_after = loop.clock().now() + limits.remembered;
    for (auto& one : std::exchange(entry.waiting, {})) one.complete(true);
    changed(entry);
}

// ---- the handle

struct OperationHandle::Shared {
    Shared(std::weak_ptr<Operations::State> owner, OperationId name, Cancel watched)
        : operations(std::move(owner)), id(std::move(name)), cancel(std::move(watched)) {}
    ~Shared() {
        const auto state = operations.lock();
        auto* entry = state ? state->find(id) : nullptr;
        if (entry) state->finish(*entry, fail(Errc::Internal, "nobody works on it any more"));
    }

    template <class Body>
    void with_running(Body body) const {
        const auto state = operations.lock();
        auto* entry = state ? state->find(id) : nullptr;
        if (entry && entry->info.state == OperationState::Running) body(*state, *entry);
    }

    std::weak_ptr<Operations::State> operations;
    OperationId id;
    Cancel cancel;
};

const OperationId& OperationHandle::id() const {
    return shared_->id;
}

OperationInfo OperationHandle::info() const {
    const auto state = shared_->operations.lock();
    const auto* entry = state ? state->find(shared_->id) : nullptr;
    return entry ? entry->info : OperationInfo{.id = shared_->id};
}

Cancel OperationHandle::cancel() const {
    return shared_->cancel;
}

void OperationHandle::set_step(std::string step, std::optional<double> progress) {
    shared_->with_running([&](auto& state, OperationEntry& entry) {
        step = one_line(step, kLongestStep);
        if (progress) progress = std::clamp(*progress, 0.0, 1.0);
        if (entry.info.step == step && entry.info.progress == progress) return;
        entry.info.step = std::move(step);
        entry.info.progress = progress;
        state.changed(entry);
    });
}

void OperationHandle::set_desktop(const DesktopId& desktop) {
    shared_->with_running([&](auto& state, OperationEntry& entry) {
        entry.info.desktop = desktop;
        state.changed(entry);
    });
}

void OperationHandle::append_log(std::string_view line) {
    shared_->with_running([&](auto& state, OperationEntry& entry) {
        entry.log += one_line(line, kLongestLine);
        entry.log += '\n';
        if (entry.log.size() <= state.limits.log_bytes) return;
        // Some more than needed, so that this is rare; whole lines.
        auto drop = entry.log.size() - state.limits.log_bytes + state.limits.log_bytes / 8;
        drop = std::min(entry.log.find('\n', std::min(drop, entry.log.size() - 1)) + 1, entry.log.size());
        entry.log.erase(0, drop);
        entry.log_begins += drop;
    });
}

void OperationHandle::finish(Result<OperationResult> result) {
    shared_->with_running(
        [&](auto& state, OperationEntry& entry) { state.finish(entry, std::move(result)); });
}

void OperationHandle::finish(Result<> result) {
    if (result) return finish(Result<OperationResult>{OperationResult{}});
    finish(Result<OperationResult>{fail(std::move(result.error()))});
}

// ---- the registry

Operations::Operations(EventLoop& loop, OperationLimits limits)
    : state_(std::make_shared<State>(loop, limits)) {}

Operations::~Operations() {
    state_->listener = nullptr;
}

void Operations::set_listener(Listener listener) {
    state_->listener = std::move(listener);
}

Result<OperationHandle> Operations::begin(OperationStart start) {
    if (state_->running() >= state_->limits.running)
        return fail(Errc::Unavailable, fmt::format("{} operations are running already", state_->running()),
                    "wait until some have ended, or cancel one");
    DORMOUSE_TRY_ASSIGN(auto id, OperationId::parse("op-" + random_hex(6)));
    Cancel cancel;
    state_->entries.push_back({.info = {.id = id,
                                        .kind = std::move(start.kind),
                                        .token = std::move(start.token),
                                        .desktop = std::move(start.desktop),
                                        .image = std::move(start.image),
                                        .created_at = state_->loop.clock().wall()},
                               .cancel = cancel});
    state_->changed(state_->entries.back());
    return OperationHandle{std::make_shared<OperationHandle::Shared>(state_, std::move(id), cancel)};
}

void Operations::restore(OperationInfo info) {
    if (info.state == OperationState::Running) {
        info.state = OperationState::Failed;
        info.error = Error{Errc::Interrupted, "the daemon ended while this was in progress",
                           "look at what there is, and begin it again", 0};
        info.finished_at = state_->loop.clock().wall();
        info.cancelling = false;
    }
    const auto forget = state_->loop.clock().now() + state_->limits.remembered;
    state_->entries.push_back({.info = std::move(info), .forget_after = forget});
    state_->changed(state_->entries.back());
}

namespace {

tl::unexpected<Error> no_such(const OperationId& id) {
    return fail(Errc::NotFound, fmt::format("there is no operation '{}'", id.str()),
                "those that have ended are forgotten after an hour");
}

}  // namespace

Result<OperationInfo> Operations::find(const OperationId& id) {
    const auto* entry = state_->find(id);
    if (!entry) return no_such(id);
    return entry->info;
}

std::vector<OperationInfo> Operations::list() {
    state_->prune();
    std::vector<OperationInfo> all;
    for (auto entry = state_->entries.rbegin(); entry != state_->entries.rend(); ++entry)
        all.push_back(entry->info);
    return all;
}

Task<Result<OperationInfo>> Operations::wait(OperationId id, Duration longest, Cancel gone) {
    const auto state = state_;
    auto* entry = state->find(id);
    if (!entry) co_return no_such(id);
    if (entry->info.state == OperationState::Running && longest > Duration::zero() && !gone.cancelled()) {
        Completion<bool> ended{state->loop};
        entry->waiting.push_back(ended);
        const auto timer = state->loop.after(longest, [ended]() mutable { ended.complete(false); });
        const auto watch = gone.on_cancel([ended]() mutable { ended.complete(false); });
        co_await ended;
        state->loop.cancel_timer(timer);
        gone.forget(watch);
        entry = state->find(id);
        if (!entry) co_return no_such(id);
        // Of those who gave up waiting nothing is kept.
        auto& waiting = entry->waiting;
        waiting.erase(
            std::remove_if(waiting.begin(), waiting.end(), [](const auto& one) { return one.done(); }),
            waiting.end());
    }
    co_return entry->info;
}

Result<OperationLog> Operations::log(const OperationId& id, std::uint64_t offset) {
    const auto* entry = state_->find(id);
    if (!entry) return no_such(id);
    const auto ends = entry->log_begins + entry->log.size();
    if (offset > ends)
        return fail(Errc::InvalidArgument, fmt::format("offset: the log has {} bytes so far", ends),
                    "go on at the next_offset of the answer before");
    OperationLog log{.offset = std::max(offset, entry->log_begins),
                     .finished = entry->info.state != OperationState::Running};
    const auto text = std::string_view{entry->log}.substr(log.offset - entry->log_begins);
    log.text = whole_characters(text.substr(0, kLogAtOnce));
    log.next_offset = log.offset + log.text.size();
    log.finished = log.finished && log.next_offset == ends;
    return log;
}

Result<OperationInfo> Operations::cancel(const OperationId& id) {
    auto* entry = state_->find(id);
    if (!entry) return no_such(id);
    if (entry->info.state != OperationState::Running)
        return fail(Errc::Conflict, fmt::format("operation '{}' has ended: {}", id.str(),
                                                operation_state_name(entry->info.state)));
    if (!std::exchange(entry->info.cancelling, true)) {
        state_->changed(*entry);
        // A copy: what is called may finish it, which may forget it.
        auto cancel = entry->cancel;
        cancel.cancel();
    }
    return find(id);
}

Task<void> Operations::end_all() {
    const auto state = state_;
    for (;;) {
        const auto found = std::find_if(
            state->entries.begin(), state->entries.end(),
            [](const OperationEntry& entry) { return entry.info.state == OperationState::Running; });
        if (found == state->entries.end()) co_return;
        const auto id = found->info.id;
        if (!found->info.cancelling) (void)cancel(id);
        auto ended = wait(id, std::chrono::minutes{1}, Cancel{});
        (void)co_await std::move(ended);
    }
}

}  // namespace dormouse::desktop
