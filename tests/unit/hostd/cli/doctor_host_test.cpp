// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostd/cli/doctor.h"
#include "tests/unit/hostd/cli/fake_host_view.h"

namespace dormouse::cli::doctor {
namespace {

using testing::HasSubstr;

// Whatever is not well says what to do.
void expect(const Finding& finding, Level level, const char* text) {
    EXPECT_EQ(finding.level, level) << finding.text;
    EXPECT_THAT(finding.text, HasSubstr(text));
    EXPECT_EQ(finding.advice.empty(), level == Level::Ok) << finding.advice;
}

struct DoctorHost : testing::Test {
    FakeHostView host;
    Config config = fake_config();
};

TEST_F(DoctorHost, QemuMustBeThereAndNewEnough) {
    expect(check_qemu(host), Level::Ok, "7.2.15");
    auto& said = host.says[{"qemu-system-x86_64", "--version"}];
    said = "QEMU emulator version 10.0.2\n";
    expect(check_qemu(host), Level::Ok, "10.0.2");
    said = "QEMU emulator version 7.1.0\n";
    expect(check_qemu(host), Level::Fail, "too old");
    said = "something else";
    expect(check_qemu(host), Level::Warn, "does not say");
    host.says.clear();
    expect(check_qemu(host), Level::Fail, "cannot run");
}

TEST_F(DoctorHost, QemuMustHaveTheDisplayAndTheDevices) {
    expect(check_qemu_devices(host), Level::Ok, "D-Bus display");
    host.says[{"qemu-system-x86_64", "-display", "help"}] = "none\ngtk\nnot-dbus\n";
    auto& devices = host.says[{"qemu-system-x86_64", "-device", "help"}];
    EXPECT_EQ(check_qemu_devices(host).level, Level::Warn);
    devices.erase(devices.find("name \"virtio-gpu-pci\""), 33);
    expect(check_qemu_devices(host), Level::Fail, "this QEMU lacks virtio-gpu-pci");
    EXPECT_THAT(check_qemu_devices(host).advice, HasSubstr("qemu-system-common"));
}

TEST_F(DoctorHost, ToolsAreNamedWithTheirPackages) {
    expect(check_tools(host), Level::Ok, "mmdebstrap");
    host.missing_programs = {"qemu-img", "mke2fs"};
    expect(check_tools(host), Level::Fail, "mke2fs, qemu-img");
    EXPECT_THAT(check_tools(host).advice, HasSubstr("apt-get install e2fsprogs qemu-utils"));
    host.facts["/usr/sbin/mke2fs"] = {};
    expect(check_tools(host), Level::Fail, "PATH: qemu-img");
}

TEST_F(DoctorHost, DiskIsLookedAtWhereTheFolderWillBe) {
    expect(check_disk(host, "free disk", "/home/not/yet"), Level::Ok, "100.0 GiB at /home");
    host.free = 5ULL << 30;
    expect(check_disk(host, "free disk", "/home"), Level::Warn, "5.0 GiB");
    host.free = 5;
    expect(check_disk(host, "free disk", "/home"), Level::Fail, "5 bytes");
}

TEST_F(DoctorHost, MemoryMustDoForADesktop) {
    expect(check_memory(host), Level::Ok, "8.0 GiB of 16.0 GiB free");
    host.files["/proc/meminfo"] = "MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\n";
    expect(check_memory(host), Level::Warn, "1.0 GiB of 4.0 GiB");
    host.files.erase("/proc/meminfo");
    expect(check_memory(host), Level::Warn, "does not say");
}

TEST_F(DoctorHost, OnlyRootNeedsTheMachineUser) {
    host.users.clear();
    expect(check_machine_user(host), Level::Ok, "not root");
    host.user = 0;
    expect(check_machine_user(host), Level::Fail, "no user dormouse-vm");
    EXPECT_THAT(check_machine_user(host).advice, HasSubstr("useradd --system"));
    host.users = {"dormouse-vm"};
    expect(check_machine_user(host), Level::Ok, "dormouse-vm");
}

TEST_F(DoctorHost, AClockThatIsWrongIsSeen) {
    host.files["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "tsc\n";
    expect(check_clock(host, config), Level::Ok, "2027-03-01 00:00:00 UTC, from tsc");
    host.facts["/home/dormouse.db"] = {FileKind::File, 1000, 0600, host.time + std::chrono::hours{1}};
    expect(check_clock(host, config), Level::Warn, "/home/dormouse.db was written later");
    host.time = WallTime{};
    expect(check_clock(host, config), Level::Fail, "1970-01-01 00:00:00 UTC cannot be");
}

TEST_F(DoctorHost, TheAcceleratorIsTheDaemonsWordOrALook) {
    DaemonView daemon{.version = fail(Errc::Unavailable, "no"), .desktops = fail(Errc::Unavailable, "no")};
    expect(check_accelerator(host, daemon), Level::Warn, "no KVM");
    host.openable.insert("/dev/kvm");
    expect(check_accelerator(host, daemon), Level::Ok, "can be opened");
    daemon.version = schema::Version{.accelerator = "tcg", .accelerator_reason = "it did not boot"};
    expect(check_accelerator(host, daemon), Level::Warn, "tcg: it did not boot");
    daemon.version->accelerator = "kvm";
    expect(check_accelerator(host, daemon), Level::Ok, "kvm");
}

TEST_F(DoctorHost, ThePortIsFreeOursOrTaken) {
    DaemonView daemon{.version = fail(Errc::Unavailable, "no"), .desktops = fail(Errc::Unavailable, "no")};
    expect(check_port(host, config, daemon), Level::Ok, "127.0.0.1:8760 is free");
    host.listen_errno = EADDRINUSE;
    expect(check_port(host, config, daemon), Level::Fail, "used by something else");
    daemon.lock_held = true;
    expect(check_port(host, config, daemon), Level::Warn, "by the daemon it seems");
    daemon.answers = true;
    expect(check_port(host, config, daemon), Level::Ok, "answers");
    daemon = {.version = fail(Errc::Unavailable, "no"), .desktops = fail(Errc::Unavailable, "no")};
    host.listen_errno = EACCES;
    expect(check_port(host, config, daemon), Level::Fail, "ermission denied");
}

}  // namespace
}  // namespace dormouse::cli::doctor
