// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/process.h"
#include "hostd/base/result.h"

// What daemon and keeper say to each other over a SOCK_SEQPACKET socket.
//
// One packet is one type byte and a payload of at most kMaxPayload bytes. The
// keeper of a running desktop may be older than the daemon: a change that an
// old peer would misread needs a new kKeeperProtocol.
namespace dormouse::vmm {

constexpr int kKeeperProtocol = 1;
constexpr std::size_t kMaxPayload = 60 << 10;
// One QMP line. query-qmp-schema, the longest answer there is, has 0.2 MB.
constexpr std::size_t kMaxQmpLine = 8 << 20;
// Bytes for the guest that the keeper holds at most; more are sent as it
// acknowledges them. The guest may not read at all.
constexpr std::size_t kGuestWindow = 256 << 10;

enum class PacketType : char {
    QmpPart = 'q',      // both ways: a piece of a QMP line, more of it follows
    QmpLine = 'Q',      // the last piece; to the keeper it may carry one descriptor
    Guest = 'G',        // both ways: bytes of the agent's port
    GuestCredit = 'A',  // to the daemon: decimal, so many guest bytes were taken by QEMU
    Control = 'C',      // both ways: a JSON object with "type"
};

// The file names that keeper and daemon agree on.
inline std::filesystem::path keeper_socket(const std::filesystem::path& run_folder) {
    return run_folder / "keeper.sock";
}
inline std::filesystem::path keeper_state(const std::filesystem::path& run_folder) {
    return run_folder / "keeper.json";
}
// Locked for as long as a keeper serves the folder.
inline std::filesystem::path keeper_lock(const std::filesystem::path& run_folder) {
    return run_folder / "keeper.lock";
}
inline std::filesystem::path exit_file(const std::filesystem::path& desktop_folder) {
    return desktop_folder / "exit.json";
}

// How a QEMU ended.
struct ExitRecord {
    pid_t pid = -1;
    ExitStatus status;
    std::vector<std::string> stderr_tail;  // the last lines it said
    std::int64_t ended_at_ms = 0;          // Unix time
    bool requested = false;                // somebody asked the keeper to end it
    std::string shutdown_reason;           // QEMU's own: "guest-shutdown", "host-qmp-quit", ...; may be empty
    bool keeper_lost = false;              // the keeper died and QEMU with it; `status` is not known

    std::string to_text() const;  // "signal 9 (Killed)", "exit code 1", "the keeper was killed"
};
nlohmann::json to_json(const ExitRecord& record);
Result<ExitRecord> parse_exit_record(const nlohmann::json& json);

// What the keeper is told in its launch file.
struct LaunchFile {
    std::string id;
    std::string identity;  // a word of QEMU's command line that no other process has
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::filesystem::path run_folder;
    std::filesystem::path desktop_folder;
    std::filesystem::path qmp_socket;
    std::filesystem::path guest_socket;  // empty: none
    std::int64_t timeout_ms = 20'000;    // until QMP answers
    std::filesystem::path netd_binary;   // dormouse-netd; empty: the desktop has no network
    nlohmann::json netd_config;          // for its standard input; the keeper does not look into it
};
nlohmann::json to_json(const LaunchFile& file);
Result<LaunchFile> parse_launch_file(std::string_view text);

// The keeper's first words to each daemon ("type": "hello").
struct KeeperHello {
    int protocol = 0;
    pid_t keeper_pid = -1;
    pid_t qemu_pid = -1;
    bool ready = false;  // QMP has answered; else a control message "ready" follows
    std::string identity;
    std::string desktop_folder;
    std::string qemu_version;  // "7.2.22"; empty until ready
};
nlohmann::json to_json(const KeeperHello& hello);
// Errc::Conflict when the keeper speaks another protocol.
Result<KeeperHello> parse_hello(const nlohmann::json& json);

}  // namespace dormouse::vmm
