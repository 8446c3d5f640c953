// SPDX-License-Identifier: Apache-2.0
#include "vmm/disk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hostd/base/file.h"
#include "hostd/base/random.h"

namespace dormouse::vmm {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// With the real qemu-img, which every machine that runs the tests has.
class DiskTest : public testing::Test {
  protected:
    DiskTest() {
        fs::create_directories(folder_);
        const UniqueFd file{::open(base_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
        EXPECT_EQ(::ftruncate(file.get(), 4 << 20), 0);
    }
    ~DiskTest() override { fs::remove_all(folder_); }

    fs::path folder_ = fs::temp_directory_path() / ("disk, with comma-" + random_hex(6));
    fs::path base_ = folder_ / "base.raw";
    fs::path top_ = folder_ / "top.qcow2";
};

TEST_F(DiskTest, MakesAnOverlayThatNamesItsBackingFileAndFormat) {
    const auto made = create_overlay(top_, base_, "raw");
    ASSERT_TRUE(made) << made.error().message;
    const auto info = disk_info(top_, "qcow2");
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->format, "qcow2");
    EXPECT_EQ(info->virtual_size, 4u << 20);
    EXPECT_GT(info->actual_size, 0u);
    EXPECT_EQ(info->backing_file, base_);
    EXPECT_EQ(info->backing_format, "raw");
    EXPECT_FALSE(info->dirty);
    EXPECT_FALSE(info->corrupt);
    EXPECT_EQ(check_disk(top_).value().health, DiskHealth::Clean);
}

TEST_F(DiskTest, MakesAnOverlayLargerThanItsBackingFileAndOnAnotherOverlay) {
    ASSERT_TRUE(create_overlay(top_, base_, "raw", 8u << 20));
    ASSERT_TRUE(create_overlay(folder_ / "second.qcow2", top_, "qcow2"));
    EXPECT_EQ(disk_info(folder_ / "second.qcow2", "qcow2").value().virtual_size, 8u << 20);
}

TEST_F(DiskTest, LayersThatNameEachOtherBesideThemCanBeMovedTogether) {
    ASSERT_TRUE(create_overlay(top_, base_, "raw"));
    ASSERT_TRUE(set_backing_beside(top_, "base.raw", "raw"));
    const auto moved = fs::path{folder_.string() + "-moved"};
    fs::rename(folder_, moved);
    EXPECT_TRUE(create_overlay(moved / "second.qcow2", moved / "top.qcow2", "qcow2"));
    EXPECT_EQ(disk_info(moved / "top.qcow2", "qcow2").value().backing_file, moved / "base.raw");
    fs::rename(moved, folder_);
    for (const auto* bad : {"", "../base.raw", "/etc/passwd", "nbd:host"})
        EXPECT_EQ(set_backing_beside(top_, bad, "raw").error().code, Errc::InvalidArgument) << bad;
}

TEST_F(DiskTest, DoesNotTouchADiskThatIsThere) {
    ASSERT_TRUE(write_file_atomic(top_, "precious"));
    EXPECT_EQ(create_overlay(top_, base_, "raw").error().code, Errc::Conflict);
    EXPECT_EQ(read_file(top_).value(), "precious");
}

TEST_F(DiskTest, LeavesNothingWhenTheBackingFileIsMissing) {
    const auto made = create_overlay(top_, folder_ / "missing.raw", "raw");
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("missing.raw"));
    EXPECT_FALSE(fs::exists(top_));
}

TEST_F(DiskTest, DoesNotProbe) {
    EXPECT_FALSE(disk_info(base_, "qcow2"));
    EXPECT_EQ(disk_info(base_, "raw").value().format, "raw");
    EXPECT_EQ(disk_info(base_, "vmdk").error().code, Errc::InvalidArgument);
    EXPECT_EQ(disk_info("nbd:localhost:1", "raw").error().code, Errc::InvalidArgument);
    EXPECT_EQ(create_overlay(top_, "base.raw", "raw").error().code, Errc::InvalidArgument);
    EXPECT_EQ(create_overlay(top_, base_, "").error().code, Errc::InvalidArgument);
}

TEST_F(DiskTest, SaysSoWhenAnImageCannotBeChecked) {
    EXPECT_FALSE(check_disk(base_));
    EXPECT_FALSE(check_disk(folder_ / "missing"));
}

TEST(DiskCommands, NameTheFormats) {
    EXPECT_THAT(
        overlay_command("/d/top", "/d/base", "raw", 42).argv,
        ElementsAre("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", "/d/base", "/d/top", "42"));
    EXPECT_THAT(info_command("/d/top", "qcow2", true).argv,
                ElementsAre("qemu-img", "info", "--output=json", "-f", "qcow2", "-U", "/d/top"));
    EXPECT_THAT(check_command("/d/top").argv,
                ElementsAre("qemu-img", "check", "--output=json", "-f", "qcow2", "/d/top"));
}

TEST(DiskInfo, IsReadFromJsonWithWarningsAroundIt) {
    const auto info = parse_disk_info(
        "warning: "
        "old\n{\"format\":\"qcow2\",\"virtual-size\":1024,\"dirty-flag\":true,\"backing-filename\":\"b\","
        "\"format-specific\":{\"type\":\"qcow2\",\"data\":{\"corrupt\":true}}}\n");
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->dirty);
    EXPECT_TRUE(info->corrupt);
    EXPECT_EQ(info->backing_file, "b");
    for (const auto* bad : {"", "{", "{}", "[]", "{\"format\":1,\"virtual-size\":2}", "}{"})
        EXPECT_EQ(parse_disk_info(bad).error().code, Errc::Corrupt) << bad;
}

TEST(DiskCheck, TellsLeaksFromDamage) {
    EXPECT_EQ(parse_disk_check(0, "{\"check-errors\":0}").value().health, DiskHealth::Clean);
    EXPECT_EQ(parse_disk_check(3, "{\"leaks\":2,\"check-errors\":0}").value().health, DiskHealth::Leaks);
    const auto damaged = parse_disk_check(2, "{\"corruptions\":5,\"leaks\":1,\"check-errors\":0}");
    EXPECT_EQ(damaged.value().health, DiskHealth::Damaged);
    EXPECT_THAT(damaged->detail, HasSubstr("5 damaged"));
    EXPECT_EQ(parse_disk_check(1, "qemu-img: no such file\n").error().message, "qemu-img: no such file");
    EXPECT_FALSE(parse_disk_check(0, "{\"check-errors\":3}"));
    EXPECT_FALSE(parse_disk_check(0, "no json"));
}

}  // namespace
}  // namespace dormouse::vmm
