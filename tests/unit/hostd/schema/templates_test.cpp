// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "hostd/schema/schema.h"

namespace dormouse::schema {
namespace {

Template example() {
    Template image;
    image.name = "office";
    image.hash = "0123456789abcdef";
    image.description = "With a \"spreadsheet\"";
    image.parent = "desktop";
    image.created_at = WallTime{std::chrono::seconds{1'796'043'194}};
    image.screen = {1024, 768};
    image.memory_mib = 1024;
    image.cpus = 2;
    image.user = "user";
    image.locale = "de_DE.UTF-8";
    image.timezone = "Europe/Berlin";
    image.keyboard = "de";
    image.qemu = "7.2.22";
    image.accelerator = "tcg";
    image.size_bytes = 3'000'000'000;
    image.stale_reason = "changed since: the guest agent";
    image.desktops = 3;
    image.recipe = "name = \"office\"\n";
    return image;
}

TEST(TemplateJson, ComesBackAsItWas) {
    for (auto image : {example(), Template{}}) {
        const auto text = to_json(image);
        const auto back = parse<Template>(text);
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_EQ(to_json(*back), text);
    }
    const auto back = parse<Template>(to_json(example())).value();
    EXPECT_EQ(back.size_bytes, 3'000'000'000U);
    EXPECT_EQ(back.stale_reason, example().stale_reason);
    EXPECT_EQ(parse<TemplateList>(to_json(TemplateList{{example(), Template{}}})).value().templates.size(),
              2U);
}

TEST(BuildTemplateRequest, NeedsARecipeAndTakesNothingElse) {
    const auto request =
        parse<BuildTemplateRequest>(R"({"recipe":"from = \"desktop\"\n","name":"office"})").value();
    EXPECT_EQ(request.recipe, "from = \"desktop\"\n");
    EXPECT_EQ(request.name, "office");
    const auto said = [](const char* text) { return parse<BuildTemplateRequest>(text).error().message; };
    EXPECT_EQ(said(R"({"name":"office"})").substr(0, 6), "recipe");
    EXPECT_EQ(said(R"({"recipe":""})").substr(0, 6), "recipe");
    EXPECT_EQ(said(R"({"recipe":3})").substr(0, 6), "recipe");
    EXPECT_EQ(said(R"({"recipe":"x","file":"/etc/passwd"})").substr(0, 4), "file");
}

}  // namespace
}  // namespace dormouse::schema
