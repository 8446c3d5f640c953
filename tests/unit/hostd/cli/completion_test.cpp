// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hostd/base/random.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

// A folder with the script and a `dormouse` that knows two desktops.
class CompletionTest : public testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_);
        std::ofstream{folder_ / "dormouse"}
            << "#!/bin/sh\n[ \"$*\" = 'list --names' ] && printf 'alpha\\nbeta\\n'\n";
        std::filesystem::permissions(folder_ / "dormouse", std::filesystem::perms::owner_all);
        for (const auto* shell : {"bash", "zsh", "fish"})
            std::ofstream{folder_ / shell} << completion_script(shell);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::vector<std::string> lines_of(const std::string& command) {
        std::vector<std::string> lines;
        std::FILE* pipe = ::popen(command.c_str(), "r");
        EXPECT_NE(pipe, nullptr);
        std::array<char, 4096> buffer{};
        while (std::fgets(buffer.data(), buffer.size(), pipe)) {
            std::string line{buffer.data()};
            if (!line.empty() && line.back() == '\n') line.pop_back();
            lines.push_back(line);
        }
        status_ = ::pclose(pipe);
        return lines;
    }
    // What bash offers for the last word of this command line.
    std::vector<std::string> offered(const std::vector<std::string>& words) {
        std::string list;
        for (const auto& word : words) list += " '" + word + "'";
        return lines_of("bash -c \"source " + (folder_ / "bash").string() + "; COMP_WORDS=('" +
                        (folder_ / "dormouse").string() + "'" + list +
                        "); COMP_CWORD=" + std::to_string(words.size()) +
                        "; _dormouse; printf '%s\\n' \\\"\\${COMPREPLY[@]}\\\"\" | sed '/^$/d'");
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("dormouse-completion-" + random_hex(6));
    int status_ = 0;
};

TEST_F(CompletionTest, KnowsEveryVerbThereIs) {
    const auto shapes = verb_shapes();
    for (const auto& group : verb_groups())
        for (const auto& verb : group.verbs) {
            if (verb.hidden) continue;
            const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                            [&](const VerbShape& one) { return one.name == verb.name; });
            ASSERT_NE(shape, shapes.end()) << verb.name;
            for (const auto* shell : {"bash", "zsh", "fish"})
                EXPECT_THAT(completion_script(shell),
                            HasSubstr(shape->name.substr(shape->name.rfind(' ') + 1)));
        }
}

TEST_F(CompletionTest, BashOffersVerbsOptionsAndDesktops) {
    EXPECT_THAT(offered({""}), IsSupersetOf({"create", "list", "token", "operations", "up", "help"}));
    EXPECT_THAT(offered({"crea"}), ElementsAre("create"));
    EXPECT_THAT(offered({"token", ""}), testing::UnorderedElementsAre("create", "list", "delete"));
    EXPECT_THAT(offered({"show", ""}), ElementsAre("alpha", "beta"));
    EXPECT_THAT(offered({"show", "b"}), ElementsAre("beta"));
    EXPECT_THAT(offered({"--json", "delete", "al"}), ElementsAre("alpha"));
    EXPECT_THAT(offered({"click", "alpha", ""}), IsEmpty()) << "only the first argument is a desktop";
    EXPECT_THAT(offered({"start", "alpha", "--w"}), ElementsAre("--wait"));
    EXPECT_THAT(offered({"token", "create", "x", "--scope", ""}), ElementsAre("viewer", "agent", "admin"));
    EXPECT_THAT(offered({"token", "create", "x", "--desktop", ""}), ElementsAre("alpha", "beta"));
    EXPECT_THAT(offered({"token", "create", "--"}), Contains("--expires"));
    EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
    EXPECT_THAT(offered({"create", "x", "--label", ""}), IsEmpty()) << "we know no values";
}

TEST_F(CompletionTest, TheScriptsAreWellFormed) {
    for (const auto* shell : {"bash", "zsh", "fish"}) {
        lines_of(std::string{"command -v "} + shell);
        if (status_ != 0) continue;  // not here
        lines_of(std::string{shell} + " -n " + (folder_ / shell).string() + " 2>&1");
        EXPECT_EQ(status_, 0) << shell;
    }
    EXPECT_EQ(completion_script("tcsh"), "");
}

}  // namespace
}  // namespace dormouse::cli
