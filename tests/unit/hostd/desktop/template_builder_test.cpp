// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_builder.h"

#include <gmock/gmock.h>

#include "hostd/base/file.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Recipe example() {
    Recipe recipe{.name = TemplateName::parse("mine").value(), .suite = "bookworm", .user = "user"};
    recipe.added_packages = {"sl"};
    recipe.repositories = {{.name = "browser",
                            .uri = "https://dl.example.org/deb",
                            .suites = {"stable"},
                            .components = {"main", "extra"},
                            .key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\r\n\r\n  abc  \n-----END-----",
                            .packages = {"browser-stable"}}};
    recipe.files = {{.path = "/etc/a b", .content = "x", .mode = 0750, .is_users = true}};
    recipe.commands = {{.text = "true", .as_user = false, .recipe = "desktop", .line = 60},
                       {.text = "make\ninstall", .as_user = true, .recipe = "mine", .line = 7}};
    return recipe;
}

BuilderSaid hear(std::initializer_list<const char*> lines) {
    BuilderSaid said;
    for (const char* line : lines) EXPECT_FALSE(read_builder_line(line, said)) << line;
    return said;
}

TEST(TemplateBuilder, ProgressIsReadAndNothingElseTakenForIt) {
    BuilderSaid said;
    const auto told = read_builder_line("progress 0.42 unpacking packages", said);
    ASSERT_TRUE(told);
    EXPECT_DOUBLE_EQ(told->done, 0.42);
    EXPECT_EQ(told->step, "unpacking packages");
    for (const char* line : {"progress", "progress x y", "progress -1 x", "progress 1.5 x", "progress nan x",
                             "", "progressive 0.1 x"})
        EXPECT_FALSE(read_builder_line(line, said)) << line;
    EXPECT_TRUE(said.failed.empty());
}

TEST(TemplateBuilder, AFailedCommandIsNamedWithItsLineStatusAndOutput) {
    const auto error =
        explain_failure(example(), hear({"failed command 002 7", "because make: no target", "because bye"}));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Errc::InvalidArgument);
    EXPECT_EQ(error->message,
              "command 2 of 2 (line 7) ended with exit status 7: `make install`: make: no target; bye");
}

TEST(TemplateBuilder, AnInheritedCommandIsOfTheOtherRecipe) {
    const auto error = explain_failure(example(), hear({"failed command 001 1"}));
    ASSERT_TRUE(error);
    EXPECT_THAT(error->message, HasSubstr("command 1 of 2 (line 60 of 'desktop')"));
}

TEST(TemplateBuilder, ARepositoryThatCannotBeReachedIsNamedWithItsAddress) {
    const auto error = explain_failure(
        example(), hear({"failed repository browser", "because E: Could not resolve 'dl.example.org'"}));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Errc::Unavailable);
    EXPECT_THAT(error->message, AllOf(HasSubstr("the repository 'browser' (https://dl.example.org/deb)"),
                                      HasSubstr("Could not resolve")));
    EXPECT_THAT(explain_failure(example(), hear({"failed repository debian"}))->message,
                HasSubstr("Debian's mirror"));
}

TEST(TemplateBuilder, ABadPackageNameComesWithAptsLine) {
    const auto error =
        explain_failure(example(), hear({"failed packages", "because E: Unable to locate package nosuch"}));
    ASSERT_TRUE(error);
    EXPECT_THAT(error->message, HasSubstr("E: Unable to locate package nosuch"));
}

TEST(TemplateBuilder, WhatItDoesNotSayIsNotMadeUp) {
    for (const char* line : {"failed", "failed command", "failed command 9 1", "failed command 0 1",
                             "failed command 1", "failed file 002", "failed file x", "failed mystery"})
        EXPECT_FALSE(explain_failure(example(), hear({line}))) << line;
    EXPECT_FALSE(explain_failure(example(), BuilderSaid{}));
}

TEST(TemplateBuilder, OnlyTheFirstFailureAndAFewLinesCount) {
    BuilderSaid said = hear({"failed packages", "failed command 001 1"});
    for (int i = 0; i < 100; ++i) (void)read_builder_line("because again", said);
    EXPECT_EQ(said.failed, "packages");
    EXPECT_EQ(said.because.size(), 10u);
}

TEST(TemplateBuilder, ARepositorysKeyIsInItsFile) {
    EXPECT_EQ(
        sources_text(example().repositories[0]),
        "Types: deb\nURIs: https://dl.example.org/deb\nSuites: stable\nComponents: main extra\nSigned-By:\n"
        " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END-----\n");
}

class TemplateParts : public TemporaryFolder {};

TEST_F(TemplateParts, AreWrittenInTheBuildersForm) {
    const auto folder = folder_ / "parts";
    ASSERT_TRUE(write_parts(example(), folder));
    EXPECT_EQ(read_file(folder / "install").value(), "sl\nbrowser-stable\n");
    EXPECT_TRUE(std::filesystem::exists(folder / "sources/browser.sources"));
    EXPECT_EQ(read_file(folder / "files/001").value(), "x");
    EXPECT_EQ(read_file(folder / "files/001.place").value(), "0750 user /etc/a b\n");
    EXPECT_EQ(read_file(folder / "commands/001.root").value(), "true\n");
    EXPECT_EQ(read_file(folder / "commands/002.user").value(), "make\ninstall\n");
}

class RunBuilder : public TemporaryFolder {
  protected:
    Result<> run(const std::string& script,
                 std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false)) {
        auto lock = lock_file(folder_ / "lock").value();
        const auto on_progress = [this](const BuilderProgress& told) { steps_.push_back(told.step); };
        return loop_.run_until_complete(
            run_builder(loop_, pool_, {"bash", "-c", script}, example(), on_progress, lock.get(), cancelled));
    }
    SystemClock clock_;
    EventLoop loop_{clock_};
    WorkPool pool_{1};
    std::vector<std::string> steps_;
};

TEST_F(RunBuilder, ReportsStepsAndTheFailureInTheRecipesWords) {
    const auto done = run("echo progress 0.5 half; echo failed command 002 3; echo because no; exit 1");
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("command 2 of 2 (line 7) ended with exit status 3"));
    EXPECT_EQ(steps_, (std::vector<std::string>{"half"}));
    const auto silent = run("echo something >&2; exit 4");
    ASSERT_FALSE(silent);
    EXPECT_THAT(silent.error().message, HasSubstr("something"));
}

TEST_F(RunBuilder, EndsWhenCancelled) {
    const auto cancelled = std::make_shared<std::atomic<bool>>(true);
    const auto done = run("sleep 1000", cancelled);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::Interrupted);
}

TEST_F(RunBuilder, GivesItALifelineAndTheLock) {
    // Standard input is a pipe that nothing comes out of; descriptor 8 keeps the lock.
    const auto done =
        run("[ -p /dev/stdin ] || exit 2; status=0; read -t 0.1 -r _ || status=$?; [ $status -gt 128 ] || "
            "exit 3; "
            "flock -n '" +
            (folder_ / "lock").string() + "' true && exit 4; flock -n 8");
    EXPECT_TRUE(done) << done.error().message;
}

}  // namespace
}  // namespace dormouse::desktop
