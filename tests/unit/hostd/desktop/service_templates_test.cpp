// SPDX-License-Identifier: Apache-2.0
// Templates as the service keeps them. Real bakes are the end-to-end tests' business.
#include <gmock/gmock.h>

#include "db/database.h"
#include "hostd/base/file.h"
#include "hostd/desktop/service.h"
#include "tests/unit/hostd/desktop/temporary_folder.h"

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

TemplateName name_of(const char* text) {
    return TemplateName::parse(text).value();
}

class ServiceTemplates : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        Config config;
        config.home = folder_;
        config.run = folder_ / "run";
        config.templates = folder_ / "templates";
        host_.emplace(Host{.config = config, .loop = loop_, .pool = pool_});
        host_->data_folder = DORMOUSE_SOURCE_DIR;
        host_->keeper_binary = folder_ / "dormouse-keeper";
        ASSERT_TRUE(prepare_folders(*host_));
        database_ = db::Database::open(config.database()).value();
        stores_.emplace(open_stores(*database_).value());
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
            service_->execute(std::move(command), Caller{"t-test", scope}, Cancel{}));
    }
    Template make(const char* name, const char* hash) {
        const TemplateStore store{host_->config.templates};
        Template made{.name = name_of(name),
                      .hash = hash,
                      .folder = store.folder_of(name_of(name), hash),
                      .memory_mib = 1024,
                      .cpus = 1,
                      .screen_width = 800,
                      .screen_height = 600,
                      .user = "user"};
        EXPECT_TRUE(make_directories(made.folder));
        EXPECT_TRUE(write_template_manifest(made));
        EXPECT_TRUE(write_file_atomic(made.recipe_file(), "# the recipe\n"));
        EXPECT_TRUE(write_file_atomic(made.bake_log(), "one\ntwo\n"));
        EXPECT_TRUE(store.publish(made));
        return made;
    }
    void stand_on(const Template& image, const char* id, const char* name) {
        db::DesktopRow row{.id = DesktopId::parse(id).value(),
                           .name = DesktopName::parse(name).value(),
                           .image = image.name,
                           .template_hash = image.hash,
                           .state = "stopped",
                           .vm_uuid = "00000000-0000-4000-8000-000000000000",
                           .created_at = WallTime{}};
        ASSERT_TRUE(stores_->desktops.insert(row));
        ASSERT_TRUE(loop_.run_until_complete(service_->recover()));
    }
    std::string refusal(Command command, Scope scope = Scope::Admin) {
        const auto answer = execute(std::move(command), scope);
        return answer ? "" : fmt::format("{}: {}", errc_name(answer.error().code), answer.error().message);
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

TEST_F(ServiceTemplates, AreListedWithTheDesktopsThatStandOnThem) {
    stand_on(make("mine", "aaaa"), "d-0000000001", "first");
    make("other", "bbbb");
    const auto all = std::get<std::vector<TemplateInfo>>(*execute(ListTemplates{}, Scope::Agent));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name.str(), "mine");
    EXPECT_EQ(all[0].desktops, 1);
    EXPECT_EQ(all[1].desktops, 0);
    EXPECT_FALSE(all[0].recipe);
}

TEST_F(ServiceTemplates, ShowTheRecipeAndTheLogOnlyToWhoMayBuild) {
    make("mine", "aaaa");
    EXPECT_EQ(std::get<TemplateInfo>(*execute(GetTemplate{name_of("mine")})).recipe, "# the recipe\n");
    EXPECT_FALSE(std::get<TemplateInfo>(*execute(GetTemplate{name_of("mine")}, Scope::Agent)).recipe);
    const auto log = std::get<OperationLog>(*execute(GetTemplateLog{name_of("mine"), 4}));
    EXPECT_EQ(log.text, "two\n");
    EXPECT_EQ(log.next_offset, 8U);
    EXPECT_TRUE(log.finished);
    EXPECT_EQ(std::get<OperationLog>(*execute(GetTemplateLog{name_of("mine"), 1000})).text, "");
    EXPECT_THAT(refusal(GetTemplateLog{name_of("mine"), 0}, Scope::Agent), HasSubstr("denied"));
    EXPECT_THAT(refusal(GetTemplate{name_of("none")}), HasSubstr("not_found"));
}

TEST_F(ServiceTemplates, AreNotRemovedWhileDesktopsStandOnThem) {
    const auto image = make("mine", "aaaa");
    stand_on(image, "d-0000000001", "first");
    EXPECT_EQ(refusal(DeleteTemplate{name_of("mine")}),
              "conflict: desktops stand on template 'mine': 'first'");
    EXPECT_THAT(refusal(DeleteTemplate{name_of("mine")}, Scope::Agent), HasSubstr("denied"));
    EXPECT_TRUE(std::filesystem::exists(image.folder));
    // Baked again, the desktop keeps its own bake.
    const auto newer = make("mine", "bbbb");
    ASSERT_TRUE(execute(DeleteTemplate{name_of("mine")}));
    EXPECT_TRUE(std::filesystem::exists(image.folder));
    EXPECT_FALSE(std::filesystem::exists(newer.folder));
    EXPECT_THAT(refusal(DeleteTemplate{name_of("mine")}), HasSubstr("not_found"));
}

TEST_F(ServiceTemplates, TheBuiltInOneStays) {
    make("desktop", "aaaa");
    EXPECT_EQ(refusal(DeleteTemplate{name_of("desktop")}), "conflict: 'desktop' is built in and stays");
}

TEST_F(ServiceTemplates, ARecipeThatIsWrongIsRefusedBeforeAnythingBegins) {
    EXPECT_THAT(refusal(BuildTemplate{"name = 3", {}}), HasSubstr("invalid_argument: line 1: 'name'"));
    EXPECT_THAT(refusal(BuildTemplate{"name = \"desktop\"\nfrom = \"desktop\"", {}}),
                HasSubstr("built-in template"));
    EXPECT_THAT(refusal(BuildTemplate{"from = \"desktop\"", {}}, Scope::Agent), HasSubstr("denied"));
    host_->data_folder.clear();
    EXPECT_THAT(refusal(BuildTemplate{"name = \"a\"\nfrom = \"desktop\"", {}}), HasSubstr("unavailable"));
    EXPECT_TRUE(std::get<std::vector<OperationInfo>>(*execute(ListOperations{})).empty());
}

TEST_F(ServiceTemplates, ABuildThatCannotBeginFailsAsAnOperation) {
    // There is no guest agent to put in.
    const auto begun = execute(BuildTemplate{"name = \"mine\"\nfrom = \"desktop\"", {}});
    ASSERT_TRUE(begun) << begun.error().message;
    const auto id = std::get<OperationInfo>(*begun).id;
    EXPECT_EQ(std::get<OperationInfo>(*begun).image, name_of("mine"));
    const auto ended = std::get<OperationInfo>(*execute(GetOperation{id, std::chrono::seconds{30}}));
    EXPECT_EQ(ended.state, OperationState::Failed);
    EXPECT_THAT(ended.error->message, HasSubstr("dormouse-guestd"));
    EXPECT_THAT(refusal(GetTemplate{name_of("mine")}), HasSubstr("not_found"));
}

}  // namespace
}  // namespace dormouse::desktop
