// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::guest {

// The methods that the agent answers, first form. Unknown methods get
// not_found, unknown or missing fields and wrong types invalid_argument.
//
//   method         params -> result
//   ping           {} -> {}
//   status         {} -> {"x_ready": bool, "session_ready": bool, "browser_window": bool,
//                         "screen": {"width","height"} | null, "uptime_seconds": number,
//                         "active_window": {"class","title"} | null}
//                  session_ready: a window manager runs and a desktop or panel is on screen
//   set_time       {"unix_ns"} -> {"offset_ms", "stepped": bool}     offset: host minus guest, before
//   screen_size    {} -> {"width","height"}
//   clipboard_get  {"selection"?: "clipboard"|"primary"} -> {"text"}  absent, or its owner silent: ""
//   clipboard_set  {"text", "selections"?: ["clipboard","primary"]} -> {}   default: ["clipboard"]
//   paste_text     {"text"} -> {"shortcut": "ctrl+v"|"shift+Insert", "window_class"}
//                  keeps what was on the clipboard, puts `text` there; the host then presses the shortcut
//   paste_wait     {"timeout_ms": 0..60000} -> {"fetched": bool, "by_active_window": bool, "requests"}
//                  waits until somebody else has fetched the text of paste_text
//   paste_restore  {} -> {"restored": bool}    false: somebody else copied something meanwhile, which stays
//   pointer        {} -> {"x","y"}             where the pointer is, in pixels of the screen
//   wheel          {"direction": "up"|"down"|"left"|"right", "amount": 1..100, "x"?, "y"?,
//                   "modifiers"?: ["shift"|"ctrl"|"alt"|"super"]} -> {"arrived": bool}
//                  turns the wheel where the pointer is; waits before, for a moment, until the pointer
//                  is at x, y and the modifiers are held (arrived), and goes ahead anyway after that
//   quiesce        {} -> {"trimmed": bool}     sync, page cache dropped, free blocks discarded
//   exec           {"argv": [...], "shell": bool, "user": "desktop"|"root", "cwd"?, "env"?: {}, "stdin"?,
//                   "timeout_ms": 1..600000} -> {"exit_code" | null, "signal" | null, "timed_out": bool,
//                   "stdout", "stderr", "stdout_left_out", "stderr_left_out"}
//                  runs a program to its end; of each output at most kMaxOutput bytes are kept, the
//                  first and the last half; ..._left_out says how many bytes were not
//   poweroff       {} -> {}                    answers first, then goes down
//   reboot         {} -> {}
//
// Texts are UTF-8, at most kMaxText bytes. paste_text without paste_restore in
// between keeps the first clipboard content.
namespace method {
constexpr std::string_view kPing = "ping";
constexpr std::string_view kStatus = "status";
constexpr std::string_view kSetTime = "set_time";
constexpr std::string_view kScreenSize = "screen_size";
constexpr std::string_view kClipboardGet = "clipboard_get";
constexpr std::string_view kClipboardSet = "clipboard_set";
constexpr std::string_view kPasteText = "paste_text";
constexpr std::string_view kPasteWait = "paste_wait";
constexpr std::string_view kPasteRestore = "paste_restore";
constexpr std::string_view kPointer = "pointer";
constexpr std::string_view kWheel = "wheel";
constexpr std::string_view kQuiesce = "quiesce";
constexpr std::string_view kExec = "exec";
constexpr std::string_view kPoweroff = "poweroff";
constexpr std::string_view kReboot = "reboot";
}  // namespace method

// Whether asking twice is the same as asking once, so that a request whose
// answer was lost may be sent again.
bool is_idempotent(std::string_view method_name);

constexpr std::size_t kMaxText = 1 << 20;
constexpr std::size_t kMaxOutput = 512 << 10;  // of each of the two, from one program
// One Open or Close, as JSON text; kMaxText with room for escapes.
constexpr std::size_t kMaxMessage = 4 << 20;
constexpr int kMaxJsonDepth = 32;

// The host's side of a hello.
struct HostHello {
    std::string host_version;
    std::int64_t time_unix_ns = 0;  // the guest sets its clock by it before it acknowledges
    friend bool operator==(const HostHello&, const HostHello&) = default;
};

// The agent's.
struct HelloInfo {
    std::string agent_version;
    std::string boot_id;               // the kernel's; stays over sleep and wake, changes with a reboot
    std::int64_t time_unix_ns = 0;     // that of the hello which is acknowledged
    std::vector<std::string> methods;  // what this agent knows
    bool knows(std::string_view method_name) const;
    friend bool operator==(const HelloInfo&, const HelloInfo&) = default;
};

// Parsers take what a hostile other side sent: Errc::Corrupt when it does not
// fit. Fields they do not know are left alone, so that either side may be newer.
nlohmann::json to_json(const HostHello& hello);
nlohmann::json to_json(const HelloInfo& info);
Result<HostHello> parse_host_hello(const nlohmann::json& body);
Result<HelloInfo> parse_hello_info(const nlohmann::json& body);

// A request as Open carries it.
struct Request {
    std::string method;
    nlohmann::json params;
};
nlohmann::json to_json(const Request& request);
Result<Request> parse_request(const nlohmann::json& body);

// The answer as Close carries it. A parsed error has a bounded message without
// control characters.
nlohmann::json outcome_to_json(const Result<nlohmann::json>& outcome);
Result<nlohmann::json> parse_outcome(const nlohmann::json& body);

// JSON text of bounded depth. Bytes that are not UTF-8 are replaced in
// dump_json and refused in parse_json (Errc::Corrupt).
std::string dump_json(const nlohmann::json& body);
Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace dormouse::guest
