// SPDX-License-Identifier: Apache-2.0
#include "display/screen.h"

#include <utility>

#include "display/changes.h"
#include "display/dbus_source.h"
#include "display/rfb_source.h"

namespace dormouse::display {

Screen::Screen(std::string id, EventLoop& loop) : id_(std::move(id)), core_(std::make_shared<Core>(loop)) {}

Screen::~Screen() {
    core_->on_change = nullptr;
    detach();
}

namespace {

template <class Source, class Options>
Result<std::unique_ptr<FrameSource>> start_source(UniqueFd socket, Framebuffer& framebuffer, std::string id,
                                                  std::function<void()> on_change) {
    Options options;
    options.id = std::move(id);
    options.on_change = std::move(on_change);
    DORMOUSE_TRY_ASSIGN(auto source, Source::start(std::move(socket), framebuffer, std::move(options)));
    return std::unique_ptr<FrameSource>{std::move(source)};
}

}  // namespace

Result<> Screen::attach(UniqueFd socket, SourceKind kind) {
    core_->source.reset();
    core_->kind = kind;
    // Weak: the source belongs to the core.
    auto on_change = [weak = std::weak_ptr{core_}] {
        if (const auto core = weak.lock()) post_change(core);
    };
    const auto start = kind == SourceKind::Dbus ? start_source<DbusSource, DbusSourceOptions>
                                                : start_source<RfbSource, RfbSourceOptions>;
    auto source = start(std::move(socket), core_->framebuffer, id_, std::move(on_change));
    if (source) core_->source = std::move(*source);
    post_change(core_);
    if (!source) return tl::make_unexpected(source.error());
    return {};
}

void Screen::pointer_sent_to(int x, int y) {
    if (core_->source && core_->kind == SourceKind::Vnc) core_->framebuffer.guess_cursor_position(x, y);
}

void Screen::detach() {
    core_->source.reset();
    post_change(core_);
}

bool Screen::attached() const {
    return status().state != SourceState::Ended;
}

SourceStatus Screen::status() const {
    return status_of(*core_);
}

SourceStatus Screen::status_of(const Core& core) {
    if (!core.source)
        return {SourceState::Ended,
                {Errc::Unavailable, "the desktop's screen is not attached", "is it running?", 0}};
    return core.source->status();
}

std::function<Result<Still>()> Screen::still_job(const StillOptions& options) const {
    return [core = core_, options] { return core->stills.newest(options); };
}

std::vector<Rect> Screen::changed_regions(const std::shared_ptr<const Snapshot>& before) const {
    if (!before || before->generation == generation()) return {};
    const auto now = snapshot();
    if (!now) return {};
    return find_changes(before->image.view(), now->image.view());
}

void Screen::set_on_change(std::function<void()> callback) {
    core_->on_change = std::move(callback);
}

void Screen::post_change(const std::shared_ptr<Core>& core) {
    if (core->notified.exchange(true)) return;
    core->loop.post([core] { changed(core); });
}

void Screen::changed(const std::shared_ptr<Core>& core) {
    // Before anything is read: what comes after this posts again.
    core->notified = false;
    for (auto& waiter : std::exchange(core->waiting, {})) waiter->complete(true);
    if (core->on_change) {
        const auto callback = core->on_change;  // may replace or destroy itself
        callback();
    }
}

// False when `until` came first.
Task<bool> Screen::next_change(std::shared_ptr<Core> core, MonotonicTime until) {
    auto& loop = core->loop;
    auto change = std::make_shared<Completion<bool>>(loop);
    core->waiting.push_back(change);
    const auto delay = std::max(until - loop.clock().now(), Duration{0});
    const auto timer = loop.after(delay, [change] { change->complete(false); });
    const bool changed = co_await *change;
    loop.cancel_timer(timer);
    std::erase(core->waiting, change);
    co_return changed;
}

Task<Result<>> Screen::wait_live(Duration timeout) {
    return wait_live_in(core_, timeout);
}

Task<Result<>> Screen::wait_live_in(std::shared_ptr<Core> core, Duration timeout) {
    const auto deadline = core->loop.clock().now() + timeout;
    while (true) {
        auto status = status_of(*core);
        if (status.state == SourceState::Live) co_return Result<>{};
        if (status.state == SourceState::Ended) co_return fail(std::move(status.reason));
        if (core->loop.clock().now() >= deadline)
            co_return fail(Errc::Timeout, "the screen showed nothing in time");
        co_await next_change(core, deadline);
    }
}

Task<Result<Settled>> Screen::wait_settled(SettleOptions options, Duration longest) {
    return wait_settled_in(core_, options, longest);
}

Task<Result<Settled>> Screen::wait_settled_in(std::shared_ptr<Core> core, SettleOptions options,
                                              Duration longest) {
    const auto& clock = core->loop.clock();
    const auto start = clock.now();
    const auto deadline = start + longest;
    DORMOUSE_CO_TRY(co_await wait_live_in(core, longest));
    SettleDetector detector{options, clock.now()};
    Settled result{false, {}, core->framebuffer.generation()};
    while (true) {
        auto status = status_of(*core);
        if (status.state == SourceState::Ended) co_return fail(std::move(status.reason));
        const auto damage = core->framebuffer.damage_since(result.generation);
        if (damage.generation > result.generation) detector.changed(damage);
        result.generation = damage.generation;
        const auto now = clock.now();
        result.settled = detector.settled(now);
        result.took = now - start;
        if (result.settled || now >= deadline) co_return result;
        co_await next_change(core, std::min(deadline, detector.settles_at()));
    }
}

}  // namespace dormouse::display
