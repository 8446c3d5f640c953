// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/text.h"

#include <gtest/gtest.h>

#include "hostd/cli/exit_code.h"
#include "hostd/cli/suggest.h"
#include "hostd/cli/table.h"

namespace dormouse::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Text, SaysHowLongAgoInTheUnitThatMatters) {
    const WallTime now{seconds{1'700'000'000}};
    EXPECT_EQ(relative_time(now + seconds{30}, now), "just now");  // their clock is ahead
    EXPECT_EQ(relative_time(now - seconds{4}, now), "just now");
    EXPECT_EQ(relative_time(now - seconds{59}, now), "59 s ago");
    EXPECT_EQ(relative_time(now - seconds{60}, now), "1 min ago");
    EXPECT_EQ(relative_time(now - minutes{59}, now), "59 min ago");
    EXPECT_EQ(relative_time(now - hours{47}, now), "47 h ago");
    EXPECT_EQ(relative_time(now - hours{48}, now), "2 days ago");
}

TEST(Text, ShowsSizes) {
    EXPECT_EQ(human_size(0), "0 bytes");
    EXPECT_EQ(human_size(1023), "1023 bytes");
    EXPECT_EQ(human_size(1536), "1.5 KiB");
    EXPECT_EQ(human_size(12ULL << 30), "12.0 GiB");
    EXPECT_EQ(human_size(5000ULL << 40), "5000.0 TiB");
}

TEST(Text, LetsNoControlCharactersThrough) {
    EXPECT_EQ(plain("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
    EXPECT_EQ(plain("\xc2\x9b"
                    "31m"),
              "?31m");  // U+009B begins an escape sequence too
    EXPECT_EQ(plain("naïve 日本語"), "naïve 日本語");
}

TEST(Table, AlignsByWhatIsSeenAndLeavesNoSpacesAtTheEnds) {
    Table table{{"NAME", "STATE", ""}};
    table.add({"zoë", {"running", Style::Green}, ""});
    table.add({"a-long-name", "stopped", "x"});
    EXPECT_EQ(table.render(false),
              "NAME         STATE\n"
              "zoë          running\n"
              "a-long-name  stopped  x\n");
    EXPECT_NE(table.render(true).find("\x1b[32mrunning\x1b[0m"), std::string::npos);
}

TEST(Suggest, FindsTheVerbThatWasMeant) {
    const std::vector<std::string> verbs{"create", "list",       "show",   "start",
                                         "stop",   "screenshot", "scroll", "up"};
    EXPECT_EQ(nearest("lsit", verbs), "list");
    EXPECT_EQ(nearest("craete", verbs), "create");
    EXPECT_EQ(nearest("strat", verbs), "start");
    EXPECT_EQ(nearest("screen", verbs), "screenshot");
    EXPECT_EQ(nearest("frobnicate", verbs), std::nullopt);
    EXPECT_EQ(nearest("x", verbs), std::nullopt);
    EXPECT_EQ(nearest("", verbs), std::nullopt);
    EXPECT_EQ(nearest(std::string(100'000, 'a'), verbs), std::nullopt);
}

TEST(ExitCode, IsWhatTheHelpSays) {
    EXPECT_EQ(exit_code_of(Errc::InvalidArgument), 2);
    EXPECT_EQ(exit_code_of(Errc::NotFound), 3);
    EXPECT_EQ(exit_code_of(Errc::Conflict), 4);
    EXPECT_EQ(exit_code_of(Errc::Unauthenticated), 6);
    EXPECT_EQ(exit_code_of(Errc::Denied), 6);
    EXPECT_EQ(exit_code_of(Errc::Unavailable), 1);
    EXPECT_EQ(exit_code_of(Errc::Internal), 1);
}

}  // namespace
}  // namespace dormouse::cli
