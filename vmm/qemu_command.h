// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "hostd/base/process.h"
#include "hostd/base/result.h"

// The command line of a desktop's machine, as a value. Nothing here starts one.
namespace dormouse::vmm {

constexpr const char* kMachineType = "pc-q35-7.2";  // pinned: images outlive QEMU's versions
constexpr const char* kAgentPort = "org.dormouse.agent";
constexpr const char* kMacAddress =
    "52:54:00:12:34:56";  // the same everywhere: each desktop's network is its own

enum class Accelerator { Tcg, Kvm };
const char* accelerator_name(Accelerator accelerator);  // "tcg", "kvm"

struct QemuVersion {
    int major = 7;
    int minor = 2;
    int micro = 0;
    std::string text;  // the first line that the binary printed
    friend auto operator<=>(const QemuVersion& a, const QemuVersion& b) {
        return std::tie(a.major, a.minor, a.micro) <=> std::tie(b.major, b.minor, b.micro);
    }
    friend bool operator==(const QemuVersion& a, const QemuVersion& b) { return (a <=> b) == 0; }
};

// How QEMU shows its screen to us. Neither listens anywhere: each connection is a
// descriptor that is handed over by QMP (see Machine::open_display).
enum class DisplayProtocol {
    Dbus,  // a change is told at once
    Vnc,   // for a QEMU without the other: looked for every 30 ms
};
const char* display_protocol_name(DisplayProtocol protocol);  // "dbus", "vnc"

// A read-only layer below the disk's top.
struct DiskLayer {
    std::filesystem::path path;
    std::string format;  // "raw" or "qcow2": named, never probed
};

struct MachineSpec {
    std::string binary = "qemu-system-x86_64";
    QemuVersion version;          // of `binary`
    std::string id;               // the desktop's, an identifier
    std::string uuid;             // the machine's, kept for its life
    std::string generation_uuid;  // vmgenid: a fresh one for each start and wake
    Accelerator accelerator = Accelerator::Tcg;
    std::string cpu_model;  // of accelerator.h
    int cpus = 2;
    int memory_mib = 2048;
    std::filesystem::path kernel;
    std::filesystem::path initrd;  // may be empty
    std::string kernel_arguments;
    std::filesystem::path memory_base;  // a file of exactly memory_mib; mapped privately
    std::filesystem::path disk;         // the qcow2 on top, this machine's alone
    std::vector<DiskLayer> backing;     // below it, nearest first; empty: as the qcow2 headers name them
    int width = 1280;
    int height = 800;
    DisplayProtocol display = DisplayProtocol::Dbus;
    std::filesystem::path run_folder;  // for sockets; short, one per machine
    bool incoming = false;             // wait for `migrate-incoming` instead of booting
};

// The sockets of a machine.
std::filesystem::path qmp_socket(const std::filesystem::path& run_folder);
std::filesystem::path agent_socket(const std::filesystem::path& run_folder);
std::filesystem::path network_socket(const std::filesystem::path& run_folder);       // QEMU's end
std::filesystem::path network_peer_socket(const std::filesystem::path& run_folder);  // the network process's
std::filesystem::path network_control_socket(
    const std::filesystem::path& run_folder);  // where the daemon speaks to it

// The machine starts with its processors stopped; QMP `cont` sets it going.
// Errc::InvalidArgument names what in `spec` cannot be.
Result<CommandLine> qemu_command(const MachineSpec& spec);

// A hash of what must be the same for a memory image to be loadable: machine,
// processor, devices and sizes; not paths, names and uuids. Hex.
Result<std::string> command_hash(const MachineSpec& spec);

// Runs `binary --version`. Blocks for some milliseconds.
Result<QemuVersion> qemu_version(const std::string& binary);
Result<QemuVersion> parse_qemu_version(const std::string& output);

// Runs `binary -display help`: Vnc when that does not name "dbus". Blocks for
// some milliseconds.
Result<DisplayProtocol> best_display_protocol(const std::string& binary);
DisplayProtocol parse_display_help(const std::string& output);

}  // namespace dormouse::vmm
