// SPDX-License-Identifier: Apache-2.0
// Making, finding, starting, stopping and deleting desktops.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/labels.h"
#include "hostd/desktop/command_traits.h"
#include "vmm/net/policy.h"

namespace dormouse::desktop {

struct CreateDesktop {
    static constexpr CommandTraits traits{"desktop.create", CommandGroup::Create};
    std::optional<DesktopName> name;  // absent: one is made up
    TemplateName image;
    net::Mode network = net::Mode::Open;
    bool async = false;  // answer with the operation, at once
    Labels labels{};
};
// Oldest first; those that fit all that is asked for.
struct ListDesktops {
    static constexpr CommandTraits traits{"desktop.list", CommandGroup::Look};
    std::vector<LabelFilter> labels{};
    std::vector<State> states{};  // one of them; none: any
    std::optional<TemplateName> image{};
    int limit = 1000;                     // 1 to 1000
    std::optional<std::string> cursor{};  // of the page before
};
struct GetDesktop {
    static constexpr CommandTraits traits{"desktop.get", CommandGroup::Look};
    DesktopReference desktop;
};
struct DeleteDesktop {
    static constexpr CommandTraits traits{"desktop.delete", CommandGroup::Delete, may_delete};
    DesktopReference desktop;
};
// What is absent stays as it is. A change of the network takes effect at once:
// what is connected and no longer allowed is cut off. It needs the group Network.
struct UpdateDesktop {
    static constexpr CommandTraits traits{"desktop.update", CommandGroup::Lifecycle, may_delete};
    DesktopReference desktop;
    std::optional<DesktopName> name;
    std::map<std::string, std::optional<std::string>, std::less<>> labels;  // without a value: removed
    std::optional<net::Mode> network;
};
struct StartDesktop {
    static constexpr CommandTraits traits{"desktop.start", CommandGroup::Lifecycle, may_start};
    DesktopReference desktop;
};
struct StopDesktop {
    static constexpr CommandTraits traits{"desktop.stop", CommandGroup::Lifecycle, may_stop};
    DesktopReference desktop;
};
struct RestartDesktop {
    static constexpr CommandTraits traits{"desktop.restart", CommandGroup::Lifecycle, may_restart};
    DesktopReference desktop;
};

// ---- the answers

struct ExitInfo {
    std::string status;                    // "signal 9 (Killed)"
    std::vector<std::string> last_output;  // the last lines of QEMU's standard error
};

struct DesktopInfo {
    DesktopId id;
    DesktopName name;
    TemplateName image;
    State state = State::Stopped;
    std::optional<std::string> reason;  // why it failed
    bool ready = false;                 // the agent in the guest has answered since the last start
    WallTime created_at;
    std::optional<WallTime> started_at;
    int screen_width = 0;
    int screen_height = 0;
    int memory_mib = 0;
    int cpus = 0;
    std::string accelerator;
    std::optional<ExitInfo> exit;
    net::Mode network = net::Mode::Open;
    Labels labels{};
    WallTime updated_at{};     // the last change of its state, name or labels
    std::string created_by{};  // id of a token; "" where nobody knows
};

struct DesktopPage {
    std::vector<DesktopInfo> desktops;
    std::optional<std::string> next_cursor;  // absent: these are the last
};

}  // namespace dormouse::desktop
