// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/hostd/cli/command_line.h"

namespace dormouse::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Words = std::vector<std::string>;

// What an action verb sends.
std::string sent_by(const Words& words, const std::string& input = {}) {
    FakeDaemon daemon;
    daemon.answers(200, R"({"results":[{"action":"x","ok":true,"took_ms":12}]})");
    CommandLineRun dormouse{daemon};
    dormouse.input = input;
    if (const int code = dormouse(words); code != 0) return std::to_string(code) + " " + dormouse.err;
    EXPECT_EQ(dormouse.out, "");
    EXPECT_EQ(dormouse.err, "");
    const auto asked = daemon.asked();
    const std::string prefix = "POST /v1/desktops/research/actions ";
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked.front().substr(0, prefix.size()), prefix);
    return asked.front().substr(prefix.size());
}

std::string json_of(std::vector<schema::Action> actions) {
    return schema::to_json(schema::ActionsRequest{std::move(actions)});
}

TEST(Verbs, ActWithTheActionsOfTheApi) {
    using enum schema::ActionKind;
    const schema::Point at{64, 40};
    EXPECT_EQ(sent_by({"click", "research", "64", "40"}), json_of({{.kind = LeftClick, .coordinate = at}}));
    EXPECT_EQ(sent_by({"click", "research", "64", "40", "--right"}),
              json_of({{.kind = RightClick, .coordinate = at}}));
    EXPECT_EQ(sent_by({"click", "--double", "research", "64", "40"}),
              json_of({{.kind = DoubleClick, .coordinate = at}}));
    EXPECT_EQ(sent_by({"move", "research", "64", "40"}), json_of({{.kind = MouseMove, .coordinate = at}}));
    EXPECT_EQ(sent_by({"drag", "research", "1", "2", "64", "40"}),
              json_of({{.kind = LeftClickDrag, .coordinate = at, .start_coordinate = schema::Point{1, 2}}}));
    EXPECT_EQ(sent_by({"key", "research", "ctrl+l", "Return"}),
              json_of({{.kind = Key, .text = "ctrl+l"}, {.kind = Key, .text = "Return"}}));
    const schema::Action scroll{
        .kind = Scroll, .scroll_direction = schema::ScrollDirection::Down, .scroll_amount = 3};
    EXPECT_EQ(sent_by({"scroll", "research", "down"}), json_of({scroll}));
    auto there = scroll;
    there.scroll_amount = 7;
    there.coordinate = at;
    EXPECT_EQ(sent_by({"scroll", "research", "down", "7", "--at", "64", "40"}), json_of({there}));
    EXPECT_EQ(sent_by({"scroll", "research", "--at", "64", "40", "down", "7"}), json_of({there}));
    EXPECT_EQ(sent_by({"scroll", "research", "left", "2", "--modifiers", "shift"}),
              json_of({{.kind = Scroll,
                        .scroll_direction = schema::ScrollDirection::Left,
                        .scroll_amount = 2,
                        .text = "shift"}}));
    EXPECT_EQ(sent_by({"click", "research"}), json_of({{.kind = LeftClick}}));
    EXPECT_EQ(sent_by({"click", "research", "64", "40", "--middle", "--modifiers", "ctrl+shift"}),
              json_of({{.kind = MiddleClick, .coordinate = at, .text = "ctrl+shift"}}));
    EXPECT_EQ(sent_by({"click", "research", "--back"}), json_of({{.kind = BackClick}}));
    EXPECT_EQ(sent_by({"click", "research", "--forward"}), json_of({{.kind = ForwardClick}}));
    EXPECT_EQ(sent_by({"click", "research", "--triple"}), json_of({{.kind = TripleClick}}));
    EXPECT_EQ(sent_by({"click", "research", "--repeat", "4"}), json_of({{.kind = LeftClick, .repeat = 4}}));
    EXPECT_EQ(sent_by({"drag", "research", "1", "2", "3", "4", "64", "40", "--modifiers", "alt"}),
              json_of({{.kind = LeftClickDrag,
                        .start_coordinate = schema::Point{1, 2},
                        .path = {{3, 4}, at},
                        .text = "alt"}}));
    EXPECT_EQ(sent_by({"mouse-down", "research", "64", "40"}),
              json_of({{.kind = LeftMouseDown, .coordinate = at}}));
    EXPECT_EQ(sent_by({"mouse-up", "research"}), json_of({{.kind = LeftMouseUp}}));
    EXPECT_EQ(sent_by({"hold-key", "research", "Right", "1.5"}),
              json_of({{.kind = HoldKey, .text = "Right", .duration = std::chrono::milliseconds{1500}}}));
    EXPECT_EQ(sent_by({"key", "research", "Tab", "--repeat", "5"}),
              json_of({{.kind = Key, .text = "Tab", .repeat = 5}}));
    EXPECT_EQ(sent_by({"type", "research", "a", "--method", "paste"}),
              json_of({{.kind = Type, .text = "a", .method = schema::TypeMethod::Paste}}));
}

TEST(Verbs, TypeWhateverTheTextIs) {
    const auto typed = [](std::string text) {
        return json_of({{.kind = schema::ActionKind::Type, .text = std::move(text)}});
    };
    EXPECT_EQ(sent_by({"type", "research", "naïve 日本語 🦔"}), typed("naïve 日本語 🦔"));
    EXPECT_EQ(sent_by({"type", "research", "list"}), typed("list"));  // also a verb
    EXPECT_EQ(sent_by({"type", "research", "[a,b]"}), typed("[a,b]"));
    EXPECT_EQ(sent_by({"type", "research", "--", "--json"}), typed("--json"));
    EXPECT_EQ(sent_by({"type", "research", "-"}, "two\nlines\n"), typed("two\nlines\n"));
    EXPECT_THAT(sent_by({"type", "research", ""}), HasSubstr("nothing to type"));
    EXPECT_THAT(sent_by({"type", "research", "-"}, std::string(100'001, 'x')),
                HasSubstr("1 dormouse: the text is longer"));
}

TEST(Verbs, ThatAreUsedWrongReachNobody) {
    for (const Words& words : std::vector<Words>{{"click", "research", "1"},
                                                 {"click", "research", "1", "here"},
                                                 {"click", "research", "1", "2", "--right", "--double"},
                                                 {"click", "research", "--triple", "--repeat", "2"},
                                                 {"click", "research", "--repeat", "101"},
                                                 {"drag", "research", "1", "2", "3", "4", "5"},
                                                 {"hold-key", "research", "a", "301"},
                                                 {"type", "research", "a", "--method", "magic"},
                                                 {"zoom", "research", "1", "2", "3"},
                                                 {"click", "research", "--screenshot", "now.png"},
                                                 {"click", "research", "1", "2", "3"},
                                                 {"scroll", "research", "sideways"},
                                                 {"scroll", "research", "up", "101"},
                                                 {"scroll", "research", "up", "--at", "1"},
                                                 {"type", "research"},
                                                 {"type", "research", "two", "words"},
                                                 {"show", ""},
                                                 {"delete"},
                                                 {"key", "research"},
                                                 {"token", "create", "x", "--scope", "root"},
                                                 {"where", "nowhere"},
                                                 {"list", "--nonsense"},
                                                 {"--nonsense", "list"},
                                                 {"token"},
                                                 {"token", "frob"},
                                                 {"up"},
                                                 {"test", "--long"},
                                                 {"lsit"}}) {
        FakeDaemon daemon;
        CommandLineRun dormouse{daemon};
        EXPECT_EQ(dormouse(words), 2) << testing::PrintToString(words);
        EXPECT_THAT(dormouse.err, testing::StartsWith("dormouse: ")) << testing::PrintToString(words);
        EXPECT_EQ(dormouse.out, "");
        EXPECT_THAT(daemon.asked(), IsEmpty());
    }
}

TEST(Verbs, AreSuggestedWhenMisspelt) {
    CommandLineRun dormouse;
    dormouse({"screnshot", "research"});
    EXPECT_EQ(dormouse.err,
              "dormouse: there is no verb 'screnshot'\n  did you mean: ./dormouse screenshot\n");
    dormouse({"token", "crate", "x"});
    EXPECT_THAT(dormouse.err, HasSubstr("./dormouse token create\n"));
    dormouse({"up"});
    EXPECT_THAT(dormouse.err, HasSubstr("run ./dormouse up there"));
}

TEST(Verbs, EachHaveHelpWithAnExample) {
    for (const auto& group : verb_groups()) {
        for (const auto& verb : group.verbs) {
            CommandLineRun dormouse;
            Words words{"help"};
            for (std::size_t begin = 0; begin <= verb.name.size();) {
                const auto end = std::min(verb.name.find(' ', begin), verb.name.size());
                words.emplace_back(verb.name.substr(begin, end - begin));
                begin = end + 1;
            }
            EXPECT_EQ(dormouse(words), 0) << verb.name;
            EXPECT_THAT(dormouse.out, HasSubstr(fmt::format("Usage: ./dormouse {}", verb.name)));
            EXPECT_THAT(dormouse.out, HasSubstr(fmt::format("  ./dormouse {}", verb.examples.at(0))));
            const auto by_help = dormouse.out;
            words.erase(words.begin());
            words.emplace_back("--help");
            EXPECT_EQ(dormouse(words), 0);
            EXPECT_EQ(dormouse.out, by_help);
        }
    }
}

TEST(Verbs, TheHelpNamesThemAllAndTheExitCodes) {
    CommandLineRun dormouse;
    EXPECT_EQ(dormouse({"--help"}), 0);
    for (const char* text :
         {"create [NAME]", "token create", "doctor", "  up", "  test", "  5  the daemon", "--json"})
        EXPECT_THAT(dormouse.out, HasSubstr(text));
    EXPECT_THAT(dormouse.out, Not(HasSubstr("ping")));
    EXPECT_EQ(dormouse({}), 0);
    EXPECT_THAT(dormouse.out, HasSubstr("./dormouse up"));
    EXPECT_EQ(dormouse({"--version"}), 0);
    EXPECT_THAT(dormouse.out, testing::StartsWith("dormouse "));
}

TEST(Verbs, CreateSaysTheNameAlone) {
    FakeDaemon daemon;
    daemon.answers(201, schema::to_json(sample_desktop("quiet-otter")));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"create"}), 0);
    EXPECT_EQ(dormouse.out, "quiet-otter\n");
    EXPECT_EQ(dormouse.err, "");
    EXPECT_EQ(dormouse({"create", "list", "--template", "other"}), 0);  // a name that is a verb too
    EXPECT_THAT(
        daemon.asked(),
        ElementsAre("POST /v1/desktops " + schema::to_json(schema::CreateDesktopRequest{}),
                    "POST /v1/desktops " + schema::to_json(schema::CreateDesktopRequest{"list", "other"})));
    EXPECT_EQ(daemon.token(), "Bearer dm_secret");
}

TEST(Verbs, ListAsTableNamesAndJson) {
    FakeDaemon daemon;
    const schema::DesktopList list{{sample_desktop(), sample_desktop("b", "stopped")}};
    daemon.answers(200, schema::to_json(list));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"list"}), 0);
    EXPECT_EQ(dormouse.out,
              "NAME      STATE    STARTED    CREATED  TEMPLATE  SCREEN    MEMORY    CPUS\n"
              "research  running  3 min ago  2 h ago  desktop   1280×800  2048 MiB  2\n"
              "b         stopped  3 min ago  2 h ago  desktop   1280×800  2048 MiB  2\n");
    EXPECT_EQ(dormouse({"list", "--names"}), 0);
    EXPECT_EQ(dormouse.out, "research\nb\n");
    for (const Words& words : std::vector<Words>{{"list", "--json"}, {"--json", "list"}}) {
        EXPECT_EQ(dormouse(words), 0);
        EXPECT_EQ(dormouse.out, schema::to_json(list) + "\n");
    }
}

TEST(Verbs, ShowHasTheLinkAndHarmlessText) {
    FakeDaemon daemon;
    auto desktop = sample_desktop("research", "failed");
    desktop.reason = "it \x1b[2J died";
    desktop.exit = schema::Exit{"signal 9 (Killed)", {"last words"}};
    daemon.answers(200, schema::to_json(desktop));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"show", "research"}), 0);
    EXPECT_THAT(dormouse.out, HasSubstr(daemon.url() + "/desktops/research#token=dm_secret\n"));
    EXPECT_THAT(dormouse.out, HasSubstr("it ?[2J died"));
    EXPECT_THAT(dormouse.out, HasSubstr("last words"));
    EXPECT_THAT(daemon.asked(), ElementsAre("GET /v1/desktops/research"));
}

TEST(Verbs, ScreenshotsGoToFilesAndPipesButNotToTerminals) {
    FakeDaemon daemon;
    auto png = wsio::HttpResponse::text(200, "image/png", "\x89PNG bytes");
    png.headers.emplace_back("X-Dormouse-Width", "1280");
    png.headers.emplace_back("X-Dormouse-Height", "800");
    daemon.answers(png);
    CommandLineRun dormouse{daemon};
    std::filesystem::create_directories(dormouse.home);
    const auto file = (dormouse.home / "now.png").string();
    EXPECT_EQ(dormouse({"screenshot", "research", file}), 0);
    EXPECT_EQ(dormouse.out, file + ": 1280×800, 10 bytes\n");
    std::ifstream saved{file};
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>{saved}, {}), "\x89PNG bytes");
    EXPECT_EQ(dormouse({"screenshot", "research", "-"}), 0);
    EXPECT_EQ(dormouse.out, "\x89PNG bytes");
    dormouse.out_is_terminal = true;
    EXPECT_EQ(dormouse({"screenshot", "research", "-"}), 2);
    EXPECT_EQ(dormouse.out, "");
    EXPECT_EQ(dormouse({"screenshot", "research", "/nowhere/x.png"}), 3);
    EXPECT_THAT(dormouse.err, HasSubstr("/nowhere/x.png"));
}

TEST(Verbs, ScreenshotsTakeTheirFormatFromTheFilesName) {
    FakeDaemon daemon;
    daemon.answers(wsio::HttpResponse::text(200, "image/jpeg", "\xff\xd8"));
    CommandLineRun dormouse{daemon};
    std::filesystem::create_directories(dormouse.home);
    const auto in_home = [&](const char* name) { return (dormouse.home / name).string(); };
    EXPECT_EQ(dormouse({"screenshot", "research", in_home("a.JPG"), "--scale", "0.5", "--region", "1,2,3,4"}),
              0)
        << dormouse.err;
    EXPECT_EQ(dormouse({"screenshot", "research", in_home("b.png"), "--format", "jpeg"}), 0) << dormouse.err;
    EXPECT_EQ(dormouse({"screenshot", "research", in_home("c.png")}), 1) << "that answer is no PNG";
    EXPECT_EQ(dormouse({"screenshot", "research", in_home("d.gif")}), 2);
    EXPECT_THAT(dormouse.err, HasSubstr(".png, .jpg or .webp"));
    EXPECT_EQ(dormouse({"screenshot", "research", in_home("e.png"), "--format", "gif"}), 2);
    EXPECT_THAT(dormouse.err, HasSubstr("png, jpeg, webp"));
    for (const auto* bad : {"1,2,3", "1,2,3,4,5", "1,2,3,x", ",1,2,3", "1;2;3;4"}) {
        EXPECT_EQ(dormouse({"screenshot", "research", in_home("f.png"), "--region", bad}), 2) << bad;
        EXPECT_THAT(dormouse.err, HasSubstr("X,Y,WIDTH,HEIGHT")) << bad;
    }
}

TEST(Verbs, ErrorsAreToldWithTheirHintAndCode) {
    struct Case {
        Error error;
        int code;
    };
    for (const auto& [error, code] :
         {Case{{Errc::NotFound, "no such desktop", "see list", 0}, 3},
          Case{{Errc::Conflict, "it is stopped", "start it", 0}, 4},
          Case{{Errc::Denied, "agents may not", "ask", 0}, 6},
          Case{{Errc::InvalidArgument, "no", "yes", 0}, 2}, Case{{Errc::Internal, "oh", "well", 0}, 1}}) {
        FakeDaemon daemon;
        daemon.fails(error);
        CommandLineRun dormouse{daemon};
        EXPECT_EQ(dormouse({"show", "nobody"}), code);
        EXPECT_EQ(dormouse.err, fmt::format("dormouse: {}\n  {}\n", error.message, error.hint));
        EXPECT_EQ(dormouse.out, "");
        EXPECT_EQ(dormouse({"show", "nobody", "--json"}), code);
        EXPECT_EQ(dormouse.out, schema::to_json(schema::ErrorBody{error, std::nullopt}) + "\n");
    }
}

TEST(Verbs, TellADaemonThatIsBusyFromOneThatIsNotThere) {
    CommandLineRun alone;
    EXPECT_EQ(alone({"list"}), 5);
    EXPECT_THAT(alone.err, HasSubstr("./dormouse up"));
    EXPECT_EQ(alone({"ping"}), 5);

    FakeDaemon daemon;
    daemon.fails({Errc::Unavailable, "no template", "bake one", 0});
    daemon.answers(200, R"({"status":"ok"})");
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"create"}), 1);
    EXPECT_THAT(dormouse.err, HasSubstr("bake one"));
    EXPECT_EQ(dormouse({"ping"}), 0);
}

TEST(Verbs, SayWhyThereIsNoToken) {
    FakeDaemon daemon;
    daemon.fails({Errc::Unauthenticated, "a token is needed", "", 0});
    CommandLineRun dormouse{daemon};
    dormouse.token.reset();
    EXPECT_EQ(dormouse({"list"}), 6);
    EXPECT_THAT(dormouse.err, HasSubstr("no token file"));
    EXPECT_THAT(dormouse.err, HasSubstr("DORMOUSE_TOKEN"));
}

TEST(Verbs, StartWaitsUntilTheAgentAnswers) {
    FakeDaemon daemon;
    auto deaf = sample_desktop();
    deaf.ready = false;
    daemon.answers(202, schema::to_json(sample_desktop("research", "starting")));
    daemon.answers(200, schema::to_json(sample_desktop("research", "starting")));
    daemon.answers(200, schema::to_json(deaf));
    daemon.answers(200, schema::to_json(sample_desktop()));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"start", "research", "--wait"}), 0);
    EXPECT_EQ(dormouse.out, "research is running\n");
    EXPECT_EQ(daemon.asked().size(), 4U);
}

TEST(Verbs, StartTellsThatItFailed) {
    FakeDaemon daemon;
    daemon.answers(202, schema::to_json(sample_desktop("research", "starting")));
    auto failed = sample_desktop("research", "failed");
    failed.reason = "no kernel";
    daemon.answers(200, schema::to_json(failed));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"start", "research", "--wait"}), 1);
    EXPECT_EQ(dormouse.err, "dormouse: research failed: no kernel\n");
}

TEST(Verbs, RestartIsNotFooledByTheRunBefore) {
    FakeDaemon daemon;
    auto again = sample_desktop();
    again.started_at = again.started_at.value() + std::chrono::seconds{100};
    daemon.answers(202, schema::to_json(sample_desktop("research", "stopping")));
    for (const auto& desktop : {sample_desktop(), sample_desktop("research", "stopped"),
                                sample_desktop("research", "starting"), again})
        daemon.answers(200, schema::to_json(desktop));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"restart", "research", "--wait", "--json"}), 0);
    EXPECT_EQ(dormouse.out, schema::to_json(again) + "\n");
}

TEST(Verbs, StopDoesNotWaitUnlessTold) {
    FakeDaemon daemon;
    daemon.answers(202, schema::to_json(sample_desktop("research", "stopping")));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"stop", "research"}), 0);
    EXPECT_EQ(dormouse.out, "research is stopping\n");
}

TEST(Verbs, DeleteGoesOnAfterOneThatIsNotThere) {
    FakeDaemon daemon;
    daemon.fails({Errc::NotFound, "no desktop 'a'", "", 0});
    daemon.answers(204, "");
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"delete", "a", "b"}), 3);
    EXPECT_EQ(dormouse.out, "b is gone\n");
    EXPECT_EQ(dormouse.err, "dormouse: no desktop 'a'\n");
    EXPECT_THAT(daemon.asked(), ElementsAre("DELETE /v1/desktops/a", "DELETE /v1/desktops/b"));
}

TEST(Verbs, MistakesAreJsonToWhoeverAskedForJson) {
    CommandLineRun dormouse;
    EXPECT_EQ(dormouse({"frob", "--json"}), 2);
    EXPECT_THAT(dormouse.out, HasSubstr(R"("code":"invalid_argument")"));
    EXPECT_EQ(dormouse({"show", "--json"}), 2);
    EXPECT_THAT(dormouse.out, HasSubstr(R"("code":"invalid_argument")"));
    EXPECT_EQ(dormouse({"show"}), 2);
    EXPECT_EQ(dormouse.out, "");
}

TEST(Verbs, DeleteSaysInJsonWhatItCouldNotDelete) {
    FakeDaemon daemon;
    daemon.fails({Errc::NotFound, "no desktop 'a'", "", 0});
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"delete", "a", "--json"}), 3);
    EXPECT_EQ(dormouse.out,
              R"({"deleted":[],"failed":[{"name":"a","code":"not_found","message":"no desktop 'a'"}]})"
              "\n");
}

TEST(Verbs, CreateTakesAnEmptyNameForTheMistakeThatItIs) {
    FakeDaemon daemon;
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"create", ""}), 2);
    EXPECT_TRUE(daemon.asked().empty());
}

TEST(Verbs, PingIsNotTakenInByAnotherServer) {
    FakeDaemon daemon;
    daemon.answers(200, "hello");
    daemon.answers(200, R"({"status":"green"})");
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"ping"}), 5);
    EXPECT_EQ(dormouse({"ping"}), 5);
}

TEST(Verbs, TokensAreMadeForAgentsUnlessSaidOtherwise) {
    FakeDaemon daemon;
    const std::string made =
        R"({"id":"t-1","name":"ci","scope":"agent","created_at":"2026-11-30T12:00:00.000Z",)"
        R"("last_used_at":null,"secret":"dm_new"})";
    daemon.answers(201, made);
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"token", "create", "ci"}), 0);
    EXPECT_EQ(dormouse.out, "dm_new\n");
    EXPECT_EQ(dormouse({"token", "create", "ci", "--scope", "admin", "--json"}), 0);
    EXPECT_EQ(dormouse.out, schema::to_json(schema::parse<schema::NewToken>(made).value()) + "\n");
    EXPECT_THAT(daemon.asked(),
                ElementsAre("POST /v1/tokens " + schema::to_json(schema::CreateTokenRequest{"ci", "agent"}),
                            "POST /v1/tokens " + schema::to_json(schema::CreateTokenRequest{"ci", "admin"})));
}

TEST(Verbs, WherePrintsOnePathForScripts) {
    CommandLineRun dormouse;
    EXPECT_EQ(dormouse({"where", "token"}), 0);
    EXPECT_EQ(dormouse.out, (dormouse.home / "admin.token").string() + "\n");
    EXPECT_EQ(dormouse({"where"}), 0);
    EXPECT_THAT(dormouse.out, HasSubstr("templates  " + (dormouse.home / "templates").string()));
}

TEST(Verbs, LabelRenameAndFind) {
    FakeDaemon daemon;
    auto labelled = sample_desktop();
    labelled.labels = {{"team", "search"}};
    daemon.answers(200, schema::to_json(labelled));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"label", "research", "team=search", "old-"}), 0);
    EXPECT_EQ(dormouse.out, "team=search\n");
    EXPECT_EQ(dormouse({"rename", "research", "lab"}), 0);
    EXPECT_EQ(dormouse({"label", "research"}), 0);
    EXPECT_THAT(daemon.asked(),
                ElementsAre(R"(PATCH /v1/desktops/research {"labels":{"old":null,"team":"search"}})",
                            R"(PATCH /v1/desktops/research {"name":"lab"})", "GET /v1/desktops/research"));
    EXPECT_EQ(dormouse({"label", "research", "team"}), 2);
    EXPECT_THAT(dormouse.err, HasSubstr("write key=value to set it, key- to remove it"));
    EXPECT_EQ(dormouse({"label", "research", "Team=x"}), 2);
    EXPECT_EQ(dormouse({"label", "research", "a=x", "a-"}), 2);
}

TEST(Verbs, ListAsksPageByPage) {
    FakeDaemon daemon;
    daemon.answers(200, schema::to_json(schema::DesktopList{{sample_desktop("a")}, "more"}));
    daemon.answers(200, schema::to_json(schema::DesktopList{{sample_desktop("b")}, {}}));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"list", "--label", "team=a b", "--state", "running", "--names"}), 0);
    EXPECT_EQ(dormouse.out, "a\nb\n");
    EXPECT_EQ(daemon.asked().size(), 2U);
}

TEST(Verbs, ShowOperationsAndTheirLogs) {
    FakeDaemon daemon;
    schema::Operation operation;
    operation.id = "op-1";
    operation.kind = "template.build";
    operation.state = "failed";
    operation.image = "office";
    operation.error = Error{Errc::Conflict, "no such package", "look at the log", 0};
    daemon.answers(200, schema::to_json(schema::OperationList{{operation}}));
    daemon.answers(200, schema::to_json(operation));
    daemon.answers(200, schema::to_json(schema::OperationLog{"one\ntwo\n", 0, 8, true}));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"operations", "list"}), 0);
    EXPECT_THAT(dormouse.out, HasSubstr("no such package"));
    EXPECT_EQ(dormouse({"operations", "show", "op-1", "--log"}), 4) << "the code of its error";
    EXPECT_EQ(dormouse.out, "one\ntwo\n");
    EXPECT_THAT(dormouse.err, HasSubstr("look at the log"));
}

TEST(Verbs, FollowEvents) {
    FakeDaemon daemon;
    const auto event = [](std::uint64_t id, const std::string& type) {
        schema::Event one{.id = id, .type = type, .at = {}, .desktop = {}, .operation = {}, .image = {}};
        if (type == "desktop.state") one.desktop = sample_desktop();
        return "id: " + std::to_string(id) + "\nevent: " + type + "\ndata: " + schema::to_json(one) + "\n\n";
    };
    // The stream breaks off; the next goes on behind it.
    daemon.answers(wsio::HttpResponse::text(200, "text/event-stream",
                                            event(1, "events.open") + event(2, "desktop.state")));
    daemon.answers(wsio::HttpResponse::text(200, "text/event-stream",
                                            event(2, "events.open") + event(3, "desktop.state")));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"events", "--count", "2"}), 0);
    EXPECT_EQ(dormouse.out,
              "1970-01-01T00:00:00.000Z  desktop.state      research (d-1a2b3c4d5e): running, ready\n"
              "1970-01-01T00:00:00.000Z  desktop.state      research (d-1a2b3c4d5e): running, ready\n");
    EXPECT_EQ(daemon.asked().size(), 2U);
    EXPECT_EQ(dormouse({"events", "--count", "1", "--json"}), 0);
    EXPECT_THAT(dormouse.out, HasSubstr("\"type\":\"desktop.state\""));
}

TEST(Verbs, TokensAreLimited) {
    FakeDaemon daemon;
    schema::NewToken made{{.id = "t-1",
                           .name = "x",
                           .scope = "agent",
                           .limits = {},
                           .created_at = {},
                           .last_used_at = {},
                           .expires_at = {}},
                          Secret{"dm_x"}};
    daemon.answers(201, schema::to_json(made));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(
        dormouse({"token", "create", "x", "--label", "team=a", "--commands", "look,act", "--expires", "30d"}),
        0);
    EXPECT_EQ(dormouse({"token", "create", "x", "--scope", "viewer", "--desktop", "a", "--desktop", "b"}), 0);
    const auto asked = daemon.asked();
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_THAT(asked[0],
                HasSubstr(R"("label":"team=a","commands":["look","act"],"expires_at":"2023-12-14T)"));
    EXPECT_THAT(asked[1], HasSubstr(R"("scope":"viewer","desktops":["a","b"])"));
    EXPECT_EQ(dormouse({"token", "create", "x", "--expires", "soon"}), 2);
    EXPECT_THAT(dormouse.err, HasSubstr("30d"));
}

TEST(Verbs, ShowTheAuditLog) {
    FakeDaemon daemon;
    schema::AuditEntry entry;
    entry.command = "desktop.act";
    entry.outcome = "denied";
    entry.token = "t-1";
    daemon.answers(200, schema::to_json(schema::AuditPage{{entry}, {}}));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"audit", "--outcome", "failed", "--since", "2026-11-30T00:00:00Z"}), 0);
    EXPECT_THAT(dormouse.out, HasSubstr("desktop.act  denied"));
    EXPECT_EQ(dormouse({"audit", "--since", "yesterday"}), 2);
}

}  // namespace
}  // namespace dormouse::cli
