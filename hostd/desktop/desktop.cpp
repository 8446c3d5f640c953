// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/desktop.h"

#include "hostd/base/log.h"

namespace dormouse::desktop {

namespace {

std::vector<std::string> parse_lines(const std::optional<std::string>& text) {
    const auto json = nlohmann::json::parse(text.value_or("[]"), nullptr, false);
    std::vector<std::string> lines;
    if (json.is_array())
        for (const auto& line : json)
            if (line.is_string()) lines.push_back(line.get<std::string>());
    return lines;
}

}  // namespace

Desktop::Desktop(Host& host, Template image, db::DesktopRow row, State state, Save save,
                 SaveDestinations save_destinations)
    : host_(host),
      image_(std::move(image)),
      row_(std::move(row)),
      state_(state),
      save_(std::move(save)),
      save_destinations_(std::move(save_destinations)),
      screen_(row_.id.str(), host.loop),
      machine_mutex_(host.loop),
      screen_mutex_(host.loop),
      describe_mutex_(host.loop),
      input_mutex_(host.loop) {
    if (row_.exit_status) exit_ = ExitInfo{*row_.exit_status, parse_lines(row_.exit_output)};
}

DesktopInfo Desktop::info() const {
    const auto size = screen_.size();
    const bool has_picture = machine_ && size.width > 0;
    return {.id = row_.id,
            .name = row_.name,
            .image = row_.image,
            .state = state_,
            .reason = pause_reason_ ? pause_reason_ : row_.reason,
            .ready = ready_,
            .created_at = row_.created_at,
            .started_at = row_.started_at,
            .screen_width = has_picture ? size.width : row_.screen_width,
            .screen_height = has_picture ? size.height : row_.screen_height,
            .memory_mib = row_.memory_mib,
            .cpus = row_.cpus,
            .accelerator = row_.accelerator,
            .exit = exit_,
            .network = network_mode(),
            .labels = row_.labels,
            .updated_at = row_.updated_at,
            .created_by = row_.created_by};
}

void Desktop::tell(DesktopChange change) const {
    if (listener_ && !closed_) listener_(*this, change);
}

void Desktop::describe(DesktopName name, Labels labels, WallTime now) {
    row_.name = std::move(name);
    row_.labels = std::move(labels);
    row_.updated_at = now;
    tell(DesktopChange::Details);
}

void Desktop::set_ready(bool ready) {
    if (std::exchange(ready_, ready) != ready) tell(DesktopChange::Details);
}

void Desktop::set_pause_reason(std::optional<std::string> reason) {
    if (std::exchange(pause_reason_, reason) != reason) tell(DesktopChange::Details);
}

Task<Result<>> Desktop::move_to(State next, std::optional<std::string> reason) {
    if (!may_move(state_, next))
        co_return fail(Errc::Conflict, fmt::format("a desktop that is {} cannot become {}",
                                                   state_name(state_), state_name(next)));
    const auto before = state_;
    const auto reason_before = row_.reason;
    state_ = next;
    row_.state = state_name(next);
    row_.reason = std::move(reason);
    row_.updated_at = std::chrono::floor<std::chrono::milliseconds>(host_.loop.clock().wall());
    if (next == State::Running || next == State::Starting) {
        exit_.reset();
        row_.exit_status.reset();
        row_.exit_output.reset();
    }
    if (next == State::Running && before != State::Running) row_.started_at = host_.loop.clock().wall();
    log::info("desktop.state", {{"desktop", row_.id.str()},
                                {"from", state_name(before)},
                                {"to", state_name(next)},
                                {"reason", row_.reason.value_or("")}});
    auto saved = co_await save_(row_);
    if (!saved && state_ == next) {
        state_ = before;
        row_.state = state_name(before);
        row_.reason = reason_before;
    }
    if (saved) tell(DesktopChange::State);
    co_return saved;
}

Task<void> Desktop::fail_with(std::string reason) {
    const auto moved = co_await move_to(State::Failed, std::move(reason));
    if (!moved)
        log::error("desktop.state_lost", {{"desktop", row_.id.str()}, {"why", moved.error().message}});
}

void Desktop::close() {
    closed_ = true;
    screen_.detach();
    close_network();
    if (machine_) machine_->disconnect();
    machine_.reset();
}

}  // namespace dormouse::desktop
