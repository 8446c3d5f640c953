// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/bake_log.h"

#include <fcntl.h>

#include "hostd/base/file.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

class BakeLogTest : public TemporaryFolder {
  protected:
    // What a tool of the builder does.
    void tool_says(std::string_view text) {
        const auto fd = open_file(folder_ / "log", O_WRONLY | O_APPEND).value();
        ASSERT_TRUE(write_all(fd.get(), text));
    }
    void wait_for(std::size_t lines) {
        while (lines_.size() < lines) loop_.run_once(std::chrono::seconds{10});
    }
    SystemClock clock_;
    EventLoop loop_{clock_};
    std::vector<std::string> lines_;
    BakeLog log_{loop_, [this](std::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(BakeLogTest, GivesTheLinesOfBothInOrder) {
    ASSERT_TRUE(log_.open(folder_ / "log"));
    log_.add("== packages");
    tool_says("Get:1 a\rGet:2 b\nhalf a li");
    wait_for(3);
    tool_says("ne\n");
    wait_for(4);
    log_.add("== disk");
    log_.close();
    EXPECT_EQ(lines_,
              (std::vector<std::string>{"== packages", "Get:1 a", "Get:2 b", "half a line", "== disk"}));
    EXPECT_EQ(read_file(folder_ / "log").value(), "== packages\nGet:1 a\rGet:2 b\nhalf a line\n== disk\n");
}

TEST_F(BakeLogTest, ClosingReadsTheRestAndNothingComesAfter) {
    ASSERT_TRUE(log_.open(folder_ / "log"));
    tool_says("one\nwithout end");
    log_.close();
    EXPECT_EQ(lines_, (std::vector<std::string>{"one", "without end"}));
    log_.add("late");
    EXPECT_EQ(lines_.size(), 2u);
}

TEST_F(BakeLogTest, AnEndlessLineIsCut) {
    ASSERT_TRUE(log_.open(folder_ / "log"));
    tool_says(std::string(100'000, 'x'));
    tool_says("\nnext\n");
    log_.close();
    ASSERT_EQ(lines_.size(), 2u);
    EXPECT_LE(lines_[0].size(), 4000u);
    EXPECT_EQ(lines_[1], "next");
}

}  // namespace
}  // namespace dormouse::desktop
