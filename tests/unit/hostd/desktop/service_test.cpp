// SPDX-License-Identifier: Apache-2.0
// The service without machines: who may do what, and what is written down. Real
// desktops are the end-to-end tests' business.
#include "hostd/desktop/service.h"

#include "db/database.h"
#include "hostd/base/file.h"
#include "hostd/desktop/tokens.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

class ServiceTest : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        Config config;
        config.home = folder_;
        config.run = folder_ / "run";
        config.templates = folder_ / "templates";
        host_.emplace(Host{.config = config, .loop = loop_, .pool = pool_});
        ASSERT_TRUE(prepare_folders(*host_));
        database_ = db::Database::open(config.database()).value();
        stores_.emplace(open_stores(*database_).value());
        ASSERT_TRUE(ensure_admin_token(stores_->tokens, config.admin_token(), clock_.wall()));
        store_thread_.emplace();
        service_.emplace(*host_, *stores_, *store_thread_, "1.2.3");
    }
    void TearDown() override {
        service_.reset();
        store_thread_.reset();
        stores_.reset();
        database_.reset();
        TemporaryFolder::TearDown();
    }
    Result<Answer> execute(Command command, Scope scope = Scope::Admin) {
        return loop_.run_until_complete(
            service_->execute(std::move(command), Caller{.token = "t-test", .scope = scope}, Cancel{}));
    }
    std::vector<db::AuditRow> audit() {
        return loop_
            .run_until_complete(run_on(*store_thread_, loop_, [this] { return stores_->audit.newest(10); }))
            .value();
    }

    SystemClock clock_;
    EventLoop loop_{clock_};
    WorkPool pool_{1};
    std::optional<Host> host_;
    std::unique_ptr<db::Database> database_;
    std::optional<Stores> stores_;
    std::optional<db::StoreThread> store_thread_;
    std::optional<Service> service_;
};

TEST_F(ServiceTest, TheAdminTokenInTheFileIsKnown) {
    auto secret = read_file(folder_ / "admin.token").value();
    secret.pop_back();
    const auto caller = loop_.run_until_complete(service_->authenticate(secret));
    ASSERT_TRUE(caller) << caller.error().message;
    EXPECT_EQ(caller->scope, Scope::Admin);
    const auto nobody = loop_.run_until_complete(service_->authenticate(secret + "x"));
    EXPECT_EQ(nobody.error().code, Errc::Unauthenticated);
    EXPECT_EQ(std::filesystem::status(folder_ / "admin.token").permissions(), std::filesystem::perms{0600});
}

TEST_F(ServiceTest, TheTokenFileIsMadeAgainWhenItIsGoneOrUnknown) {
    const auto before = read_file(folder_ / "admin.token").value();
    ASSERT_TRUE(ensure_admin_token(stores_->tokens, folder_ / "admin.token", clock_.wall()));
    EXPECT_EQ(read_file(folder_ / "admin.token").value(), before);
    ASSERT_TRUE(write_file_atomic(folder_ / "admin.token", "dm_something else\n"));
    ASSERT_TRUE(ensure_admin_token(stores_->tokens, folder_ / "admin.token", clock_.wall()));
    EXPECT_NE(read_file(folder_ / "admin.token").value(), "dm_something else\n");
}

TEST_F(ServiceTest, AnAgentMayNotMakeTokens) {
    const auto refused = execute(CreateToken{"mine", Scope::Admin}, Scope::Agent);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Denied);
    const auto tokens = execute(ListTokens{});
    EXPECT_EQ(std::get<std::vector<TokenInfo>>(*tokens).size(), 1u);
}

TEST_F(ServiceTest, ANewTokenWorksUntilItIsRemoved) {
    const auto made = execute(CreateToken{"mine", Scope::Agent});
    ASSERT_TRUE(made);
    const auto& token = std::get<NewToken>(*made);
    EXPECT_EQ(token.secret.substr(0, 3), "dm_");
    EXPECT_TRUE(loop_.run_until_complete(service_->authenticate(token.secret)));
    ASSERT_TRUE(execute(DeleteToken{token.info.id}));
    EXPECT_FALSE(loop_.run_until_complete(service_->authenticate(token.secret)));
}

TEST_F(ServiceTest, ADesktopNeedsATemplate) {
    const auto refused = execute(CreateDesktop{std::nullopt, TemplateName::parse("desktop").value()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Unavailable);
    EXPECT_TRUE(std::get<DesktopPage>(*execute(ListDesktops{})).desktops.empty());
}

TEST_F(ServiceTest, AnUnknownDesktopIsNotFoundAndABadNameIsWrong) {
    EXPECT_EQ(execute(GetDesktop{"nobody"}).error().code, Errc::NotFound);
    EXPECT_EQ(execute(DeleteDesktop{"../etc"}).error().code, Errc::InvalidArgument);
}

TEST_F(ServiceTest, EachCommandLeavesOneRowAndNoTypedText) {
    (void)execute(ListDesktops{});
    (void)execute(Act{"nobody", {TypeAction{"my secret"}}}, Scope::Agent);
    const auto rows = audit();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].command, "desktop.list");
    EXPECT_EQ(rows[1].outcome, "ok");
    EXPECT_EQ(rows[0].outcome, "not_found");
    EXPECT_EQ(rows[0].token, "t-test");
    for (const auto& row : rows) EXPECT_EQ(row.detail.find("secret"), std::string::npos);
}

TEST_F(ServiceTest, ARowWhoseTemplateIsGoneIsShownAsFailedAndCanBeDeleted) {
    db::DesktopRow row{.id = DesktopId::parse("d-0123456789").value(),
                       .name = DesktopName::parse("old").value(),
                       .image = TemplateName::parse("desktop").value(),
                       .template_hash = "gone",
                       .state = "running",
                       .vm_uuid = "00000000-0000-4000-8000-000000000000",
                       .created_at = WallTime{}};
    ASSERT_TRUE(stores_->desktops.insert(row));
    ASSERT_TRUE(loop_.run_until_complete(service_->recover()));
    const auto found = execute(GetDesktop{"old"});
    ASSERT_TRUE(found);
    EXPECT_EQ(std::get<DesktopInfo>(*found).state, State::Failed);
    EXPECT_TRUE(std::get<DesktopInfo>(*found).reason);
    EXPECT_EQ(execute(TakeScreenshot{"old"}).error().code, Errc::Conflict);
    ASSERT_TRUE(execute(DeleteDesktop{"old"}));
    EXPECT_EQ(execute(GetDesktop{"old"}).error().code, Errc::NotFound);
}

TEST_F(ServiceTest, FoldersWithoutARowAreRemovedAtTheStart) {
    ASSERT_TRUE(make_directories(host_->config.desktops() / "d-aaaaaaaaaa"));
    ASSERT_TRUE(make_directories(host_->run_folder("d-bbbbbbbbbb")));
    ASSERT_TRUE(make_directories(host_->run_folder("bake")));
    ASSERT_TRUE(make_directories(host_->config.templates / "mine-0123.partial"));
    ASSERT_TRUE(loop_.run_until_complete(service_->recover()));
    EXPECT_FALSE(std::filesystem::exists(host_->config.desktops() / "d-aaaaaaaaaa"));
    EXPECT_FALSE(std::filesystem::exists(host_->run_folder("d-bbbbbbbbbb")));
    EXPECT_FALSE(std::filesystem::exists(host_->run_folder("bake")));
    EXPECT_FALSE(std::filesystem::exists(host_->config.templates / "mine-0123.partial"));
}

}  // namespace
}  // namespace dormouse::desktop
