// SPDX-License-Identifier: Apache-2.0
#include "vmm/qemu_command.h"

#include <fmt/ranges.h>
#include <sodium.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include "hostd/base/id.h"

namespace dormouse::vmm {

namespace fs = std::filesystem;

namespace {

// In QEMU's option lists a comma separates; two of them stand for one.
std::string escaped(const fs::path& path) {
    std::string text;
    for (const char c : path.string()) {
        text += c;
        if (c == ',') text += c;
    }
    return text;
}

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash != (text[i] == '-')) return false;
        if (!dash && std::string_view{"0123456789abcdefABCDEF"}.find(text[i]) == std::string_view::npos)
            return false;
    }
    return true;
}

bool is_cpu_model(std::string_view text) {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-=,";
    return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

Result<> check_path(std::string_view what, const fs::path& path) {
    // Absolute, so that QEMU cannot take it for an option or for a protocol.
    if (!path.is_absolute())
        return fail(Errc::InvalidArgument,
                    fmt::format("{} must be an absolute path: \"{}\"", what, path.string()));
    return {};
}

Result<> check_socket(const fs::path& path) {
    if (path.string().size() >= sizeof sockaddr_un{}.sun_path)
        return fail(Errc::InvalidArgument, fmt::format("the path of a socket is too long: {}", path.string()),
                    "choose a shorter run folder");
    return {};
}

Result<> check_numbers(const MachineSpec& spec) {
    const auto check = [](std::string_view what, int value, int low, int high) -> Result<> {
        if (value >= low && value <= high) return {};
        return fail(Errc::InvalidArgument,
                    fmt::format("{} must be {} to {}, not {}", what, low, high, value));
    };
    DORMOUSE_TRY(check("cpus", spec.cpus, 1, 64));
    DORMOUSE_TRY(check("memory", spec.memory_mib, 128, 1 << 20));
    DORMOUSE_TRY(check("screen width", spec.width, 64, 7680));
    return check("screen height", spec.height, 64, 4320);
}

Result<> check_spec(const MachineSpec& spec) {
    if (!is_identifier(spec.id)) return bad_identifier("desktop id", spec.id);
    if (!is_uuid(spec.uuid))
        return fail(Errc::InvalidArgument, "the machine's uuid is not one: " + spec.uuid);
    if (!is_uuid(spec.generation_uuid))
        return fail(Errc::InvalidArgument, "the generation's uuid is not one: " + spec.generation_uuid);
    if (!is_cpu_model(spec.cpu_model))
        return fail(Errc::InvalidArgument, fmt::format("no processor model: \"{}\"", spec.cpu_model));
    DORMOUSE_TRY(check_numbers(spec));
    DORMOUSE_TRY(check_path("the kernel", spec.kernel));
    if (!spec.initrd.empty()) DORMOUSE_TRY(check_path("the initrd", spec.initrd));
    DORMOUSE_TRY(check_path("the memory base", spec.memory_base));
    DORMOUSE_TRY(check_path("the disk", spec.disk));
    for (const auto& layer : spec.backing) {
        DORMOUSE_TRY(check_path("a backing file", layer.path));
        if (layer.format != "raw" && layer.format != "qcow2")
            return fail(Errc::InvalidArgument,
                        fmt::format("no format of a backing file: \"{}\"", layer.format));
    }
    DORMOUSE_TRY(check_path("the run folder", spec.run_folder));
    return check_socket(network_control_socket(spec.run_folder));  // the longest of them
}

class Arguments {
  public:
    explicit Arguments(std::string binary) { argv_.push_back(std::move(binary)); }

    void flag(std::string name) { argv_.push_back(std::move(name)); }
    void option(std::string name, std::string value) {
        argv_.push_back(std::move(name));
        argv_.push_back(std::move(value));
    }
    std::vector<std::string> take() { return std::move(argv_); }

  private:
    std::vector<std::string> argv_;
};

// The parts that the guest and a memory image see. Slots are named: a device
// added later must not move the others.
void add_machine(Arguments& arguments, const MachineSpec& spec) {
    arguments.option("-machine",
                     fmt::format("{},accel={},memory-backend=pc.ram,vmport=off,usb=off,suppress-vmdesc=on",
                                 kMachineType, accelerator_name(spec.accelerator)));
    arguments.option("-cpu", spec.cpu_model);
    arguments.option("-smp", fmt::format("cpus={}", spec.cpus));
    arguments.option("-m", fmt::format("{}M", spec.memory_mib));
    // share=off: what the guest writes stays its own, the file is the base of many.
    // Before 8.2 QEMU insists on opening it for writing all the same.
    const bool can_open_read_only = spec.version >= QemuVersion{8, 2, 0, {}};
    arguments.option("-object", fmt::format("memory-backend-file,id=pc.ram,size={}M,mem-path={},share=off{}",
                                            spec.memory_mib, escaped(spec.memory_base),
                                            can_open_read_only ? ",readonly=on,rom=off" : ""));
    arguments.option("-rtc", "base=utc,clock=host");
    arguments.option("-device", "vmgenid,guid=" + spec.generation_uuid);
}

void add_disk(Arguments& arguments, const MachineSpec& spec) {
    std::string below;
    for (std::size_t i = spec.backing.size(); i > 0; --i) {
        const auto& layer = spec.backing[i - 1];
        arguments.option("-blockdev", fmt::format("driver=file,node-name=f{},filename={},read-only=on", i,
                                                  escaped(layer.path)));
        const bool has_backing = layer.format == "qcow2" && !below.empty();
        arguments.option("-blockdev",
                         fmt::format("driver={},node-name=d{},file=f{},read-only=on{}", layer.format, i, i,
                                     has_backing ? ",backing=" + below : ""));
        below = fmt::format("d{}", i);
    }
    arguments.option("-blockdev",
                     fmt::format("driver=file,node-name=f0,filename={},discard=unmap", escaped(spec.disk)));
    arguments.option("-blockdev",
                     fmt::format("driver=qcow2,node-name=d0,file=f0,discard=unmap,detect-zeroes=unmap{}",
                                 below.empty() ? "" : ",backing=" + below));
    arguments.option("-device", "virtio-blk-pci,id=disk0,bus=pcie.0,addr=0x7,drive=d0,write-cache=on");
}

void add_devices(Arguments& arguments, const MachineSpec& spec) {
    arguments.option("-device",
                     fmt::format("virtio-gpu-pci,id=gpu0,bus=pcie.0,addr=0x2,xres={},yres={},edid=on",
                                 spec.width, spec.height));
    arguments.option("-device", "virtio-tablet-pci,id=tablet0,bus=pcie.0,addr=0x3");
    arguments.option("-device", "virtio-keyboard-pci,id=keyboard0,bus=pcie.0,addr=0x4");
    arguments.option("-device", "virtio-serial-pci,id=serial0,bus=pcie.0,addr=0x5");
    arguments.option("-chardev", fmt::format("socket,id=agent,path={},server=on,wait=off",
                                             escaped(agent_socket(spec.run_folder))));
    arguments.option(
        "-device",
        fmt::format("virtserialport,id=agent0,bus=serial0.0,nr=1,chardev=agent,name={}", kAgentPort));
    arguments.option("-object", "rng-random,id=rng0,filename=/dev/urandom");
    arguments.option("-device", "virtio-rng-pci,id=rngdev0,bus=pcie.0,addr=0x6,rng=rng0");
    add_disk(arguments, spec);
    // Datagrams: a network process that is missing or slow never blocks QEMU.
    arguments.option(
        "-netdev",
        fmt::format("dgram,id=net0,local.type=unix,local.path={},remote.type=unix,remote.path={}",
                    escaped(network_socket(spec.run_folder)), escaped(network_peer_socket(spec.run_folder))));
    // Never booted from: without its ROM there is one block less to keep.
    arguments.option(
        "-device",
        fmt::format("virtio-net-pci,id=nic0,bus=pcie.0,addr=0x8,netdev=net0,mac={},romfile=", kMacAddress));
}

void add_display(Arguments& arguments, DisplayProtocol protocol) {
    switch (protocol) {
        case DisplayProtocol::Dbus:
            arguments.option("-display", "dbus,p2p=yes");
            return;
        case DisplayProtocol::Vnc:
            // "none" is a VNC server that listens nowhere, not no VNC server.
            arguments.option("-display", "none");
            arguments.option("-vnc", "none");
            return;
    }
}

std::string hash_hex(const std::string& text) {
    std::array<unsigned char, crypto_generichash_BYTES> hash;
    crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()),
                       text.size(), nullptr, 0);
    return fmt::format("{:02x}", fmt::join(hash, ""));
}

}  // namespace

const char* accelerator_name(Accelerator accelerator) {
    switch (accelerator) {
        case Accelerator::Tcg:
            return "tcg";
        case Accelerator::Kvm:
            return "kvm";
    }
    return "";
}

const char* display_protocol_name(DisplayProtocol protocol) {
    switch (protocol) {
        case DisplayProtocol::Dbus:
            return "dbus";
        case DisplayProtocol::Vnc:
            return "vnc";
    }
    return "";
}

fs::path qmp_socket(const fs::path& run_folder) {
    return run_folder / "qmp.sock";
}
fs::path agent_socket(const fs::path& run_folder) {
    return run_folder / "agent.sock";
}
fs::path network_socket(const fs::path& run_folder) {
    return run_folder / "net.sock";
}
fs::path network_peer_socket(const fs::path& run_folder) {
    return run_folder / "netd.sock";
}
fs::path network_control_socket(const fs::path& run_folder) {
    return run_folder / "netctl.sock";
}

Result<CommandLine> qemu_command(const MachineSpec& spec) {
    DORMOUSE_TRY(check_spec(spec));
    Arguments arguments{spec.binary};
    arguments.option("-name", fmt::format("guest={},debug-threads=on", spec.id));
    arguments.option("-uuid", spec.uuid);
    arguments.flag("-nodefaults");
    arguments.flag("-no-user-config");
    arguments.flag("-S");
    add_machine(arguments, spec);
    arguments.option("-kernel", spec.kernel.string());
    if (!spec.initrd.empty()) arguments.option("-initrd", spec.initrd.string());
    arguments.option("-append", spec.kernel_arguments);
    add_display(arguments, spec.display);
    add_devices(arguments, spec);
    arguments.option("-chardev", fmt::format("socket,id=qmp,path={},server=on,wait=off",
                                             escaped(qmp_socket(spec.run_folder))));
    arguments.option("-mon", "chardev=qmp,mode=control");
    arguments.option("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
    if (spec.incoming) arguments.option("-incoming", "defer");
    CommandLine command;
    command.argv = arguments.take();
    return command;
}

Result<std::string> command_hash(const MachineSpec& spec) {
    auto same = spec;
    same.generation_uuid = "00000000-0000-0000-0000-000000000000";
    DORMOUSE_TRY_ASSIGN(const auto command, qemu_command(same));
    constexpr std::array<std::string_view, 5> kSeenByImages{"-machine", "-cpu", "-smp", "-m", "-device"};
    std::string text;
    for (std::size_t i = 1; i + 1 < command.argv.size(); ++i)
        if (std::find(kSeenByImages.begin(), kSeenByImages.end(), command.argv[i]) != kSeenByImages.end())
            text += command.argv[i] + ' ' + command.argv[i + 1] + '\n';
    return hash_hex(text);
}

Result<QemuVersion> parse_qemu_version(const std::string& output) {
    constexpr std::string_view kBefore = "QEMU emulator version ";
    const auto at = output.find(kBefore);
    if (at == std::string::npos)
        return fail(Errc::Corrupt, "this is not QEMU's answer to --version: " + output);
    QemuVersion version;
    version.text = output.substr(at, output.find('\n', at) - at);
    const char* from = output.data() + at + kBefore.size();
    const char* const end = output.data() + output.size();
    for (int* part : {&version.major, &version.minor, &version.micro}) {
        const auto [rest, error] = std::from_chars(from, end, *part);
        if (error != std::errc{}) return fail(Errc::Corrupt, "no version in: " + version.text);
        from = rest;
        if (from != end && *from == '.') ++from;
    }
    return version;
}

Result<QemuVersion> qemu_version(const std::string& binary) {
    CommandLine command;
    command.argv = {binary, "--version"};
    RunOptions options;
    options.timeout = std::chrono::seconds{10};
    DORMOUSE_TRY_ASSIGN(const auto output, run_checked(command, options));
    return parse_qemu_version(output);
}

DisplayProtocol parse_display_help(const std::string& output) {
    std::istringstream lines{output};
    for (std::string line; std::getline(lines, line);)
        if (line == "dbus") return DisplayProtocol::Dbus;
    return DisplayProtocol::Vnc;
}

Result<DisplayProtocol> best_display_protocol(const std::string& binary) {
    CommandLine command;
    command.argv = {binary, "-display", "help"};
    RunOptions options;
    options.timeout = std::chrono::seconds{10};
    DORMOUSE_TRY_ASSIGN(const auto output, run_checked(command, options));
    return parse_display_help(output);
}

}  // namespace dormouse::vmm
