// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/labels.h"
#include "hostd/schema/codec.h"
#include "hostd/schema/network.h"

namespace dormouse::schema {

struct Screen {
    int width = 0;  // pixels
    int height = 0;
    friend bool operator==(const Screen&, const Screen&) = default;
};

// How a desktop's machine ended, when it did so by itself.
struct Exit {
    std::string status;                    // "signal 9 (Killed)"
    std::vector<std::string> last_output;  // "stderr" in JSON
    friend bool operator==(const Exit&, const Exit&) = default;
};

struct Desktop {
    std::string id;
    std::string name;
    std::string image;  // "template" in JSON, which C++ keeps for itself
    Labels labels;
    std::string state;                  // creating, running, starting, stopping, stopped, failed, deleting
    std::optional<std::string> reason;  // why it failed
    bool ready = false;                 // the agent inside has answered since the last start
    WallTime created_at;
    WallTime updated_at;  // the last change of its state, name or labels
    std::optional<WallTime> started_at;
    Screen screen;
    int memory_mib = 0;
    int cpus = 0;
    std::string accelerator;  // "tcg" or "kvm"
    std::optional<Exit> exit;
    Network network;
    friend bool operator==(const Desktop&, const Desktop&) = default;
};

struct DesktopList {
    std::vector<Desktop> desktops;
    std::optional<std::string> next_cursor;  // where to go on; absent at the end
};

struct CreateDesktopRequest {
    std::optional<std::string> name;  // absent: one is made up
    std::string image = "desktop";    // "template" in JSON
    std::optional<Network> network;   // absent: open
    Labels labels{};
};

// What is absent stays as it is.
struct UpdateDesktopRequest {
    std::optional<std::string> name;
    std::map<std::string, std::optional<std::string>, std::less<>> labels;  // without a value (null): removed
    std::optional<Network> network;
};

// The body of start, stop and restart: nothing, or {}.
struct EmptyRequest {};

std::string to_json(const Desktop& desktop);
std::string to_json(const DesktopList& list);
std::string to_json(const CreateDesktopRequest& request);
std::string to_json(const UpdateDesktopRequest& request);

template <>
Result<Desktop> parse<Desktop>(std::string_view text);
template <>
Result<DesktopList> parse<DesktopList>(std::string_view text);
template <>
Result<CreateDesktopRequest> parse<CreateDesktopRequest>(std::string_view text);  // "" is {}
template <>
Result<UpdateDesktopRequest> parse<UpdateDesktopRequest>(std::string_view text);
template <>
Result<EmptyRequest> parse<EmptyRequest>(std::string_view text);

}  // namespace dormouse::schema
