// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostd/cli/doctor.h"
#include "tests/unit/hostd/cli/fake_host_view.h"

namespace dormouse::cli::doctor {
namespace {

using testing::HasSubstr;

void expect(const Finding& finding, Level level, const std::string& text) {
    EXPECT_EQ(finding.level, level) << finding.text;
    EXPECT_THAT(finding.text, HasSubstr(text));
    EXPECT_EQ(finding.advice.empty(), level == Level::Ok) << finding.advice;
}

struct DoctorFolders : testing::Test {
    FakeHostView host;
    Config config = fake_config();
};

TEST_F(DoctorFolders, TheStateFolderIsOnesOwnAndClosed) {
    expect(check_state_folder(host, config), Level::Ok, "/home (0700)");
    host.facts["/home"].mode = 0755;
    expect(check_state_folder(host, config), Level::Warn, "may be listed by others (0755)");
    host.facts["/home"].mode = 0770;
    expect(check_state_folder(host, config), Level::Fail, "may be written by others (0770)");
    host.facts["/home"].owner = 0;
    expect(check_state_folder(host, config), Level::Fail, "belongs to another user");
    host.facts["/home"].kind = FileKind::File;
    expect(check_state_folder(host, config), Level::Fail, "not a folder");
    host.facts.erase("/home");
    expect(check_state_folder(host, config), Level::Ok, "will be made");
}

TEST_F(DoctorFolders, TheRunFolderIsShortEnoughForSockets) {
    expect(check_run_folder(host, config), Level::Ok, "/run/dormouse-1");
    host.facts["/run/dormouse-1"] = {FileKind::Folder, 4, 0700, {}};
    expect(check_run_folder(host, config), Level::Fail, "belongs to another user");
    config.run = "/" + std::string(82, 'x');
    expect(check_run_folder(host, config), Level::Fail, "would have 108 bytes, and 107 is the most");
    config.run = "/" + std::string(81, 'x');
    expect(check_run_folder(host, config), Level::Ok, "xxx");
}

TEST_F(DoctorFolders, TheTokenFileIsForNobodyElse) {
    expect(check_token_file(host, config), Level::Ok, "will be made");
    host.facts["/home/admin.token"] = {FileKind::File, 1000, 0600, {}};
    expect(check_token_file(host, config), Level::Ok, "(0600)");
    host.facts["/home/admin.token"].mode = 0640;
    expect(check_token_file(host, config), Level::Fail, "open to others (0640)");
}

TEST_F(DoctorFolders, EncryptionIsFoundInTheDeviceBelow) {
    expect(check_encryption(host, config), Level::Warn, "/home lies on /dev/sda1, which is not encrypted");
    // LVM on LUKS on a partition.
    host.folders["/sys/devices/sda1/slaves"] = {"/sys/devices/sda1/slaves/dm-0"};
    host.links["/sys/devices/sda1/slaves/dm-0"] = "/sys/devices/dm-0";
    expect(check_encryption(host, config), Level::Warn, "not encrypted");
    host.files["/sys/devices/dm-0/dm/uuid"] = "CRYPT-LUKS2-0123-home\n";
    expect(check_encryption(host, config), Level::Ok, "dm-crypt on /dev/sda1");
    // Half of a mirror is not.
    host.folders["/sys/devices/sda1/slaves"].push_back("/sys/devices/sda1/slaves/sdb");
    host.links["/sys/devices/sda1/slaves/sdb"] = "/sys/devices/sdb";
    expect(check_encryption(host, config), Level::Warn, "not encrypted");
    host.encrypted.insert("/home");
    expect(check_encryption(host, config), Level::Ok, "fscrypt");
}

TEST_F(DoctorFolders, EncryptionIsLookedForOnTheRightMount) {
    host.files["/proc/self/mountinfo"] =
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 22 0:40 / /home rw shared:1 - btrfs /dev/mapper/secret rw\n"
        "31 22 0:41 / /homeless rw - tmpfs tmpfs rw\n"
        "garbage\n";
    host.links["/dev/mapper/secret"] = "/dev/dm-3";
    host.links["/sys/class/block/dm-3"] = "/sys/devices/dm-3";
    host.files["/sys/devices/dm-3/dm/uuid"] = "CRYPT-LUKS1-x";
    expect(check_encryption(host, config), Level::Ok, "dm-crypt on /dev/mapper/secret");
    config.home = "/home/deeper/still";
    expect(check_encryption(host, config), Level::Ok, "/home: dm-crypt");
    host.files["/proc/self/mountinfo"] += "40 22 0:50 / /home rw - ecryptfs /x rw\n";
    expect(check_encryption(host, config), Level::Ok, "ecryptfs");
    host.files["/proc/self/mountinfo"] = "22 1 0:50 / / rw - overlay overlay rw\n";
    expect(check_encryption(host, config), Level::Warn, "cannot tell what overlay lies on");
    host.files["/proc/self/mountinfo"] = "22 1 0:50 / / rw - tmpfs tmpfs rw\n";
    expect(check_encryption(host, config), Level::Ok, "in memory");
    host.files.erase("/proc/self/mountinfo");
    expect(check_encryption(host, config), Level::Warn, "cannot tell");
}

TEST_F(DoctorFolders, ATemplateMustBeThereAndFitQemu) {
    expect(check_template(host, config), Level::Fail, "none is baked in /templates");
    host.folders["/templates"] = {"/templates/desktop", "/templates/desktop-1", "/templates/broken"};
    host.facts["/templates/desktop"] = {FileKind::Link, 1000, 0777, {}};
    host.facts["/templates/desktop-1"] = {FileKind::Folder, 1000, 0700, {}};
    host.facts["/templates/broken"] = {FileKind::Link, 1000, 0777, {}};
    host.links["/templates/desktop"] = "/templates/desktop-1";
    auto& manifest = host.files["/templates/desktop-1/template.json"];
    // Its parenthesis would end a raw string.
    manifest = "{\"memory_image\": {\"qemu_version\": \"7.2.15 (Debian 1:7.2)\"}}";
    expect(check_template(host, config), Level::Ok, "desktop");
    manifest = R"({"memory_image": {"qemu_version": "7.2.11"}})";
    expect(check_template(host, config), Level::Warn,
           "not for this QEMU (7.2.15): desktop (baked with QEMU 7.2.11)");
    manifest = "not json";
    expect(check_template(host, config), Level::Ok, "desktop");
}

TEST_F(DoctorFolders, WhatABakeHasLeftIsNamed) {
    expect(check_unfinished_bakes(host, config), Level::Ok, "none");
    host.folders["/templates"] = {"/templates/mine-1.partial", "/templates/mine-2"};
    host.folders["/templates/packages"] = {"/templates/packages/1.tar", "/templates/packages/work"};
    expect(check_unfinished_bakes(host, config), Level::Warn,
           "/templates/mine-1.partial, /templates/packages/work");
    host.locked.insert("/templates/bake.lock");
    expect(check_unfinished_bakes(host, config), Level::Ok, "in progress");
}

}  // namespace
}  // namespace dormouse::cli::doctor
