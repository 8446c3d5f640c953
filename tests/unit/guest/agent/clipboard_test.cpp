// SPDX-License-Identifier: Apache-2.0
// The clipboard on a real X server, against xclip and against our own reader and
// owner on a second connection.
#include "guest/agent/clipboard.h"

#include "x_fixture.h"

namespace dormouse::agent {
namespace {

using nlohmann::json;

const std::string kText = "naïve Ωmega 日本語 مرحبا 🦔\n";

class ClipboardTest : public XTest {
  protected:
    std::string read(const std::string& selection) {
        const auto answer = call("clipboard_get", {{"selection", selection}});
        return answer ? (*answer)["text"].get<std::string>() : answer.error().message;
    }
    Result<std::string> app_reads(const std::string& selection) {
        return run(app->reader()->read(selection_atom(selection)));
    }
};

TEST_F(ClipboardTest, AnEmptyClipboardIsAnEmptyText) {
    EXPECT_EQ(read("clipboard"), "");
    EXPECT_EQ(read("primary"), "");
}

TEST_F(ClipboardTest, ReadsWhatAnotherProgramCopied) {
    const auto owner = xclip_in("clipboard", kText);
    EXPECT_EQ(read("clipboard"), kText);
    EXPECT_EQ(read("primary"), "");
}

TEST_F(ClipboardTest, ReadsALongTextThatComesInPieces) {
    const std::string text(guest::kMaxText, 'x');
    const auto owner = xclip_in("primary", text);
    EXPECT_EQ(read("primary"), text);
    app->owner()->set_piece_bytes(1000);
    ASSERT_TRUE(app->owner()->own(selection_atom("clipboard"), text.substr(0, 12'345)));
    EXPECT_EQ(read("clipboard"), text.substr(0, 12'345));
}

TEST_F(ClipboardTest, RefusesATextWithoutMeasure) {
    const std::string text(guest::kMaxText + 1, 'x');
    ASSERT_TRUE(app->owner()->own(selection_atom("clipboard"), text));
    EXPECT_EQ(call("clipboard_get").error().code, Errc::TooLarge);
    app->owner()->set_piece_bytes(1 << 21);
    EXPECT_EQ(call("clipboard_get").error().code, Errc::TooLarge);
    ASSERT_TRUE(app->owner()->own(selection_atom("clipboard"), "short"));
    EXPECT_EQ(read("clipboard"), "short");
}

TEST_F(ClipboardTest, AnOwnerThatNeverAnswersIsAnEmptyText) {
    // Owns the selection and is never asked for events.
    auto mute = XConnection::connect(display);
    ASSERT_TRUE(mute);
    xcb_set_selection_owner((*mute)->get(), (*mute)->window(), (*mute)->atom(Atom::Clipboard),
                            XCB_CURRENT_TIME);
    settle(**mute);
    const auto start = clock.now();
    EXPECT_EQ(read("clipboard"), "");
    EXPECT_LT(clock.now() - start, std::chrono::seconds{10});
}

TEST_F(ClipboardTest, OtherProgramsGetWhatWasSet) {
    ASSERT_TRUE(call("clipboard_set", {{"text", kText}, {"selections", {"clipboard", "primary"}}}));
    EXPECT_EQ(xclip_out("clipboard"), kText);
    EXPECT_EQ(xclip_out("primary"), kText);
    EXPECT_EQ(xclip_out("clipboard", "text/plain;charset=utf-8"), kText);
    EXPECT_EQ(xclip_out("clipboard", "TEXT"), kText);
    EXPECT_EQ(xclip_out("clipboard", "image/png"), "");
    EXPECT_EQ(read("clipboard"), kText);
    ASSERT_TRUE(call("clipboard_set", {{"text", "only here"}}));
    EXPECT_EQ(xclip_out("clipboard"), "only here");
    EXPECT_EQ(xclip_out("primary"), kText);
}

TEST_F(ClipboardTest, TellsInWhichFormsItServes) {
    ASSERT_TRUE(call("clipboard_set", {{"text", "caf\xc3\xa9"}}));
    const auto targets = xclip_out("clipboard", "TARGETS");
    for (const char* name :
         {"TARGETS", "TIMESTAMP", "UTF8_STRING", "text/plain;charset=utf-8", "TEXT", "STRING"}) {
        EXPECT_NE(targets.find(name), std::string::npos) << name;
    }
    EXPECT_EQ(xclip_out("clipboard", "STRING"), "caf\xe9");
    EXPECT_NE(xclip_out("clipboard", "TIMESTAMP"), "");
    ASSERT_TRUE(call("clipboard_set", {{"text", kText}}));
    EXPECT_EQ(xclip_out("clipboard", "TARGETS").find("\nSTRING"), std::string::npos);
    EXPECT_EQ(xclip_out("clipboard", "STRING"), "");
}

TEST_F(ClipboardTest, ServesALongTextWholeAndInPieces) {
    std::string text;
    while (text.size() < guest::kMaxText - 20) text += std::to_string(text.size()) + " ";
    ASSERT_TRUE(call("clipboard_set", {{"text", text}}));
    EXPECT_EQ(xclip_out("clipboard"), text);
    services->session->owner()->set_piece_bytes(guest::kMaxText);
    EXPECT_EQ(xclip_out("clipboard"), text);
    services->session->owner()->set_piece_bytes(1000);
    ASSERT_TRUE(call("clipboard_set", {{"text", text.substr(0, 5000)}}));
    EXPECT_EQ(xclip_out("clipboard"), text.substr(0, 5000));
}

TEST_F(ClipboardTest, AProgramThatCopiesTakesTheSelectionOver) {
    ASSERT_TRUE(call("clipboard_set", {{"text", "ours"}}));
    const auto owner = xclip_in("clipboard", "theirs");
    ASSERT_TRUE(
        wait_for([&] { return services->session->owner()->text(selection_atom("clipboard")) == nullptr; }));
    EXPECT_EQ(read("clipboard"), "theirs");
}

TEST_F(ClipboardTest, PastesWithCtrlVAndTouchesOnlyTheClipboard) {
    activate("Chromium");
    const auto owner = xclip_in("clipboard", "before");
    const auto marked = xclip_in("primary", "marked");
    EXPECT_EQ(call("paste_text", {{"text", kText}}).value(),
              json({{"shortcut", "ctrl+v"}, {"window_class", "Chromium"}}));
    EXPECT_EQ(read("primary"), "marked");
    EXPECT_EQ(call("paste_wait", {{"timeout_ms", 0}}).value(),
              json({{"fetched", false}, {"by_active_window", false}, {"requests", 0}}));
    EXPECT_EQ(app_reads("clipboard").value(), kText);
    EXPECT_EQ(call("paste_wait", {{"timeout_ms", 60'000}}).value(),
              json({{"fetched", true}, {"by_active_window", true}, {"requests", 1}}));
    EXPECT_EQ(call("paste_restore").value(), json({{"restored", true}}));
    EXPECT_EQ(xclip_out("clipboard"), "before");
    EXPECT_EQ(call("paste_restore").error().code, Errc::Conflict);
}

TEST_F(ClipboardTest, PastesWithShiftInsertInATerminal) {
    activate("Xfce4-terminal");
    EXPECT_EQ(call("paste_text", {{"text", "ls\n"}}).value()["shortcut"], "shift+Insert");
    EXPECT_EQ(xclip_out("primary"), "ls\n");
    EXPECT_EQ(xclip_out("clipboard"), "ls\n");
    EXPECT_EQ(call("paste_restore").value()["restored"], true);
    settle(*services->session->connection());
    EXPECT_EQ(owner_of("clipboard"), xcb_window_t{XCB_NONE});
    EXPECT_EQ(owner_of("primary"), xcb_window_t{XCB_NONE});
}

TEST_F(ClipboardTest, TheWaitEndsWhenTheTextIsFetched) {
    activate("Chromium");
    ASSERT_TRUE(call("paste_text", {{"text", "x"}}));
    std::optional<Result<json>> answer;
    spawn([](std::shared_ptr<Services> all, std::optional<Result<json>>* out) -> Task<void> {
        guest::Request request{"paste_wait", {}};
        request.params["timeout_ms"] = 60'000;
        out->emplace(co_await call_method(all, std::move(request)));
    }(services, &answer));
    EXPECT_NE(xclip_out("clipboard", "TARGETS"), "");
    EXPECT_FALSE(answer) << "asking for the forms is not fetching";
    EXPECT_EQ(app_reads("clipboard").value(), "x");
    ASSERT_TRUE(wait_for([&] { return answer.has_value(); }));
    EXPECT_EQ(answer->value()["requests"], 1);
}

TEST_F(ClipboardTest, AFetchByAnotherProgramThanTheActiveOneCountsAfterAMoment) {
    activate("Chromium");
    ASSERT_TRUE(call("paste_text", {{"text", "x"}}));
    EXPECT_EQ(xclip_out("clipboard"), "x");
    const json fetched{{"fetched", true}, {"by_active_window", false}, {"requests", 1}};
    EXPECT_EQ(call("paste_wait", {{"timeout_ms", 60'000}}).value(), fetched);
    // That moment does not begin anew with each wait.
    const auto start = clock.now();
    EXPECT_EQ(call("paste_wait", {{"timeout_ms", 60'000}}).value(), fetched);
    EXPECT_LT(clock.now() - start, std::chrono::seconds{20});
}

TEST_F(ClipboardTest, TheWaitEndsWhenNobodyFetches) {
    ASSERT_TRUE(call("paste_text", {{"text", "x"}}));
    EXPECT_EQ(call("paste_wait", {{"timeout_ms", 50}}).value()["fetched"], false);
}

TEST_F(ClipboardTest, RestoreLeavesWhatSomebodyElseCopiedMeanwhile) {
    ASSERT_TRUE(call("clipboard_set", {{"text", "before"}}));
    ASSERT_TRUE(call("paste_text", {{"text", "pasted"}}));
    const auto owner = xclip_in("clipboard", "new");
    ASSERT_TRUE(
        wait_for([&] { return services->session->owner()->text(selection_atom("clipboard")) == nullptr; }));
    EXPECT_EQ(call("paste_restore").value(), json({{"restored", false}}));
    EXPECT_EQ(read("clipboard"), "new");
}

TEST_F(ClipboardTest, TwoPastesInARowRestoreWhatWasThereFirst) {
    ASSERT_TRUE(call("clipboard_set", {{"text", "before"}}));
    ASSERT_TRUE(call("paste_text", {{"text", "one"}}));
    ASSERT_TRUE(call("paste_text", {{"text", "two"}}));
    EXPECT_EQ(xclip_out("clipboard"), "two");
    EXPECT_EQ(call("paste_restore").value()["restored"], true);
    EXPECT_EQ(read("clipboard"), "before");
}

TEST(Latin1, ConvertsWhatHasAPlaceThere) {
    EXPECT_EQ(to_latin1("caf\xc3\xa9"), "caf\xe9");
    EXPECT_EQ(to_latin1("\xce\xa9"), std::nullopt);
    EXPECT_EQ(to_latin1("\xc3"), std::nullopt);
    EXPECT_EQ(from_latin1("caf\xe9"), "caf\xc3\xa9");
}

TEST_F(ClipboardTest, PutsBackAPictureAndOtherFormsToo) {
    activate("Mousepad");
    auto& theirs = *app->owner();
    const auto png = app->connection()->atom(Atom::ImagePng);
    const auto html = app->connection()->atom(Atom::TextHtml);
    const std::string picture = "\x89PNG" + std::string(300'000, 'p');
    ASSERT_TRUE(theirs.own(app->connection()->atom(Atom::Clipboard),
                           SelectionContent{{}, {{png, picture}, {html, "<b>x</b>"}}}));
    ASSERT_TRUE(call("paste_text", {{"text", "pasted"}}));
    EXPECT_EQ(xclip_out("clipboard"), "pasted");
    EXPECT_EQ(xclip_out("clipboard", "image/png"), "");
    EXPECT_EQ(call("paste_restore").value(), (json{{"restored", true}}));
    EXPECT_EQ(xclip_out("clipboard", "image/png"), picture);
    EXPECT_EQ(xclip_out("clipboard", "text/html"), "<b>x</b>");
    EXPECT_EQ(xclip_out("clipboard"), "");
    // Once more, now that they are ours to serve.
    ASSERT_TRUE(call("paste_text", {{"text", "again"}}));
    EXPECT_EQ(call("paste_restore").value(), (json{{"restored", true}}));
    EXPECT_EQ(xclip_out("clipboard", "text/html"), "<b>x</b>");
}

}  // namespace
}  // namespace dormouse::agent
