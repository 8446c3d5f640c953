// SPDX-License-Identifier: Apache-2.0
#include "vmm/accelerator.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "hostd/base/file.h"
#include "hostd/base/log.h"

namespace dormouse::vmm {

namespace fs = std::filesystem;

namespace {

AcceleratorVerdict emulate(std::string reason) {
    return {Accelerator::Tcg, std::move(reason)};
}

// "vmx" (Intel) or "svm" (AMD) among the processor's flags; empty: neither.
std::string_view virtualization_flag(std::string_view cpuinfo) {
    for (std::size_t at = 0; at < cpuinfo.size();) {
        const auto end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
        const auto line = cpuinfo.substr(at, end - at);
        at = end + 1;
        if (line.substr(0, 5) != "flags") continue;
        const auto flags = std::string{line} + ' ';
        if (flags.find(" vmx ") != std::string::npos) return "vmx";
        if (flags.find(" svm ") != std::string::npos) return "svm";
        return {};  // all processors are alike
    }
    return {};
}

// What the outcome of a run depends on: another kernel is tried anew.
std::string cache_key(const AcceleratorProbe& probe, std::string_view boot_id) {
    struct stat info {};
    const bool there = ::stat(probe.kernel.c_str(), &info) == 0;
    return fmt::format("{} {} {}:{}:{}", boot_id.substr(0, boot_id.find('\n')), probe.binary,
                       probe.kernel.string(), there ? info.st_size : 0, there ? info.st_mtime : 0);
}

std::optional<AcceleratorVerdict> remembered(const fs::path& file, const std::string& key) {
    const auto text = read_file(file, 64 << 10);
    if (!text) return {};
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object() || json.value("key", nlohmann::json{}) != key) return {};
    const auto works = json.value("kvm_works", nlohmann::json{});
    const auto reason = json.value("reason", nlohmann::json{});
    if (!works.is_boolean() || !reason.is_string()) return {};
    return AcceleratorVerdict{works ? Accelerator::Kvm : Accelerator::Tcg, reason.get<std::string>()};
}

void remember(const fs::path& file, const std::string& key, const AcceleratorVerdict& verdict) {
    const nlohmann::json json{
        {"key", key}, {"kvm_works", verdict.accelerator == Accelerator::Kvm}, {"reason", verdict.reason}};
    // Not remembered only means that it is tried again.
    if (const auto written = write_file_atomic(file, json.dump() + '\n'); !written)
        log::warn("accelerator.not_cached", {{"error", written.error().message}});
}

std::string last_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    const auto at = text.rfind('\n');
    return at == std::string::npos ? text : text.substr(at + 1);
}

CommandLine trial_command(const AcceleratorProbe& probe) {
    CommandLine command;
    command.argv = {probe.binary,
                    "-nodefaults",
                    "-no-user-config",
                    "-no-reboot",
                    "-machine",
                    fmt::format("{},accel=kvm", kMachineType),
                    "-cpu",
                    cpu_model(Accelerator::Kvm),
                    "-m",
                    "256M",
                    "-display",
                    "none",
                    "-serial",
                    "stdio",
                    "-kernel",
                    probe.kernel.string(),
                    "-append",
                    "console=ttyS0 panic=-1"};
    return command;
}

AcceleratorVerdict try_kernel(const AcceleratorProbe& probe) {
    const auto command = trial_command(probe);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(probe.deadline).count();
    const auto ran = probe.run_kernel ? probe.run_kernel(command, probe.deadline)
                                      : run_kernel_once(command, probe.deadline);
    if (ran) return {Accelerator::Kvm, "KVM works: the kernel started under it"};
    if (ran.error().code == Errc::Timeout)
        return emulate(
            fmt::format("KVM is present, but the kernel did not start under it within {} s", seconds));
    return emulate("KVM is present, but the kernel did not start under it: " + ran.error().message);
}

}  // namespace

const char* cpu_model(Accelerator accelerator) {
    switch (accelerator) {
        case Accelerator::Tcg:
            return "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt";
        case Accelerator::Kvm:
            return "Westmere-v1,enforce";
    }
    return "";
}

AcceleratorVerdict choose_accelerator(const AcceleratorProbe& probe) {
    if (const auto device = open_file(probe.kvm_device, O_RDWR); !device)
        return emulate("KVM is not usable: " + device.error().message);
    const auto cpuinfo = read_file(probe.cpuinfo);
    if (!cpuinfo) return emulate("the processor's flags are not readable: " + cpuinfo.error().message);
    if (virtualization_flag(*cpuinfo).empty())
        return emulate(
            fmt::format("{} is there, but the processor has no virtualization (no vmx or svm flag)",
                        probe.kvm_device.string()));
    if (probe.kernel.empty()) return emulate("KVM is present, but there is no kernel yet to try it with");

    const auto boot_id = read_file(probe.boot_id, 4096);
    const bool can_cache = boot_id && !probe.cache_file.empty();
    const auto key = can_cache ? cache_key(probe, *boot_id) : std::string{};
    if (can_cache)
        if (auto verdict = remembered(probe.cache_file, key)) return *verdict;
    auto verdict = try_kernel(probe);
    if (can_cache) remember(probe.cache_file, key, verdict);
    return verdict;
}

Result<> run_kernel_once(const CommandLine& command, Duration deadline) {
    // The decompressor and the firmware get through where KVM is bad: only a
    // line of the kernel itself counts.
    constexpr std::string_view kFirstLine = "Linux version ";
    bool started = false;
    RunOptions options;
    options.timeout = deadline;
    options.on_line = [&](std::string_view line) { started = started || line.find(kFirstLine) != line.npos; };
    options.cancelled = [&] { return started; };
    options.keep_output = 2048;
    const auto run = run_command(command, options);
    if (started) return {};
    if (!run) return fail(run.error());
    return fail(Errc::Unavailable, fmt::format("{} ({})", run->status.to_text(), last_line(run->output)));
}

}  // namespace dormouse::vmm
