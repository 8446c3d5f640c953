// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>

#include "hostd/cli/doctor_view.h"

namespace dormouse::cli::doctor {

// A machine that is as the test says; a healthy one to begin with.
class FakeHostView final : public HostView {
  public:
    FakeHostView() {
        says[{"qemu-system-x86_64", "--version"}] = "QEMU emulator version 7.2.15 (Debian 1:7.2)\n";
        says[{"qemu-system-x86_64", "-display", "help"}] = "Available display backend types:\nnone\ndbus\n";
        std::string devices;
        for (const char* device :
             {"virtio-vga", "virtio-gpu-pci", "virtio-tablet-pci", "virtio-keyboard-pci", "virtio-serial-pci",
              "virtio-blk-pci", "virtio-net-pci", "virtio-rng-pci", "vmgenid"})
            devices += "name \"" + std::string{device} + "\", bus PCI\n";
        says[{"qemu-system-x86_64", "-device", "help"}] = devices;
        files["/proc/meminfo"] = "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n";
        files["/proc/self/mountinfo"] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        links["/sys/dev/block/8:1"] = "/sys/devices/sda1";
        facts["/"] = {FileKind::Folder, 0, 0755, {}};
        facts["/home"] = {FileKind::Folder, 1000, 0700, {}};
        facts["/templates"] = {FileKind::Folder, 1000, 0700, {}};
    }

    uid_t uid() override { return user; }
    WallTime now() override { return time; }
    Result<std::string> run(const std::vector<std::string>& command) override {
        const auto found = says.find(command);
        if (found == says.end()) return fail(Errc::NotFound, "cannot run " + command.front());
        return found->second;
    }
    bool in_path(const std::string& program) override { return !missing_programs.count(program); }
    bool has_user(const std::string& name) override { return users.count(name) > 0; }
    std::vector<ProcessFacts> processes() override { return running; }
    Result<std::string> read(const std::filesystem::path& file) override {
        const auto found = files.find(file);
        if (found == files.end()) return fail(Errc::NotFound, file.string() + " is not there");
        return found->second;
    }
    Result<FileFacts> look(const std::filesystem::path& path) override {
        const auto found = facts.find(path);
        if (found == facts.end()) return fail(Errc::NotFound, path.string() + " is not there");
        return found->second;
    }
    std::vector<std::filesystem::path> list(const std::filesystem::path& folder) override {
        const auto found = folders.find(folder);
        return found == folders.end() ? std::vector<std::filesystem::path>{} : found->second;
    }
    std::filesystem::path resolve(const std::filesystem::path& path) override {
        if (const auto link = links.find(path); link != links.end()) return link->second;
        return facts.count(path) ? path : std::filesystem::path{};
    }
    bool may_open(const std::filesystem::path& path) override { return openable.count(path) > 0; }
    Result<std::uint64_t> free_bytes(const std::filesystem::path&) override { return free; }
    bool is_encrypted_folder(const std::filesystem::path& folder) override {
        return encrypted.count(folder) > 0;
    }
    bool is_locked(const std::filesystem::path& file) override { return locked.count(file) > 0; }
    int why_not_listen(const Config&) override { return listen_errno; }

    uid_t user = 1000;
    WallTime time{std::chrono::sys_days{std::chrono::year{2027} / 3 / 1}};
    std::map<std::vector<std::string>, std::string> says;
    std::set<std::string> missing_programs;
    std::set<std::string> users{"dormouse-vm"};
    std::vector<ProcessFacts> running;
    std::map<std::filesystem::path, std::string> files;
    std::map<std::filesystem::path, FileFacts> facts;
    std::map<std::filesystem::path, std::vector<std::filesystem::path>> folders;
    std::map<std::filesystem::path, std::filesystem::path> links;
    std::set<std::filesystem::path> openable;
    std::set<std::filesystem::path> encrypted;
    std::set<std::filesystem::path> locked;
    std::uint64_t free = 100ULL << 30;
    int listen_errno = 0;
};

inline Config fake_config() {
    Config config;
    config.home = "/home";
    config.run = "/run/dormouse-1";
    config.templates = "/templates";
    return config;
}

}  // namespace dormouse::cli::doctor
