// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/recipe.h"

#include <gmock/gmock.h>

#include "hostd/base/file.h"

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

constexpr const char* kSmall = R"(
name = "small"
suite = "bookworm"
[machine]
memory_mib = 1024
screen = "800x600"
kernel_arguments = "root=/dev/vda rw"
[packages]
install = ["xterm", "libstdc++6"]
[files]
overlay = "assets/guest"
[system]
user = "user"
commands = ["true"]
)";

constexpr const char* kOwn = R"(name = "mine"
from = "small"
machine.screen = "1024x768"
packages.install = ["sl"]
files.add = [{ path = "/etc/motd", content = "hello\n" }]
system.commands = ["touch /root/marker", { run = "echo hi", as = "user" }]
)";

constexpr const char* kKey =
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\\n\\nabc\\n-----END PGP PUBLIC KEY BLOCK-----\\n";

RecipeSurroundings surroundings() {
    return {.data_folder = "/source",
            .built_in = [](const TemplateName& name) -> Result<std::string> {
                if (name.str() == "small") return std::string{kSmall};
                if (name.str() == "grandchild") return std::string{kOwn};
                return fail(Errc::NotFound, fmt::format("there is no built-in recipe '{}'", name.str()),
                            "there is 'small'");
            },
            .name = {}};
}

Result<Recipe> parse(std::string_view text) {
    return parse_recipe(text, surroundings());
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Recipe, IsReadWithItsDefaults) {
    const auto recipe = parse(kSmall);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(recipe->name.str(), "small");
    EXPECT_EQ(recipe->memory_mib, 1024);
    EXPECT_EQ(recipe->cpus, 2);
    EXPECT_EQ(recipe->screen_width, 800);
    EXPECT_EQ(recipe->screen_height, 600);
    EXPECT_EQ(recipe->overlay, "/source/assets/guest");
    EXPECT_EQ(recipe->packages, (std::vector<std::string>{"xterm", "libstdc++6"}));
    EXPECT_EQ(recipe->keyboard, "us");
    EXPECT_FALSE(recipe->parent);
    ASSERT_EQ(recipe->commands.size(), 1u);
    EXPECT_EQ(recipe->commands[0].line, 14);
    EXPECT_FALSE(recipe->commands[0].as_user);
}

TEST(Recipe, AllThatAreInTheSourcesAreGood) {
    const std::filesystem::path source{DORMOUSE_SOURCE_DIR};
    int count = 0;
    for (const char* folder : {"assets/templates", "assets/templates/examples"}) {
        for (const auto& entry : std::filesystem::directory_iterator{source / folder}) {
            if (entry.path().extension() != ".toml") continue;
            auto text = read_file(entry.path()).value();
            // A file beside the recipe, which the command line packs.
            const auto key = text.find("google-chrome.asc\"\n");
            if (key != std::string::npos) text.replace(key, 17, kKey);
            const auto recipe = parse_recipe(text, surroundings_in(source));
            ASSERT_TRUE(recipe) << entry.path() << ": " << recipe.error().message;
            EXPECT_TRUE(std::filesystem::is_directory(recipe->overlay));
            ++count;
        }
    }
    EXPECT_GE(count, 4);
}

TEST(Recipe, InheritsFromABuiltInOne) {
    const auto recipe = parse(kOwn);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(recipe->name.str(), "mine");
    EXPECT_EQ(recipe->parent->str(), "small");
    EXPECT_EQ(recipe->suite, "bookworm");
    EXPECT_EQ(recipe->user, "user");
    EXPECT_EQ(recipe->memory_mib, 1024);
    EXPECT_EQ(recipe->screen_width, 1024);
    EXPECT_EQ(recipe->overlay, "/source/assets/guest");
    // The parent's packages are one set that is kept; ours come on top.
    EXPECT_EQ(recipe->packages, (std::vector<std::string>{"xterm", "libstdc++6"}));
    EXPECT_EQ(recipe->added_packages, (std::vector<std::string>{"sl"}));
    ASSERT_EQ(recipe->files.size(), 1u);
    EXPECT_EQ(recipe->files[0].path, "/etc/motd");
    EXPECT_EQ(recipe->files[0].content, "hello\n");
    EXPECT_EQ(recipe->files[0].mode, 0644u);
    ASSERT_EQ(recipe->commands.size(), 3u);
    EXPECT_EQ(recipe->commands[0].text, "true");
    EXPECT_EQ(recipe->commands[0].recipe, "small");
    EXPECT_EQ(recipe->commands[1].recipe, "mine");
    EXPECT_EQ(recipe->commands[1].line, 6);
    EXPECT_FALSE(recipe->commands[1].as_user);
    EXPECT_TRUE(recipe->commands[2].as_user);
}

TEST(Recipe, MayGetItsNameFromOutside) {
    auto around = surroundings();
    around.name = TemplateName::parse("other").value();
    const auto without = parse_recipe("from = \"small\"\n", around);
    ASSERT_TRUE(without) << without.error().message;
    EXPECT_EQ(without->name.str(), "other");
    const auto instead = parse_recipe(kOwn, around);
    ASSERT_TRUE(instead);
    EXPECT_EQ(instead->name.str(), "other");
    EXPECT_EQ(instead->commands[2].recipe, "other");
    EXPECT_FALSE(parse("from = \"small\"\n")) << "without a name of either kind";
}

TEST(Recipe, NamesArchivesWithTheirKeys) {
    const auto text = std::string{kOwn} + fmt::format(R"(
[[repositories]]
name = "browser"
uri = "https://dl.example.org/linux/deb/"
suites = ["stable"]
components = ["main"]
key = "{}"
install = ["browser-stable"]
)",
                                                      kKey);
    const auto recipe = parse(text);
    ASSERT_TRUE(recipe) << recipe.error().message;
    ASSERT_EQ(recipe->repositories.size(), 1u);
    EXPECT_EQ(recipe->repositories[0].uri, "https://dl.example.org/linux/deb/");
    EXPECT_EQ(recipe->repositories[0].packages, (std::vector<std::string>{"browser-stable"}));
}

TEST(Recipe, TakesFilesThatTheCommandLineHasPacked) {
    const auto recipe = parse(with(
        kOwn, R"({ path = "/etc/motd", content = "hello\n" })",
        R"({ path = "/opt/tool", owner = "user", source = [{path = "bin/run", mode = "0755", data = "AAEC"}, {path = "note", data = ""}] })"));
    ASSERT_TRUE(recipe) << recipe.error().message;
    ASSERT_EQ(recipe->files.size(), 2u);
    EXPECT_EQ(recipe->files[0].path, "/opt/tool/bin/run");
    EXPECT_EQ(recipe->files[0].content, std::string("\0\1\2", 3));
    EXPECT_EQ(recipe->files[0].mode, 0755u);
    EXPECT_TRUE(recipe->files[0].is_users);
    EXPECT_EQ(recipe->files[1].mode, 0644u);
}

struct Mistake {
    const char* from;
    const char* to;
    const char* expected;
};

void expect_refused(const char* base, const Mistake& one) {
    const auto recipe = parse(with(base, one.from, one.to));
    ASSERT_FALSE(recipe) << one.to;
    EXPECT_EQ(recipe.error().code, Errc::InvalidArgument);
    EXPECT_THAT(recipe.error().message, HasSubstr(one.expected)) << one.to;
}

TEST(Recipe, WhatIsWrongIsNamedWithItsLine) {
    const Mistake mistakes[] = {
        {"name = \"small\"", "name = \"Small\"", "line 2: 'name' is 'Small'"},
        {"name = \"small\"", "name = \"../small\"", "line 2: 'name'"},
        {"name = \"small\"", "name = \"packages\"", "line 2: 'name' is 'packages'"},
        {"name = \"small\"", "name = 7", "line 2: 'name' must be a text"},
        {"name = \"small\"", "nam = \"small\"", "line 2: 'nam' is not a key"},
        {"name = \"small\"\n", "", "'name' is missing"},
        {"suite = \"bookworm\"\n", "", "'suite' is missing"},
        {"\"bookworm\"", "\"book worm\"", "line 3: 'suite'"},
        {"memory_mib = 1024", "memory_mib = 100",
         "line 5: 'machine.memory_mib' must be a whole number from 512 to 65536"},
        {"memory_mib = 1024", "memory_mib = 65537", "line 5"},
        {"memory_mib = 1024", "memory_mib = 1024.5", "line 5"},
        {"memory_mib = 1024", "cpus = 0", "from 1 to 32"},
        {"memory_mib = 1024", "disk_gib = 3", "from 4 to 2048"},
        {"memory_mib = 1024", "memory = 1024", "line 5: 'machine.memory'"},
        {"800x600", "800*600", "line 6: 'machine.screen' must be WIDTHxHEIGHT"},
        {"800x600", "10x10", "WIDTHxHEIGHT"},
        {"800x600", "801x600", "even numbers"},
        {"800x600", "3842x600", "3840x2160"},
        {"\"xterm\"", "\"--option\"", "line 9: 'packages.install' names '--option'"},
        {"\"xterm\"", "\"xterm-\"", "is not a package name"},
        {"\"xterm\"", "\"xterm=1\"", "is not a package name"},
        {"\"xterm\"", "3", "line 9: 'packages.install' must be a list of texts"},
        {"assets/guest", "/etc", "line 11: 'files.overlay' must be a folder below assets/"},
        {"assets/guest", "assets/../../etc", "below assets/"},
        {"assets/guest", "assets", "below assets/"},
        {"overlay = \"assets/guest\"\n", "", "'files.overlay' is missing"},
        {"user = \"user\"", "user = \"a b\"", "line 13: 'system.user'"},
        {"user = \"user\"", "user = \"root\"", "not root"},
        {"user = \"user\"", "user = \"user\"\nlocale = \"german\"",
         "line 14: 'system.locale' must be of the form"},
        {"user = \"user\"", "user = \"user\"\nlocale = \"de_DE\"", "de_DE.UTF-8"},
        {"user = \"user\"", "user = \"user\"\ntimezone = \"../Berlin\"", "line 14: 'system.timezone'"},
        {"user = \"user\"", "user = \"user\"\ntimezone = \"/etc/passwd\"", "line 14: 'system.timezone'"},
        {"user = \"user\"", "user = \"user\"\nkeyboard = \"de\\\"\"", "line 14: 'system.keyboard'"},
        {"\"true\"", "\"\"", "line 14: 'system.commands' has an entry that must not be empty"},
        {"\"true\"", "{ run = \"true\", as = \"nobody\" }",
         "line 14: 'system.commands.as' must be \"root\" or \"user\""},
        {"\"true\"", "{ as = \"user\" }", "'system.commands.run' is missing"},
        {"\"true\"", "{ run = \"true\", when = 1 }", "'system.commands.when' is not a key"},
        {"\"true\"", "\"a\\u0000b\"", "control character"},
        {"[files]", "[files", "line 10"},
    };
    for (const auto& one : mistakes) expect_refused(kSmall, one);
}

TEST(Recipe, WhatIsWrongInOnesOwnIsNamedWithItsLine) {
    const Mistake mistakes[] = {
        {"from = \"small\"", "from = \"large\"", "line 2: 'from': there is no built-in recipe 'large'"},
        {"from = \"small\"", "from = \"/etc/passwd\"",
         "line 2: 'from' must be the name of a built-in recipe"},
        {"from = \"small\"", "from = \"grandchild\"", "the recipe 'grandchild'"},
        {"from = \"small\"", "from = \"small\"\nsuite = \"sid\"", "line 3: 'suite' comes from the recipe"},
        {"packages.install", "system.user = \"me\"\npackages.install", "'system.user' comes from"},
        {"files.add", "files.overlay = \"assets/guest\"\nfiles.add", "'files.overlay' comes from"},
        {"\"/etc/motd\"", "\"etc/motd\"", "line 5: 'files.add.path' must be an absolute path"},
        {"\"/etc/motd\"", "\"/etc/../motd\"", "without '.' and '..'"},
        {"\"/etc/motd\"", "\"/etc//motd\"", "without '.' and '..'"},
        {"\"/etc/motd\"", "\"/\"", "line 5: 'files.add.path'"},
        {"\"/etc/motd\"", "\"/etc/motd/\"", "line 5: 'files.add.path'"},
        {"\"/etc/motd\"", "\"/etc/a\\nb\"", "must be one line"},
        {"\"/etc/motd\"", "\"/proc/sys/x\"", "what lies there is not kept"},
        {"\"/etc/motd\"", "\"/run\"", "what lies there is not kept"},
        {"content = \"hello\\n\"", "source = \"/etc/shadow\"",
         "line 5: 'files.add.source' names a file beside the recipe"},
        {"content = \"hello\\n\"", "source = [{path = \"../../x\", data = \"\"}]", "without '.' and '..'"},
        {"content = \"hello\\n\"", "source = [{path = \"x\", data = \"%\"}]",
         "'files.add.source.data' is not base64"},
        {"content = \"hello\\n\"", "content = \"\", source = []", "exclude each other"},
        {"content = \"hello\\n\"", "mode = \"644\"", "needs `content` or `source`"},
        {"content = \"hello\\n\"", "content = \"\", mode = \"9\"", "line 5: 'files.add.mode' must be octal"},
        {"content = \"hello\\n\"", "content = \"\", mode = 644", "'files.add.mode' must be a text"},
        {"content = \"hello\\n\"", "content = \"\", owner = \"daemon\"", "\"root\" or \"user\""},
        {"files.add = [{", "files.add = [3, {", "line 5: 'files.add' must be [[files.add]] tables"},
        {"files.add = ", "repositories = [{}]\nfiles.add = ", "'repositories.name' is missing"},
        {"files.add = ", "repositories = 3\nfiles.add = ", "line 5: 'repositories' must be a list"},
    };
    for (const auto& one : mistakes) expect_refused(kOwn, one);
}

TEST(Recipe, WhatIsWrongInARepositoryIsNamedWithItsLine) {
    const auto good = fmt::format(R"(name = "mine"
from = "small"
[[repositories]]
name = "browser"
uri = "https://dl.example.org/deb"
suites = ["stable"]
key = "{}"
)",
                                  kKey);
    ASSERT_TRUE(parse(good));
    const Mistake mistakes[] = {
        {"name = \"browser\"", "name = \"../browser\"", "line 4: 'repositories.name'"},
        {"https://dl.example.org/deb", "file:///etc", "line 5: 'repositories.uri' must be an http"},
        {"https://dl.example.org/deb", "https://me:secret@dl.example.org/deb", "without name and password"},
        {"https://dl.example.org/deb", "https://dl.example.org/deb\\nSigned-By: x",
         "line 5: 'repositories.uri'"},
        {"https://dl.example.org/deb", "https://", "line 5: 'repositories.uri'"},
        {"suites = [\"stable\"]\n", "", "line 3: 'repositories' needs `suites`"},
        {"[\"stable\"]", "[\"stable main\"]", "line 6: 'repositories.suites'"},
        {"[\"stable\"]", "[\"../..\"]", "line 6: 'repositories.suites'"},
        {"-----BEGIN", "----BEGIN", "line 7: 'repositories.key' must be the armoured key"},
        {"key = \"", "trusted = true\nkey = \"", "line 7: 'repositories.trusted' is not a key"},
    };
    for (const auto& one : mistakes) expect_refused(good.c_str(), one);
}

TEST(Recipe, HasLimits) {
    const auto many = [](int count, const char* item) {
        std::string list;
        for (int i = 0; i < count; ++i) list += (i ? ", " : "") + std::string{item};
        return "[" + list + "]";
    };
    EXPECT_TRUE(parse(with(kOwn, "[\"sl\"]", many(1000, "\"sl\""))));
    expect_refused(
        kOwn, {"[\"sl\"]", many(1001, "\"sl\"").c_str(), "line 4: 'packages.install' has more than 1000"});
    expect_refused(kSmall, {"[\"true\"]", many(201, "\"true\"").c_str(),
                            "line 14: 'system.commands' has more than 200"});
    const auto longest = "\"" + std::string(16 << 10, 'x') + "\"";
    EXPECT_TRUE(parse(with(kSmall, "\"true\"", longest)));
    expect_refused(kSmall, {"\"true\"", ("\"x" + longest.substr(1)).c_str(),
                            "line 14: 'system.commands' has an entry that has more"});
    expect_refused(kSmall, {"name = \"small\"",
                            ("name = \"small\"\ndescription = \"" + std::string(301, 'x') + "\"").c_str(),
                            "line 3: 'description' has more than 300"});
    const auto too_long = parse(std::string(kMostRecipeBytes + 1, '#'));
    ASSERT_FALSE(too_long);
    EXPECT_EQ(too_long.error().code, Errc::TooLarge);
}

}  // namespace
}  // namespace dormouse::desktop
