// SPDX-License-Identifier: Apache-2.0
// The closed list of what Dormouse can be asked to do. REST, the command line
// and every later dialect are translations into it; a new capability starts
// here. Switches over it have no default, so that the compiler names the gaps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/result.h"
#include "hostd/desktop/actions.h"
#include "hostd/desktop/picture.h"
#include "hostd/desktop/state.h"
#include "vmm/net/policy.h"

namespace dormouse::desktop {

// ---- the commands

// How a caller names a desktop: by id or by name.
using DesktopReference = std::string;

struct CreateDesktop {
    std::optional<DesktopName> name;  // absent: one is made up
    TemplateName image;
    net::Mode network = net::Mode::Open;
};
struct ListDesktops {};
struct GetDesktop {
    DesktopReference desktop;
};
struct DeleteDesktop {
    DesktopReference desktop;
};
struct StartDesktop {
    DesktopReference desktop;
};
struct StopDesktop {
    DesktopReference desktop;
};
struct RestartDesktop {
    DesktopReference desktop;
};
// Takes effect at once; what is connected and no longer allowed is cut off.
struct SetNetwork {
    DesktopReference desktop;
    net::Mode mode = net::Mode::Open;
};
struct ListDestinations {
    DesktopReference desktop;
};
struct TakeScreenshot {
    DesktopReference desktop;
    PictureOptions picture{};
};
struct Act {
    DesktopReference desktop;
    std::vector<Action> actions;  // 1 to 100, in order, up to the first that fails
    ActOptions options{};
};
// Runs a program inside to its end, as the desktop's user or as root, with the
// environment of that user's session.
struct RunProgram {
    DesktopReference desktop;
    std::vector<std::string> argv;  // one text when `shell`: a line for the user's shell
    bool shell = false;
    bool as_root = false;
    std::optional<std::string> directory;  // absent: the user's home
    std::map<std::string, std::string> env;
    std::optional<std::string> input;
    Duration timeout = std::chrono::seconds{60};  // at most ten minutes
};
struct CreateToken {
    std::string name;
    Scope scope = Scope::Agent;
};
struct ListTokens {};
struct DeleteToken {
    TokenId token;
};

using Command = std::variant<CreateDesktop, ListDesktops, GetDesktop, DeleteDesktop, StartDesktop,
                             StopDesktop, RestartDesktop, SetNetwork, ListDestinations, TakeScreenshot, Act,
                             RunProgram, CreateToken, ListTokens, DeleteToken>;

// "desktop.create", "token.list", ...: the name in the audit log.
std::string_view command_name(const Command& command);

// What a token's scope lets it do.
bool allowed(const Command& command, Scope scope);

// The states of a desktop in which a command that names one is carried out;
// for the others it is Errc::Conflict. Commands that only look are always legal.
bool legal(const Command& command, State state);

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
};

// What a desktop has reached or tried to, added up over its life.
struct DestinationInfo {
    std::optional<std::string> name;     // absent when the desktop used the address
    std::optional<std::string> address;  // absent when the name was refused
    int port = 0;
    std::string protocol;  // "tcp", "udp", "icmp" or "dns"
    std::string verdict;   // "allowed" or "refused"
    std::string reason;
    WallTime first_at;
    WallTime last_at;
    std::int64_t connections = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
};

struct ActAnswer {
    std::vector<ActionOutcome> done;
    std::optional<Error> failure;  // of one action; those after it were not begun
    // Which one, counting from 0. Past done.size() when it was found wrong in the
    // check before the first: then nothing was done at all.
    std::size_t failed_at = 0;
    std::optional<Aftermath> aftermath;  // where a screenshot was asked for and all went well
};

struct ProgramResult {
    std::optional<int> exit_code;  // absent when a signal ended it
    std::optional<int> signal;
    bool timed_out = false;
    std::string out;  // UTF-8; other bytes are replaced
    std::string err;
    std::uint64_t out_left_out = 0;  // bytes of the middle that were not kept
    std::uint64_t err_left_out = 0;
};

struct TokenInfo {
    TokenId id;
    std::string name;
    Scope scope = Scope::Agent;
    WallTime created_at;
    std::optional<WallTime> last_used_at;
};
struct NewToken {
    TokenInfo info;
    std::string secret;  // shown this once
};

struct Done {};  // nothing to say

using Answer = std::variant<Done, DesktopInfo, std::vector<DesktopInfo>, Picture, ActAnswer, ProgramResult,
                            NewToken, std::vector<TokenInfo>, std::vector<DestinationInfo>>;

}  // namespace dormouse::desktop
