// SPDX-License-Identifier: Apache-2.0
// The service without machines: what a token sees and may do, labels, pages of
// lists, keys of requests that come again, events, the audit log.
#include <gmock/gmock.h>

#include "db/database.h"
#include "hostd/base/file.h"
#include "hostd/desktop/service.h"
#include "hostd/desktop/tokens.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ServiceRightsTest : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        config_.home = folder_;
        config_.run = folder_ / "run";
        config_.templates = folder_ / "templates";
        clock_.set_wall(WallTime{1'796'043'194s});
        start();
    }
    void TearDown() override {
        stop();
        TemporaryFolder::TearDown();
    }

    void start() {
        host_.emplace(Host{.config = config_, .loop = loop_, .pool = pool_});
        ASSERT_TRUE(prepare_folders(*host_));
        database_ = db::Database::open(config_.database()).value();
        stores_.emplace(open_stores(*database_).value());
        ASSERT_TRUE(ensure_admin_token(stores_->tokens, config_.admin_token(), clock_.wall()));
        store_thread_.emplace();
        service_.emplace(*host_, *stores_, *store_thread_, "1.2.3");
    }
    void stop() {
        service_.reset();
        store_thread_.reset();
        stores_.reset();
        database_.reset();
    }
    void restart() {
        stop();
        start();
        ASSERT_TRUE(run(service_->recover()));
    }

    template <class T>
    T run(Task<T> task) {
        return loop_.run_until_complete(std::move(task));
    }
    Result<Answer> execute(Command command, Caller caller = {.token = "t-admin", .scope = Scope::Admin}) {
        return run(service_->execute(std::move(command), std::move(caller), Cancel{}));
    }
    template <class T>
    T got(Command command, Caller caller = {.token = "t-admin", .scope = Scope::Admin}) {
        auto answer = execute(std::move(command), std::move(caller));
        if (!answer) throw std::runtime_error{answer.error().message};
        return std::get<T>(std::move(*answer));
    }
    std::string refused(Command command, Caller caller) {
        const auto answer = execute(std::move(command), std::move(caller));
        return answer ? "done" : std::string{errc_name(answer.error().code)} + ": " + answer.error().message;
    }

    // Stopped desktops whose template is gone: there, and without a machine.
    void add(const std::string& id, const std::string& name, Labels labels = {}) {
        db::DesktopRow row{.id = DesktopId::parse(id).value(),
                           .name = DesktopName::parse(name).value(),
                           .image = TemplateName::parse("desktop").value(),
                           .template_hash = "gone",
                           .state = "stopped",
                           .vm_uuid = "00000000-0000-4000-8000-000000000000",
                           .created_at = WallTime{1'796'043'000s},
                           .labels = std::move(labels)};
        row.updated_at = row.created_at;
        row.created_by = "t-maker";
        ASSERT_TRUE(stores_->desktops.insert(row));
    }
    std::vector<std::string> names(ListDesktops request,
                                   Caller caller = {.token = "t", .scope = Scope::Admin}) {
        std::vector<std::string> all;
        for (const auto& info : got<DesktopPage>(std::move(request), std::move(caller)).desktops)
            all.push_back(info.name.str());
        return all;
    }
    static Caller agent(TokenLimits limits = {}) {
        return {.token = "t-agent", .scope = Scope::Agent, .limits = std::move(limits)};
    }
    static TokenLimits only(std::vector<std::string> desktops) {
        TokenLimits limits;
        limits.desktops = std::move(desktops);
        return limits;
    }
    static TokenLimits labelled(const std::string& text) {
        TokenLimits limits;
        limits.label = *parse_label_filter(text);
        return limits;
    }

    Config config_;
    ManualClock clock_;
    EventLoop loop_{clock_};
    WorkPool pool_{1};
    std::optional<Host> host_;
    std::unique_ptr<db::Database> database_;
    std::optional<Stores> stores_;
    std::optional<db::StoreThread> store_thread_;
    std::optional<Service> service_;
};

TEST_F(ServiceRightsTest, ListsWhatFitsPageByPage) {
    add("d-3", "c", {{"team", "a"}});
    add("d-1", "a", {{"team", "a"}, {"task", "1"}});
    add("d-2", "b");
    restart();
    EXPECT_THAT(names({}), ElementsAre("a", "b", "c")) << "equally old, so by id";
    EXPECT_THAT(names({.labels = {{"team", "a"}}}), ElementsAre("a", "c"));
    EXPECT_THAT(names({.labels = {{"team", {}}, {"task", "1"}}}), ElementsAre("a"));
    EXPECT_THAT(names({.states = {State::Running, State::Creating}}), IsEmpty());
    EXPECT_THAT(names({.states = {State::Failed}}), ElementsAre("a", "b", "c"));
    EXPECT_THAT(names({.image = *TemplateName::parse("other")}), IsEmpty());

    auto page = got<DesktopPage>(ListDesktops{.limit = 1});
    ASSERT_TRUE(page.next_cursor);
    ASSERT_TRUE(execute(DeleteDesktop{"a"})) << "the place in the order stays good";
    page = got<DesktopPage>(ListDesktops{.limit = 1, .cursor = page.next_cursor});
    EXPECT_EQ(page.desktops.at(0).name.str(), "b");
    page = got<DesktopPage>(ListDesktops{.limit = 1, .cursor = page.next_cursor});
    EXPECT_EQ(page.desktops.at(0).name.str(), "c");
    EXPECT_FALSE(page.next_cursor);
    EXPECT_THAT(refused(ListDesktops{.cursor = "made-up"}, agent()), HasSubstr("invalid_argument: cursor"));
}

TEST_F(ServiceRightsTest, ALimitedTokenSeesItsDesktopsAndNoOthers) {
    add("d-1", "a", {{"team", "a"}});
    add("d-2", "b");
    restart();
    for (const auto& limits : {only({"a"}), only({"d-1", "elsewhere"}), labelled("team=a")}) {
        EXPECT_THAT(names({}, agent(limits)), ElementsAre("a"));
        EXPECT_EQ(got<DesktopInfo>(GetDesktop{"a"}, agent(limits)).id.str(), "d-1");
        EXPECT_EQ(refused(GetDesktop{"b"}, agent(limits)), "not_found: there is no desktop 'b'");
        EXPECT_EQ(refused(DeleteDesktop{"d-2"}, agent(limits)), "not_found: there is no desktop 'd-2'");
    }
    EXPECT_EQ(refused(GetDesktop{"nobody"}, agent()), "not_found: there is no desktop 'nobody'")
        << "the same words";
}

TEST_F(ServiceRightsTest, ATokenDoesWhatItsGroupsAllow) {
    add("d-1", "a");
    restart();
    TokenLimits acting;
    acting.groups = {CommandGroup::Act};
    EXPECT_THAT(refused(GetDesktop{"a"}, agent(acting)),
                HasSubstr("denied: this token may not do desktop.get"));
    EXPECT_THAT(refused(Act{"a", {}}, agent(acting)), HasSubstr("conflict"));
    const Caller viewer{.token = "t-viewer", .scope = Scope::Viewer};
    EXPECT_EQ(names({}, viewer).size(), 1u);
    EXPECT_EQ(refused(StartDesktop{"a"}, viewer),
              "denied: a token of scope 'viewer' may not do desktop.start");
    EXPECT_THAT(refused(ListAudit{}, agent()), HasSubstr("denied"));
}

TEST_F(ServiceRightsTest, WhatALimitedTokenMakesIsThereForIt) {
    restart();
    const auto image = *TemplateName::parse("desktop");
    // There is no template here: what gets so far is unavailable.
    const auto create = [&](std::optional<std::string> name, Labels labels, const TokenLimits& limits) {
        CreateDesktop command{.name = {}, .image = image, .labels = std::move(labels)};
        if (name) command.name = *DesktopName::parse(*name);
        return refused(std::move(command), agent(limits)).substr(0, 6);
    };
    EXPECT_EQ(create("a", {}, only({"a"})), "unavai");
    EXPECT_EQ(create("b", {}, only({"a"})), "denied");
    EXPECT_EQ(create({}, {}, only({"a"})), "denied");
    EXPECT_EQ(create({}, {}, labelled("team=a")), "unavai");
    EXPECT_EQ(create({}, {{"team", "a"}}, labelled("team=a")), "unavai");
    EXPECT_EQ(create({}, {{"team", "b"}}, labelled("team=a")), "denied");
}

TEST_F(ServiceRightsTest, ThereAreNoMoreDesktopsThanTheHostAllows) {
    add("d-1", "a");
    config_.limits.desktops_per_token = 1;
    restart();
    const CreateDesktop create{.name = {}, .image = *TemplateName::parse("desktop")};
    EXPECT_THAT(refused(create, {.token = "t-maker"}),
                HasSubstr("this token has made its 1 desktops already"));
    EXPECT_THAT(refused(create, {.token = "t-other"}), HasSubstr("template"));
    config_.limits.desktops = 1;
    restart();
    EXPECT_THAT(refused(create, {.token = "t-other"}), HasSubstr("this host has its 1 desktops already"));
}

TEST_F(ServiceRightsTest, ADesktopIsRenamedAndLabelledAndStaysSo) {
    add("d-1", "a", {{"team", "a"}, {"old", "x"}});
    add("d-2", "b");
    restart();
    clock_.advance(1h);
    UpdateDesktop update{.desktop = "a"};
    update.name = *DesktopName::parse("shop");
    update.labels = {{"team", "b"}, {"old", {}}, {"new", ""}, {"not-there", {}}};
    const auto info = got<DesktopInfo>(update);
    EXPECT_EQ(info.name.str(), "shop");
    EXPECT_EQ(info.labels, (Labels{{"new", ""}, {"team", "b"}}));
    EXPECT_EQ(info.updated_at, std::chrono::floor<std::chrono::milliseconds>(clock_.wall()));
    EXPECT_EQ(refused(GetDesktop{"a"}, agent()), "not_found: there is no desktop 'a'");
    restart();
    EXPECT_EQ(got<DesktopInfo>(GetDesktop{"shop"}).labels, info.labels);
    EXPECT_EQ(got<DesktopInfo>(GetDesktop{"shop"}).created_by, "t-maker");

    UpdateDesktop taken{.desktop = "shop"};
    taken.name = *DesktopName::parse("b");
    EXPECT_THAT(refused(taken, agent()), HasSubstr("conflict: there is already a desktop 'b'"));
    taken.name = *DesktopName::parse("d-2");
    EXPECT_THAT(refused(taken, agent()), HasSubstr("conflict"));
    taken.name = *DesktopName::parse("d-1");
    EXPECT_EQ(refused(taken, agent()), "done") << "its own id";
}

TEST_F(ServiceRightsTest, ALimitedTokenCannotLoseWhatItIsLimitedTo) {
    add("d-1", "a", {{"team", "a"}});
    restart();
    UpdateDesktop update{.desktop = "a"};
    update.labels = {{"team", {}}};
    EXPECT_THAT(refused(update, agent(labelled("team=a"))), HasSubstr("denied: this token would not see"));
    update.labels = {{"other", "x"}};
    EXPECT_EQ(refused(update, agent(labelled("team=a"))), "done");
    update.labels.clear();
    for (int i = 0; i < 40; ++i) update.labels.emplace("k" + std::to_string(i), "");
    EXPECT_THAT(refused(update, agent()), HasSubstr("at most 32 labels"));
}

TEST_F(ServiceRightsTest, StoppingWhatHasFailedChangesNothing) {
    add("d-1", "a");
    restart();  // its template is gone: failed
    EXPECT_EQ(got<DesktopInfo>(StopDesktop{"a"}).state, State::Failed);
}

// ---- tokens

TEST_F(ServiceRightsTest, ATokenKeepsItsLimitsAndEndsInTime) {
    CreateToken create{.name = "x", .scope = Scope::Agent, .limits = only({"a", "d-1"})};
    create.limits.groups = {CommandGroup::Look, CommandGroup::Act};
    create.expires_at = clock_.wall() + 1h;
    const auto made = got<NewToken>(create);
    restart();
    auto caller = run(service_->authenticate(made.secret));
    ASSERT_TRUE(caller) << caller.error().message;
    EXPECT_EQ(caller->limits, create.limits);
    EXPECT_EQ(caller->scope, Scope::Agent);
    const auto listed = got<std::vector<TokenInfo>>(ListTokens{});
    ASSERT_EQ(listed.size(), 2u);
    const auto& shown = listed[0].name == "x" ? listed[0] : listed[1];
    EXPECT_EQ(shown.limits, create.limits);
    EXPECT_TRUE(shown.last_used_at);
    clock_.advance(1h);
    EXPECT_EQ(run(service_->authenticate(made.secret)).error().code, Errc::Unauthenticated);

    create.limits = labelled("team=x = y");
    create.expires_at.reset();
    EXPECT_EQ(run(service_->authenticate(got<NewToken>(create).secret))->limits, create.limits);
    create.expires_at = clock_.wall();
    EXPECT_THAT(refused(create, {.token = "t", .scope = Scope::Admin}), HasSubstr("over already"));
    create.expires_at.reset();
    create.scope = Scope::Admin;
    EXPECT_THAT(refused(create, {.token = "t", .scope = Scope::Admin}), HasSubstr("cannot be limited"));
}

TEST_F(ServiceRightsTest, TheLastAdminThatDoesNotExpireStays) {
    const auto admins = got<std::vector<TokenInfo>>(ListTokens{});
    CreateToken passing{.name = "x", .scope = Scope::Admin};
    passing.expires_at = clock_.wall() + 1h;
    const auto other = got<NewToken>(passing);
    EXPECT_THAT(refused(DeleteToken{admins.at(0).id}, {.token = "t", .scope = Scope::Admin}),
                HasSubstr("conflict"));
    EXPECT_TRUE(execute(DeleteToken{other.info.id}));
}

// ---- requests that come again

TEST_F(ServiceRightsTest, ARequestWithAKeyIsCarriedOutOnce) {
    const auto caller = run(service_->authenticate(got<NewToken>(CreateToken{.name = "x"}).secret)).value();
    const OnceKey key{"k-1", "POST /x {}"};
    ASSERT_TRUE(std::holds_alternative<CarryOut>(*run(service_->claim(caller, key, {}))));
    service_->settle(caller, key, "the answer");
    EXPECT_EQ(std::get<Replay>(*run(service_->claim(caller, key, {}))).answer, "the answer");
    EXPECT_EQ(run(service_->claim(caller, {"k-1", "POST /x {\"a\":1}"}, {})).error().code, Errc::Conflict);
    auto other = caller;
    other.token = "t-other";
    EXPECT_TRUE(std::holds_alternative<CarryOut>(*run(service_->claim(other, key, {}))));
    restart();
    EXPECT_EQ(std::get<Replay>(*run(service_->claim(caller, key, {}))).answer, "the answer");
    clock_.advance(25h);
    EXPECT_TRUE(std::holds_alternative<CarryOut>(*run(service_->claim(caller, key, {}))));
    // What lies in the file cannot be read.
    EXPECT_EQ(read_file(config_.database(), 10 << 20)->find("the answer"), std::string::npos);
}

TEST_F(ServiceRightsTest, ARequestThatFailedMayBeTriedAgain) {
    const auto caller = run(service_->authenticate(got<NewToken>(CreateToken{.name = "x"}).secret)).value();
    const OnceKey key{"k-1", "a"};
    ASSERT_TRUE(run(service_->claim(caller, key, {})));
    service_->settle(caller, key, std::nullopt);
    EXPECT_TRUE(std::holds_alternative<CarryOut>(*run(service_->claim(caller, key, {}))));
}

TEST_F(ServiceRightsTest, ASecondRequestWaitsForTheFirst) {
    const auto caller = run(service_->authenticate(got<NewToken>(CreateToken{.name = "x"}).secret)).value();
    const OnceKey key{"k-1", "a"};
    ASSERT_TRUE(run(service_->claim(caller, key, {})));
    Cancel impatient;
    loop_.after(0s, [&]() mutable { impatient.cancel(); });
    EXPECT_THAT(run(service_->claim(caller, key, impatient)).error().message, HasSubstr("in progress"));
    loop_.after(0s, [&] { service_->settle(caller, key, "later"); });
    EXPECT_EQ(std::get<Replay>(*run(service_->claim(caller, key, {}))).answer, "later");
}

TEST_F(ServiceRightsTest, WhatADaemonMadeBeforeItWasKilledIsAnsweredAgain) {
    const auto caller = run(service_->authenticate(got<NewToken>(CreateToken{.name = "x"}).secret)).value();
    for (const auto* key : {"made", "nothing"}) ASSERT_TRUE(run(service_->claim(caller, {key, "a"}, {})));
    add("d-1", "a");
    ASSERT_TRUE(stores_->idempotency.set_made(caller.token, "made", "d-1"));
    ASSERT_TRUE(stores_->idempotency.set_made(caller.token, "nothing", "d-2"));
    restart();
    const auto again = run(service_->claim(caller, {"made", "a"}, {}));
    ASSERT_TRUE(again && std::holds_alternative<AnswerAgain>(*again));
    EXPECT_EQ(std::get<DesktopInfo>(std::get<AnswerAgain>(*again).answer).id.str(), "d-1");
    EXPECT_TRUE(std::holds_alternative<CarryOut>(*run(service_->claim(caller, {"nothing", "a"}, {}))));
}

// ---- events and operations

TEST_F(ServiceRightsTest, EventsTellWhatTheTokenSees) {
    add("d-1", "a");
    add("d-2", "b");
    restart();
    std::vector<std::string> heard;
    const auto sink = [&heard](const Event& event) {
        heard.push_back(std::string{event_type_name(event.type)} + " " +
                        (event.desktop ? event.desktop->name.str() : ""));
    };
    const auto watch = service_->watch_events(agent(only({"a"})), {}, {.event = sink, .end = [] {}});
    ASSERT_TRUE(watch);
    UpdateDesktop update{.desktop = "a"};
    update.labels = {{"x", "y"}};
    ASSERT_TRUE(execute(update));
    ASSERT_TRUE(execute(update)) << "nothing new, nothing told";
    update.desktop = "b";
    ASSERT_TRUE(execute(update));
    ASSERT_TRUE(execute(DeleteDesktop{"a"}));
    EXPECT_THAT(heard,
                ElementsAre("events.open ", "desktop.updated a", "desktop.state a", "desktop.deleted a"));

    TokenLimits acting;
    acting.groups = {CommandGroup::Act};
    EXPECT_EQ(service_->watch_events(agent(acting), {}, {.event = sink, .end = [] {}}).error().code,
              Errc::Denied);
}

TEST_F(ServiceRightsTest, EventIdsGrowFromOneDaemonToTheNext) {
    restart();
    const auto before = service_->events().last_id();
    clock_.set_wall(WallTime{1s});  // whatever the clock says
    restart();
    EXPECT_GT(service_->events().last_id(), before);
    EXPECT_LT(service_->events().last_id(), std::uint64_t{1} << 53);
}

TEST_F(ServiceRightsTest, ADeletedTokenHearsNoMore) {
    const auto made = got<NewToken>(CreateToken{.name = "x"});
    bool ended = false;
    const auto watch = service_->watch_events({.token = made.info.id.str()}, {},
                                              {.event = [](const Event&) {}, .end = [&] { ended = true; }});
    ASSERT_TRUE(execute(DeleteToken{made.info.id}));
    EXPECT_TRUE(ended);
}

TEST_F(ServiceRightsTest, AnOperationIsForItsTokenAndForThoseWhoSeeItsDesktop) {
    add("d-1", "a");
    restart();
    auto build = service_->operations().begin(
        {.kind = "template.build", .token = "t-one", .desktop = {}, .image = {}});
    auto create = service_->operations().begin(
        {.kind = "desktop.create", .token = "t-one", .desktop = *DesktopId::parse("d-1"), .image = {}});
    ASSERT_TRUE(build && create);
    const auto count = [&](Caller caller) {
        return got<std::vector<OperationInfo>>(ListOperations{}, std::move(caller)).size();
    };
    EXPECT_EQ(count({.token = "t-one"}), 2u);
    EXPECT_EQ(count({.token = "t-two"}), 1u);
    EXPECT_EQ(count({.token = "t-two", .limits = only({"a"})}), 1u);
    EXPECT_EQ(count({.token = "t-two", .limits = only({"b"})}), 0u);
    EXPECT_THAT(refused(GetOperation{build->id(), {}}, {.token = "t-two"}), HasSubstr("not_found"));
    EXPECT_THAT(refused(CancelOperation{create->id()}, {.token = "t-two"}), HasSubstr("denied"));
    EXPECT_EQ(refused(CancelOperation{create->id()}, {.token = "t-one"}), "done");
}

TEST_F(ServiceRightsTest, AnOperationThatTheDaemonDidNotFinishIsInterrupted) {
    auto running =
        service_->operations().begin({.kind = "x", .token = "t", .desktop = {}, .image = {}}).value();
    auto done = service_->operations().begin({.kind = "x", .token = "t", .desktop = {}, .image = {}}).value();
    done.finish(Result<>{});
    const auto running_id = running.id();
    const auto done_id = done.id();
    restart();
    EXPECT_EQ(got<OperationInfo>(GetOperation{running_id, {}}).error->code, Errc::Interrupted);
    EXPECT_EQ(got<OperationInfo>(GetOperation{done_id, {}}).state, OperationState::Succeeded);
    clock_.advance(2h);
    restart();
    EXPECT_THAT(refused(GetOperation{done_id, {}}, {.token = "t", .scope = Scope::Admin}),
                HasSubstr("not_found"));
}

// ---- the audit log

TEST_F(ServiceRightsTest, LooksThatRepeatAreOneEntryAndActsAreNot) {
    add("d-1", "a");
    restart();
    for (int i = 0; i < 5; ++i) {
        (void)execute(GetDesktop{"a"}, agent());
        clock_.advance(1s);
    }
    (void)execute(GetDesktop{"a"}, {.token = "t-other"});
    for (int i = 0; i < 3; ++i) (void)execute(UpdateDesktop{.desktop = "a"}, agent());
    const auto page = got<AuditPage>(ListAudit{.command = "desktop."});
    std::vector<std::string> lines;
    for (const auto& entry : page.entries)
        lines.push_back(entry.token + " " + entry.command + " " + std::to_string(entry.count));
    EXPECT_THAT(
        lines, ElementsAre("t-agent desktop.update 1", "t-agent desktop.update 1", "t-agent desktop.update 1",
                           "t-other desktop.get 1", "t-agent desktop.get 5"));
    EXPECT_EQ(page.entries.back().last_at - page.entries.back().at, 4s);
    clock_.advance(2min);
    (void)execute(GetDesktop{"a"}, agent());
    EXPECT_EQ(got<AuditPage>(ListAudit{.command = "desktop.get"}).entries.front().count, 1);
}

TEST_F(ServiceRightsTest, TheAuditLogIsFilteredAndPaged) {
    add("d-1", "a");
    restart();
    (void)execute(GetDesktop{"a"}, agent());
    clock_.advance(10s);
    const auto middle = clock_.wall();
    (void)execute(GetDesktop{"nobody"}, agent());
    (void)execute(ListTokens{}, agent());
    const auto count = [&](const ListAudit& request) { return got<AuditPage>(request).entries.size(); };
    EXPECT_EQ(count({.about = "a"}), 1u);
    EXPECT_EQ(count({.about = "d-1"}), 1u);
    EXPECT_EQ(count({.token = "t-agent"}), 3u);
    EXPECT_EQ(count({.outcome = "denied"}), 1u);
    EXPECT_EQ(count({.outcome = "failed"}), 2u);
    EXPECT_EQ(count({.token = "t-agent", .outcome = "ok"}), 1u);
    EXPECT_EQ(count({.token = "t-agent", .since = middle}), 2u);
    EXPECT_EQ(count({.token = "t-agent", .until = middle}), 1u);

    auto page = got<AuditPage>(ListAudit{.token = "t-agent", .limit = 2});
    ASSERT_EQ(page.entries.size(), 2u);
    EXPECT_EQ(page.entries[0].command, "token.list") << "the newest first";
    page = got<AuditPage>(ListAudit{.token = "t-agent", .limit = 2, .cursor = page.next_cursor});
    ASSERT_EQ(page.entries.size(), 1u);
    EXPECT_FALSE(page.next_cursor);
}

TEST_F(ServiceRightsTest, OldEntriesGo) {
    config_.audit.days = 1;
    (void)execute(ListTokens{}, agent());
    clock_.advance(48h);
    restart();
    EXPECT_THAT(got<AuditPage>(ListAudit{.token = "t-agent"}).entries, IsEmpty());
}

}  // namespace
}  // namespace dormouse::desktop
