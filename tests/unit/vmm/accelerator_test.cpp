// SPDX-License-Identifier: Apache-2.0
#include "vmm/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostd/base/file.h"
#include "hostd/base/random.h"

namespace dormouse::vmm {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

class AcceleratorTest : public testing::Test {
  protected:
    AcceleratorTest() {
        fs::create_directories(folder_);
        write("kvm", "");
        write("boot_id", "boot-1\n");
        write("cpuinfo",
              "processor\t: 0\nflags\t\t: fpu vme svm\n\nprocessor\t: 1\nflags\t\t: fpu vme svm\n");
        write("vmlinuz", "kernel");
        probe_.kernel = folder_ / "vmlinuz";
        probe_.cache_file = folder_ / "verdict.json";
        probe_.kvm_device = folder_ / "kvm";
        probe_.cpuinfo = folder_ / "cpuinfo";
        probe_.boot_id = folder_ / "boot_id";
        probe_.run_kernel = [this](const CommandLine& command, Duration) -> Result<> {
            ++runs_;
            last_command_ = command;
            return outcome_;
        };
    }
    ~AcceleratorTest() override { fs::remove_all(folder_); }

    void write(const char* name, std::string_view text) {
        ASSERT_TRUE(write_file_atomic(folder_ / name, text));
    }
    void expect(Accelerator accelerator, const std::string& reason) {
        const auto verdict = choose_accelerator(probe_);
        EXPECT_EQ(verdict.accelerator, accelerator);
        EXPECT_THAT(verdict.reason, HasSubstr(reason));
    }

    fs::path folder_ = fs::temp_directory_path() / ("accelerator-" + random_hex(6));
    AcceleratorProbe probe_;
    Result<> outcome_;
    CommandLine last_command_;
    int runs_ = 0;
};

TEST_F(AcceleratorTest, IsKvmWhenTheKernelStartsUnderIt) {
    expect(Accelerator::Kvm, "KVM works");
    EXPECT_EQ(runs_, 1);
    EXPECT_THAT(last_command_.argv, Contains("pc-q35-7.2,accel=kvm"));
    EXPECT_THAT(last_command_.argv, Contains(cpu_model(Accelerator::Kvm)));
    EXPECT_THAT(last_command_.argv, Contains((folder_ / "vmlinuz").string()));
}

TEST_F(AcceleratorTest, IsTcgWithoutRunningAnythingWhenTheDeviceIsMissing) {
    fs::remove(folder_ / "kvm");
    expect(Accelerator::Tcg, "No such file");
    EXPECT_EQ(runs_, 0);
}

TEST_F(AcceleratorTest, IsTcgWithoutRunningAnythingWhenTheProcessorHasNoFlag) {
    write("cpuinfo", "flags\t\t: fpu svm_lock avmx\nvmx flags\t: ept\n");
    expect(Accelerator::Tcg, "no vmx or svm flag");
    EXPECT_EQ(runs_, 0);
}

TEST_F(AcceleratorTest, KnowsIntelsFlagAtTheEndOfItsLine) {
    write("cpuinfo", "flags\t\t: fpu vmx\n");
    expect(Accelerator::Kvm, "works");
}

TEST_F(AcceleratorTest, IsTcgWhenTheKernelHangs) {
    outcome_ = fail(Errc::Timeout, "did not end in time");
    expect(Accelerator::Tcg, "did not start under it within 10 s");
}

TEST_F(AcceleratorTest, IsTcgWithQemusOwnWordsWhenItEnds) {
    outcome_ = fail(Errc::Unavailable, "exit code 1 (Host doesn't support requested features)");
    expect(Accelerator::Tcg, "Host doesn't support requested features");
}

TEST_F(AcceleratorTest, IsTcgUntilThereIsAKernelToTry) {
    probe_.kernel.clear();
    expect(Accelerator::Tcg, "no kernel yet");
    EXPECT_FALSE(fs::exists(probe_.cache_file));
}

TEST_F(AcceleratorTest, RemembersTheOutcomeUntilTheHostBootsAgain) {
    outcome_ = fail(Errc::Timeout, "");
    expect(Accelerator::Tcg, "within 10 s");
    outcome_ = {};
    expect(Accelerator::Tcg, "within 10 s");
    EXPECT_EQ(runs_, 1);
    write("boot_id", "boot-2\n");
    expect(Accelerator::Kvm, "works");
    expect(Accelerator::Kvm, "works");
    EXPECT_EQ(runs_, 2);
}

TEST_F(AcceleratorTest, TriesAgainWithAnotherKernel) {
    expect(Accelerator::Kvm, "works");
    write("vmlinuz", "another kernel");
    expect(Accelerator::Kvm, "works");
    EXPECT_EQ(runs_, 2);
}

TEST_F(AcceleratorTest, DoesNotTrustARememberedSuccessWhenTheDeviceIsGone) {
    expect(Accelerator::Kvm, "works");
    fs::remove(folder_ / "kvm");
    expect(Accelerator::Tcg, "not usable");
}

TEST_F(AcceleratorTest, TriesAgainWhenTheRememberedOutcomeIsUnreadable) {
    for (const auto* text : {"", "[]", "{\"key\":1}", "{\"key\":", "nonsense"}) {
        write("verdict.json", text);
        runs_ = 0;
        expect(Accelerator::Kvm, "works");
        EXPECT_EQ(runs_, 1) << text;
    }
}

// The runner, with a shell in QEMU's place.
Result<> run_shell(const std::string& script, Duration deadline = std::chrono::seconds{20}) {
    CommandLine command;
    command.argv = {"sh", "-c", script};
    return run_kernel_once(command, deadline);
}

TEST(RunKernelOnce, EndsAtTheKernelsFirstLine) {
    EXPECT_TRUE(run_shell("echo '[    0.000000] Linux version 6.1.0'; exec sleep 100"));
}

TEST(RunKernelOnce, DoesNotTakeFirmwareAndDecompressorForTheKernel) {
    const auto ran =
        run_shell("echo 'SeaBIOS (version 1.16)'; echo 'Decompressing Linux... done.'; exec sleep 100",
                  std::chrono::milliseconds{300});
    EXPECT_EQ(ran.error().code, Errc::Timeout);
}

TEST(RunKernelOnce, TellsTheLastLineOfAQemuThatEnds) {
    const auto ran = run_shell("echo warning; echo 'cannot do this' >&2; exit 3");
    EXPECT_EQ(ran.error().code, Errc::Unavailable);
    EXPECT_EQ(ran.error().message, "exit code 3 (cannot do this)");
    CommandLine missing;
    missing.argv = {"/nonexistent/qemu"};
    EXPECT_FALSE(run_kernel_once(missing, std::chrono::seconds{1}));
}

}  // namespace
}  // namespace dormouse::vmm
