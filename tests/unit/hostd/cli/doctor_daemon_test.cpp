// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hostd/cli/doctor.h"
#include "tests/unit/hostd/cli/command_line.h"
#include "tests/unit/hostd/cli/fake_host_view.h"

namespace dormouse::cli::doctor {
namespace {

using testing::HasSubstr;

struct DoctorDaemon : testing::Test {
    DoctorDaemon() {
        daemon.answers = daemon.lock_held = true;
        daemon.version = schema::Version{.version = "", .accelerator = "kvm"};
        daemon.desktops = schema::DesktopList{{sample_desktop()}};
    }
    std::istringstream in;
    std::ostringstream out;
    Streams streams{.in = in, .out = out, .err = out};
    ManualClock clock;
    Context context{
        {.config = fake_config(), .url = "http://127.0.0.1:1", .token = Secret{"dm_x"}, .no_token = "none"},
        streams,
        {.clock = clock, .pause = [](Duration) {}}};
    FakeHostView host;
    DaemonView daemon{.version = fail(Errc::Unavailable, "no"), .desktops = fail(Errc::Unavailable, "no")};
};

TEST_F(DoctorDaemon, MustAnswerBeOursAndOfThisVersion) {
    EXPECT_EQ(check_daemon(context, daemon).level, Level::Warn);
    EXPECT_THAT(check_daemon(context, daemon).text, HasSubstr("but this program is"));
    daemon.version = fail(Errc::Unauthenticated, "this token is not known");
    EXPECT_THAT(check_daemon(context, daemon).text, HasSubstr("does not let us in: this token is not known"));
    daemon.lock_held = false;
    EXPECT_THAT(check_daemon(context, daemon).text, HasSubstr("of another state folder"));
    daemon.answers = false;
    EXPECT_EQ(check_daemon(context, daemon).level, Level::Warn);
    EXPECT_THAT(check_daemon(context, daemon).text, HasSubstr("not running"));
    daemon.lock_held = true;
    EXPECT_EQ(check_daemon(context, daemon).level, Level::Fail);
    EXPECT_THAT(check_daemon(context, daemon).advice, HasSubstr("/home/daemon.log"));
}

TEST_F(DoctorDaemon, FoldersAndProcessesOfNoDesktopAreLeftovers) {
    EXPECT_EQ(check_leftovers(host, context, daemon).level, Level::Ok);
    daemon.folders = {"/home/desktops/d-1a2b3c4d5e", "/run/dormouse-1/d-gone", "/run/dormouse-1/d-left"};
    host.facts["/run/dormouse-1/d-left"] = {};
    daemon.processes = {{7, "dormouse-keeper --run /run/dormouse-1/d-1a2b3c4d5e "},
                        {8, "qemu-system-x86_64 -qmp unix:/run/dormouse-1/d-lost/qmp,server "},
                        {9, "qemu-system-x86_64 -drive /home/desktops/d-ended/disk.qcow2 "},
                        {10, "vi /etc/passwd "}};
    host.running = daemon.processes;
    host.running.erase(host.running.begin() + 2);  // it ended meanwhile
    const auto finding = check_leftovers(host, context, daemon);
    EXPECT_EQ(finding.level, Level::Warn);
    EXPECT_EQ(finding.text, "of no desktop: /run/dormouse-1/d-left, process 8 (d-lost)");
    EXPECT_THAT(finding.advice, HasSubstr("removes them when it starts"));
}

TEST_F(DoctorDaemon, NothingIsCalledALeftoverWithoutTheDaemonsWord) {
    daemon.folders = {"/run/dormouse-1/d-left"};
    host.facts["/run/dormouse-1/d-left"] = {};
    daemon.desktops = fail(Errc::Unavailable, "no");
    EXPECT_EQ(check_leftovers(host, context, daemon).level, Level::Ok);
}

TEST_F(DoctorDaemon, FindsTheFoldersOfDesktopsAndNoOthers) {
    host.folders["/home/desktops"] = {"/home/desktops/d-2"};
    host.folders["/run/dormouse-1"] = {"/run/dormouse-1/bake", "/run/dormouse-1/d-1"};
    EXPECT_EQ(desktop_folders(host, fake_config()),
              (std::vector<std::string>{"/home/desktops/d-2", "/run/dormouse-1/d-1"}));
}

}  // namespace
}  // namespace dormouse::cli::doctor
