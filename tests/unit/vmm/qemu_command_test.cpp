// SPDX-License-Identifier: Apache-2.0
#include "vmm/qemu_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vmm/accelerator.h"

namespace dormouse::vmm {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

MachineSpec usual_spec() {
    MachineSpec spec;
    spec.id = "d-1a2b3c4d5e";
    spec.uuid = "11111111-2222-3333-4444-555555555555";
    spec.generation_uuid = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
    spec.cpu_model = cpu_model(Accelerator::Tcg);
    spec.kernel = "/state/t/vmlinuz";
    spec.initrd = "/state/t/initrd.img";
    spec.kernel_arguments = "root=/dev/vda rw quiet, init_on_free=1";
    spec.memory_base = "/state/t/memory.base";
    spec.disk = "/state/d/disk.qcow2";
    spec.run_folder = "/run/dm/d-1a2b3c4d5e";
    return spec;
}

// An option and its value share a line.
// clang-format off
const std::vector<std::string> kColdTcg{
    "qemu-system-x86_64",
    "-name", "guest=d-1a2b3c4d5e,debug-threads=on",
    "-uuid", "11111111-2222-3333-4444-555555555555",
    "-nodefaults", "-no-user-config", "-S",
    "-machine", "pc-q35-7.2,accel=tcg,memory-backend=pc.ram,vmport=off,usb=off,suppress-vmdesc=on",
    "-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt",
    "-smp", "cpus=2",
    "-m", "2048M",
    "-object", "memory-backend-file,id=pc.ram,size=2048M,mem-path=/state/t/memory.base,share=off",
    "-rtc", "base=utc,clock=host",
    "-device", "vmgenid,guid=aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
    "-kernel", "/state/t/vmlinuz",
    "-initrd", "/state/t/initrd.img",
    "-append", "root=/dev/vda rw quiet, init_on_free=1",
    "-display", "dbus,p2p=yes",
    "-device", "virtio-gpu-pci,id=gpu0,bus=pcie.0,addr=0x2,xres=1280,yres=800,edid=on",
    "-device", "virtio-tablet-pci,id=tablet0,bus=pcie.0,addr=0x3",
    "-device", "virtio-keyboard-pci,id=keyboard0,bus=pcie.0,addr=0x4",
    "-device", "virtio-serial-pci,id=serial0,bus=pcie.0,addr=0x5",
    "-chardev", "socket,id=agent,path=/run/dm/d-1a2b3c4d5e/agent.sock,server=on,wait=off",
    "-device", "virtserialport,id=agent0,bus=serial0.0,nr=1,chardev=agent,name=org.dormouse.agent",
    "-object", "rng-random,id=rng0,filename=/dev/urandom",
    "-device", "virtio-rng-pci,id=rngdev0,bus=pcie.0,addr=0x6,rng=rng0",
    "-blockdev", "driver=file,node-name=f0,filename=/state/d/disk.qcow2,discard=unmap",
    "-blockdev", "driver=qcow2,node-name=d0,file=f0,discard=unmap,detect-zeroes=unmap",
    "-device", "virtio-blk-pci,id=disk0,bus=pcie.0,addr=0x7,drive=d0,write-cache=on",
    "-netdev", "dgram,id=net0,local.type=unix,local.path=/run/dm/d-1a2b3c4d5e/net.sock,remote.type=unix,"
    "remote.path=/run/dm/d-1a2b3c4d5e/netd.sock",
    "-device", "virtio-net-pci,id=nic0,bus=pcie.0,addr=0x8,netdev=net0,mac=52:54:00:12:34:56,romfile=",
    "-chardev", "socket,id=qmp,path=/run/dm/d-1a2b3c4d5e/qmp.sock,server=on,wait=off",
    "-mon", "chardev=qmp,mode=control",
    "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"};
// clang-format on

std::vector<std::string> argv_of(const MachineSpec& spec) {
    auto command = qemu_command(spec);
    EXPECT_TRUE(command) << command.error().message;
    return command ? command->argv : std::vector<std::string>{};
}

void replace(std::vector<std::string>& argv, const std::string& from, const std::string& to) {
    for (auto& argument : argv)
        if (argument == from) argument = to;
}

TEST(QemuCommand, BootsUnderTcg) {
    EXPECT_THAT(argv_of(usual_spec()), ElementsAreArray(kColdTcg));
}

TEST(QemuCommand, WaitsForAStreamWhenIncoming) {
    auto spec = usual_spec();
    spec.incoming = true;
    auto expected = kColdTcg;
    expected.insert(expected.end(), {"-incoming", "defer"});
    EXPECT_THAT(argv_of(spec), ElementsAreArray(expected));
}

TEST(QemuCommand, NamesMachineAndProcessorUnderKvm) {
    auto spec = usual_spec();
    spec.accelerator = Accelerator::Kvm;
    spec.cpu_model = cpu_model(Accelerator::Kvm);
    auto expected = kColdTcg;
    replace(expected, "pc-q35-7.2,accel=tcg,memory-backend=pc.ram,vmport=off,usb=off,suppress-vmdesc=on",
            "pc-q35-7.2,accel=kvm,memory-backend=pc.ram,vmport=off,usb=off,suppress-vmdesc=on");
    replace(expected, "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt", "Westmere-v1,enforce");
    EXPECT_THAT(argv_of(spec), ElementsAreArray(expected));
    spec.incoming = true;
    expected.insert(expected.end(), {"-incoming", "defer"});
    EXPECT_THAT(argv_of(spec), ElementsAreArray(expected));
}

TEST(QemuCommand, OpensTheBaseReadOnlyWhereQemuCan) {
    auto spec = usual_spec();
    spec.version = QemuVersion{8, 1, 9, {}};
    EXPECT_THAT(argv_of(spec), Not(Contains(HasSubstr("readonly=on"))));
    spec.version = QemuVersion{8, 2, 0, {}};
    EXPECT_THAT(argv_of(spec), Contains(HasSubstr("memory.base,share=off,readonly=on,rom=off")));
}

TEST(QemuCommand, NamesEachLayerOfTheDiskWhenTold) {
    auto spec = usual_spec();
    spec.backing = {{"/state/t/layer.qcow2", "qcow2"}, {"/state/t/disk.raw", "raw"}};
    EXPECT_THAT(
        argv_of(spec),
        AllOf(Contains("driver=file,node-name=f2,filename=/state/t/disk.raw,read-only=on"),
              Contains("driver=raw,node-name=d2,file=f2,read-only=on"),
              Contains("driver=file,node-name=f1,filename=/state/t/layer.qcow2,read-only=on"),
              Contains("driver=qcow2,node-name=d1,file=f1,read-only=on,backing=d2"),
              Contains("driver=qcow2,node-name=d0,file=f0,discard=unmap,detect-zeroes=unmap,backing=d1")));
}

TEST(QemuCommand, DoublesTheCommasOfPaths) {
    auto spec = usual_spec();
    spec.memory_base = "/state/a,share=on/memory.base";
    spec.disk = "/state/a,b/disk.qcow2";
    spec.kernel = "/state/a,b/vmlinuz";
    spec.run_folder = "/run/x,y";
    EXPECT_THAT(argv_of(spec),
                AllOf(Contains(HasSubstr("mem-path=/state/a,,share=on/memory.base,share=off")),
                      Contains(HasSubstr("filename=/state/a,,b/disk.qcow2,discard")),
                      Contains("/state/a,b/vmlinuz"), Contains(HasSubstr("path=/run/x,,y/qmp.sock,server")),
                      Contains(HasSubstr("local.path=/run/x,,y/net.sock,remote"))));
}

TEST(QemuCommand, RefusesWhatWouldBeReadOtherwise) {
    const auto refused = [](const auto& spoil) {
        auto spec = usual_spec();
        spoil(spec);
        const auto command = qemu_command(spec);
        return command ? std::string{} : command.error().message;
    };
    using S = MachineSpec;
    EXPECT_THAT(refused([](S& s) { s.id = "d,debug-threads=off"; }), HasSubstr("desktop id"));
    EXPECT_THAT(refused([](S& s) { s.uuid = "1"; }), HasSubstr("uuid"));
    EXPECT_THAT(refused([](S& s) { s.generation_uuid = "auto"; }), HasSubstr("uuid"));
    EXPECT_THAT(refused([](S& s) { s.cpu_model = "max help"; }), HasSubstr("processor model"));
    EXPECT_THAT(refused([](S& s) { s.cpus = 0; }), HasSubstr("cpus must be 1 to 64"));
    EXPECT_THAT(refused([](S& s) { s.memory_mib = 4; }), HasSubstr("memory"));
    EXPECT_THAT(refused([](S& s) { s.width = 100000; }), HasSubstr("screen width"));
    EXPECT_THAT(refused([](S& s) { s.height = -1; }), HasSubstr("screen height"));
    EXPECT_THAT(refused([](S& s) { s.kernel = "vmlinuz"; }), HasSubstr("kernel"));
    EXPECT_THAT(refused([](S& s) { s.disk = "nbd:host"; }), HasSubstr("disk"));
    EXPECT_THAT(refused([](S& s) { s.memory_base.clear(); }), HasSubstr("memory base"));
    EXPECT_THAT(refused([](S& s) { s.backing = {{"/a", "vmdk"}}; }), HasSubstr("vmdk"));
    EXPECT_THAT(refused([](S& s) { s.run_folder = "/" + std::string(100, 'r'); }), HasSubstr("too long"));
}

TEST(CommandHash, IsTheSameForAllThatCanLoadOneImage) {
    const auto first = command_hash(usual_spec());
    ASSERT_TRUE(first);
    auto other = usual_spec();
    other.id = "d-other";
    other.generation_uuid = "00000000-bbbb-cccc-dddd-eeeeeeeeeeee";
    other.uuid = "22222222-2222-3333-4444-555555555555";
    other.kernel = "/elsewhere/vmlinuz";
    other.kernel_arguments = "single";
    other.memory_base = "/elsewhere/base";
    other.disk = "/elsewhere/disk";
    other.backing = {{"/elsewhere/raw", "raw"}};
    other.run_folder = "/run/other";
    other.version = QemuVersion{10, 0, 2, {}};
    other.incoming = true;
    EXPECT_EQ(command_hash(other).value(), *first);
}

TEST(CommandHash, DiffersWhereAnImageWouldNotFit) {
    const auto first = command_hash(usual_spec()).value();
    const auto changed = [&](const auto& change) {
        auto spec = usual_spec();
        change(spec);
        return command_hash(spec).value() != first;
    };
    using S = MachineSpec;
    EXPECT_TRUE(changed([](S& s) { s.accelerator = Accelerator::Kvm; }));
    EXPECT_TRUE(changed([](S& s) { s.cpu_model = "max"; }));
    EXPECT_TRUE(changed([](S& s) { s.cpus = 1; }));
    EXPECT_TRUE(changed([](S& s) { s.memory_mib = 4096; }));
    EXPECT_TRUE(changed([](S& s) { s.width = 1920; }));
}

TEST(QemuVersion, IsReadFromWhatTheBinarySays) {
    const auto debian = parse_qemu_version(
        "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright (c) 2003-2022 Fabrice\n");
    ASSERT_TRUE(debian);
    EXPECT_EQ(*debian, (QemuVersion{7, 2, 22, {}}));
    EXPECT_EQ(debian->text, "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)");
    EXPECT_GT(parse_qemu_version("QEMU emulator version 10.0.2\n").value(), *debian);
    EXPECT_EQ(parse_qemu_version("qemu: not found").error().code, Errc::Corrupt);
    EXPECT_EQ(parse_qemu_version("QEMU emulator version x").error().code, Errc::Corrupt);
    EXPECT_FALSE(qemu_version("/nonexistent/qemu"));
}

TEST(QemuCommand, VncListensNowhereAndChangesNothingThatAnImageSees) {
    auto spec = usual_spec();
    spec.display = DisplayProtocol::Vnc;
    auto expected = kColdTcg;
    const auto display = std::find(expected.begin(), expected.end(), "-display");
    *std::next(display) = "none";
    expected.insert(display + 2, {"-vnc", "none"});
    EXPECT_THAT(qemu_command(spec)->argv, ElementsAreArray(expected));
    EXPECT_EQ(*command_hash(spec), *command_hash(usual_spec()));
}

TEST(QemuCommand, PrefersTheDisplayThatTellsChangesAtOnce) {
    EXPECT_EQ(parse_display_help("Available display backend types:\nnone\negl-headless\ndbus\n"),
              DisplayProtocol::Dbus);
    EXPECT_EQ(parse_display_help("Available display backend types:\nnone\nnodbus\n"), DisplayProtocol::Vnc);
    EXPECT_EQ(parse_display_help(""), DisplayProtocol::Vnc);
    EXPECT_FALSE(best_display_protocol("/nonexistent/qemu"));
}

}  // namespace
}  // namespace dormouse::vmm
