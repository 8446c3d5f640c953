// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "hostd/base/file.h"
#include "tests/unit/hostd/cli/command_line.h"

namespace dormouse::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

schema::Template sample_template() {
    schema::Template image;
    image.name = "mine";
    image.hash = "0123456789abcdef";
    image.description = "for research";
    image.parent = "desktop";
    image.created_at = WallTime{std::chrono::seconds{1'700'000'000 - 7200}};
    image.screen = {1024, 768};
    image.memory_mib = 1024;
    image.cpus = 2;
    image.user = "user";
    image.locale = "en_US.UTF-8";
    image.timezone = "UTC";
    image.keyboard = "us";
    image.qemu = "7.2.15";
    image.accelerator = "tcg";
    image.size_bytes = 3ULL << 30;
    image.recipe = "name = \"mine\"\n";
    return image;
}

schema::Operation sample_operation(std::string state) {
    schema::Operation operation;
    operation.id = "op-1";
    operation.kind = "template.build";
    operation.state = std::move(state);
    operation.image = "mine";
    return operation;
}

struct TemplateVerbs : testing::Test {
    TemplateVerbs() {
        std::filesystem::create_directories(dormouse.home);
        EXPECT_TRUE(
            write_file_atomic(file, "name = \"mine\"\nfiles.add = [{path = \"/x\", source = \"note\"}]\n"));
        EXPECT_TRUE(write_file_atomic(dormouse.home / "note", "hi"));
    }
    void answers_to_a_build(const schema::Operation& ended) {
        daemon.answers(202, schema::to_json(schema::OperationAnswer{sample_operation("running")}));
        daemon.answers(200, schema::to_json(sample_operation("running")));
        daemon.answers(200,
                       schema::to_json(schema::OperationLog{"==    0 s  packages\nGet:1\n", 0, 26, false}));
        daemon.answers(200, schema::to_json(schema::OperationLog{"", 26, 26, false}));
        daemon.answers(200, schema::to_json(ended));
        daemon.answers(200, schema::to_json(schema::OperationLog{"==    9 s  done\n", 26, 42, true}));
        daemon.answers(200, schema::to_json(schema::OperationLog{"", 42, 42, true}));
        daemon.answers(200, schema::to_json(sample_template()));
    }
    FakeDaemon daemon;
    CommandLineRun dormouse{daemon};
    const std::filesystem::path file = dormouse.home / "mine.toml";
};

TEST_F(TemplateVerbs, BuildSendsThePackedRecipeShowsTheLogAndSaysTheName) {
    answers_to_a_build(sample_operation("succeeded"));
    EXPECT_EQ(dormouse({"template", "build", file, "--name", "other"}), 0) << dormouse.err;
    EXPECT_EQ(dormouse.out, "mine\n");
    EXPECT_EQ(dormouse.err, "==    0 s  packages\nGet:1\n==    9 s  done\n");
    const auto asked = daemon.asked();
    EXPECT_THAT(asked.at(0), HasSubstr("POST /v1/templates {"));
    EXPECT_THAT(asked.at(0), HasSubstr("\"name\":\"other\""));
    EXPECT_THAT(asked.at(0), HasSubstr(R"(data = \"aGk=\")"));
    EXPECT_EQ(asked.at(1), "GET /v1/operations/op-1");
}

TEST_F(TemplateVerbs, BuildMayShowTheStepsAlone) {
    answers_to_a_build(sample_operation("succeeded"));
    EXPECT_EQ(dormouse({"--json", "template", "build", file, "--quiet"}), 0) << dormouse.err;
    EXPECT_EQ(dormouse.err, "==    0 s  packages\n==    9 s  done\n");
    EXPECT_THAT(dormouse.out, HasSubstr("\"hash\":\"0123456789abcdef\""));
}

TEST_F(TemplateVerbs, BuildNamesTheFileBesideTheLineThatFailed) {
    auto failed = sample_operation("failed");
    failed.error = Error{Errc::InvalidArgument, "command 1 of 1 (line 3) ended with exit status 7", {}, 0};
    answers_to_a_build(failed);
    EXPECT_EQ(dormouse({"template", "build", file}), 2);
    EXPECT_THAT(dormouse.err, HasSubstr("mine.toml: command 1 of 1 (line 3) ended"));
    EXPECT_EQ(dormouse.out, "");
    answers_to_a_build(sample_operation("cancelled"));
}

TEST_F(TemplateVerbs, BuildSaysWhatIsWrongBeforeItBegins) {
    EXPECT_EQ(dormouse({"template", "build", dormouse.home / "none.toml"}), 3);
    EXPECT_THAT(dormouse.err, HasSubstr("none.toml"));
    EXPECT_TRUE(daemon.asked().empty());
    daemon.fails({Errc::InvalidArgument, "line 2: 'from': there is no built-in recipe 'x'", {}, 0});
    EXPECT_EQ(dormouse({"template", "build", file}), 2);
    EXPECT_THAT(dormouse.err, HasSubstr("mine.toml: line 2"));
}

TEST_F(TemplateVerbs, ListShowsWhichAreStale) {
    auto stale = sample_template();
    stale.name = "old";
    stale.stale_reason = "changed since: the guest agent";
    stale.desktops = 2;
    daemon.answers(200, schema::to_json(schema::TemplateList{{sample_template(), stale}}));
    EXPECT_EQ(dormouse({"template", "list"}), 0);
    EXPECT_EQ(dormouse.out,
              "NAME  STATE  BAKED    SIZE     SCREEN    MEMORY    CPUS  FROM     DESKTOPS\n"
              "mine  fresh  2 h ago  3.0 GiB  1024×768  1024 MiB  2     desktop  0\n"
              "old   stale  2 h ago  3.0 GiB  1024×768  1024 MiB  2     desktop  2\n");
}

TEST_F(TemplateVerbs, ShowHasTheTemplateItsRecipeOrItsLog) {
    daemon.answers(200, schema::to_json(sample_template()));
    EXPECT_EQ(dormouse({"template", "show", "mine"}), 0);
    for (const char* text : {"fresh", "for research", "0123456789abcdef", "7.2.15", "3.0 GiB"})
        EXPECT_THAT(dormouse.out, HasSubstr(text));
    EXPECT_EQ(dormouse({"template", "show", "mine", "--recipe"}), 0);
    EXPECT_EQ(dormouse.out, "name = \"mine\"\n");
    EXPECT_EQ(dormouse({"template", "show", "mine", "--recipe", "--log"}), 2);
}

TEST_F(TemplateVerbs, ShowGoesThroughTheWholeLog) {
    daemon.answers(200, schema::to_json(schema::OperationLog{"one\n", 0, 4, false}));
    daemon.answers(200, schema::to_json(schema::OperationLog{"two\x1b[2J\n", 4, 12, true}));
    EXPECT_EQ(dormouse({"template", "show", "mine", "--log"}), 0);
    EXPECT_EQ(dormouse.out, "one\ntwo?[2J\n");
    EXPECT_THAT(daemon.asked(), ElementsAre("GET /v1/templates/mine/log", "GET /v1/templates/mine/log"));
}

TEST_F(TemplateVerbs, RemoveSaysWhyNot) {
    daemon.answers(204, "");
    daemon.fails({Errc::Conflict, "desktops stand on template 'mine': 'a'", "delete them first", 0});
    EXPECT_EQ(dormouse({"template", "remove", "mine"}), 0);
    EXPECT_EQ(dormouse.out, "mine is gone\n");
    EXPECT_EQ(dormouse({"template", "remove", "mine"}), 4);
    EXPECT_THAT(dormouse.err, HasSubstr("delete them first"));
    EXPECT_EQ(daemon.asked().at(0), "DELETE /v1/templates/mine");
}

}  // namespace
}  // namespace dormouse::cli
