// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "hostd/base/config.h"
#include "hostd/base/file.h"
#include "hostd/base/id.h"
#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/base/secret.h"

namespace dormouse {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "dormouse-test-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    fs::path folder_;
};

TEST(Id, TakesOnlyTheOneShape) {
    EXPECT_TRUE(DesktopId::parse("d-1a2b3c"));
    EXPECT_TRUE(DesktopId::parse("a"));
    EXPECT_TRUE(DesktopId::parse(std::string(40, 'a')));
    for (const auto* bad : {"", "A", "1a", "-a", "a_b", "a/b", "..", "a.b", "a b", "\xc3\xa4", "a\n"})
        EXPECT_FALSE(DesktopId::parse(bad)) << bad;
    EXPECT_FALSE(DesktopId::parse(std::string(41, 'a')));
    EXPECT_FALSE(DesktopId::parse(std::string_view{"a\0b", 3}));
}

TEST(Id, AnErrorShowsNoControlCharacters) {
    const auto result = DesktopName::parse("x\x1b[31mred");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message.find('\x1b'), std::string::npos);
    EXPECT_FALSE(result.error().hint.empty());
}

TEST(Secret, ComparesWholeValues) {
    const Secret secret{"abc"};
    EXPECT_TRUE(secret.equals("abc"));
    EXPECT_FALSE(secret.equals("abd"));
    EXPECT_FALSE(secret.equals("ab"));
    EXPECT_FALSE(secret.equals(""));
}

TEST(Random, UuidsAreOfVersionFourAndDiffer) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const auto uuid = random_uuid();
        ASSERT_EQ(uuid.size(), 36u);
        EXPECT_EQ(uuid[14], '4');
        EXPECT_NE(std::string{"89ab"}.find(uuid[19]), std::string::npos);
        seen.insert(uuid);
    }
    EXPECT_EQ(seen.size(), 100u);
}

TEST(Log, AValueCannotForgeALine) {
    EXPECT_EQ(log::format_line("vm.started", {{"desktop", "d-1"}, {"pid", 42}}),
              "vm.started desktop=d-1 pid=42");
    EXPECT_EQ(log::format_line("x", {{"what", "a b\n2026 error \"q\""}}),
              "x what=\"a b\\x0a2026 error \\\"q\\\"\"");
    EXPECT_EQ(log::format_line("x", {{"what", ""}}), "x what=\"\"");
}

TEST_F(TemporaryFolder, AFileIsReplacedWhole) {
    const auto file = folder_ / "a";
    ASSERT_TRUE(write_file_atomic(file, "one"));
    ASSERT_TRUE(write_file_atomic(file, "two", 0644));
    EXPECT_EQ(read_file(file).value(), "two");
    EXPECT_EQ(fs::status(file).permissions(), fs::perms{0644});
    EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}), 1);
}

TEST_F(TemporaryFolder, ReadingIsLimitedAndAbsenceIsNamed) {
    ASSERT_TRUE(write_file_atomic(folder_ / "a", std::string(100, 'x')));
    EXPECT_EQ(read_file(folder_ / "a", 99).error().code, Errc::TooLarge);
    const auto absent = read_file(folder_ / "nothing");
    EXPECT_EQ(absent.error().code, Errc::NotFound);
    EXPECT_NE(absent.error().message.find("nothing"), std::string::npos);
}

TEST_F(TemporaryFolder, ALockIsHeldByOne) {
    auto first = lock_file(folder_ / "lock");
    ASSERT_TRUE(first);
    EXPECT_EQ(lock_file(folder_ / "lock").error().code, Errc::Conflict);
    first->reset();
    EXPECT_TRUE(lock_file(folder_ / "lock"));
}

TEST_F(TemporaryFolder, ConfigurationComesFromTheFileAndTheEnvironmentWins) {
    ::setenv("DORMOUSE_HOME", folder_.c_str(), 1);
    ::unsetenv("DORMOUSE_LISTEN");
    ASSERT_TRUE(write_file_atomic(folder_ / "config.toml", "listen = \"127.0.0.1:9001\"\n"));
    EXPECT_EQ(load_config()->listen_port, 9001);
    ::setenv("DORMOUSE_LISTEN", "[::1]:9002", 1);
    EXPECT_EQ(load_config()->url(), "http://[::1]:9002");
    ::unsetenv("DORMOUSE_LISTEN");

    ASSERT_TRUE(write_file_atomic(folder_ / "config.toml",
                                  "[network]\nallow = [\"10.1.2.3:80\"]\ndns = \"10.1.2.53:53\"\n"));
    EXPECT_EQ(load_config()->network_allow, std::vector<std::string>{"10.1.2.3:80"});
    EXPECT_EQ(load_config()->network_dns, "10.1.2.53:53");
    ::setenv("DORMOUSE_NETWORK_ALLOW", "127.0.0.1:1,127.0.0.1:2,", 1);
    EXPECT_EQ(load_config()->network_allow, (std::vector<std::string>{"127.0.0.1:1", "127.0.0.1:2"}));
    ::unsetenv("DORMOUSE_NETWORK_ALLOW");
    for (const auto* wrong : {"allow = [1]", "allow = \"10.1.2.3:80\"", "dns = 53", "deny = []"}) {
        ASSERT_TRUE(write_file_atomic(folder_ / "config.toml", std::string{"[network]\n"} + wrong + "\n"));
        EXPECT_FALSE(load_config()) << wrong;
    }

    ASSERT_TRUE(write_file_atomic(folder_ / "config.toml", "lisen = 1\n"));
    const auto unknown = load_config();
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("lisen"), std::string::npos);
    ASSERT_TRUE(write_file_atomic(folder_ / "config.toml", "listen = \n"));
    EXPECT_FALSE(load_config());
    ::unsetenv("DORMOUSE_HOME");
}

TEST_F(TemporaryFolder, SourceOfPicturesIsASetting) {
    ::setenv("DORMOUSE_HOME", folder_.c_str(), 1);
    ::unsetenv("DORMOUSE_DISPLAY_SOURCE");
    EXPECT_EQ(load_config()->display_source, DisplaySource::Auto);
    ASSERT_TRUE(write_file_atomic(folder_ / "config.toml", "[display]\nsource = \"vnc\"\n"));
    EXPECT_EQ(load_config()->display_source, DisplaySource::Vnc);
    ::setenv("DORMOUSE_DISPLAY_SOURCE", "dbus", 1);
    EXPECT_EQ(load_config()->display_source, DisplaySource::Dbus);
    ::setenv("DORMOUSE_DISPLAY_SOURCE", "x11", 1);
    EXPECT_FALSE(load_config());
    ::unsetenv("DORMOUSE_DISPLAY_SOURCE");
    for (const auto* bad : {"display = \"vnc\"\n", "[display]\nsource = 1\n", "[display]\nsource = \"x11\"\n",
                            "[display]\nsauce = \"vnc\"\n"}) {
        ASSERT_TRUE(write_file_atomic(folder_ / "config.toml", bad));
        const auto refused = load_config();
        ASSERT_FALSE(refused) << bad;
        EXPECT_FALSE(refused.error().hint.empty());
    }
    ::unsetenv("DORMOUSE_HOME");
}

TEST(Config, AddressesAreCheckedWhole) {
    Config config;
    for (const auto* bad :
         {"", "8760", ":8760", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "h:1x", "h:-1"})
        EXPECT_FALSE(parse_listen(bad, config)) << bad;
    EXPECT_TRUE(parse_listen("localhost:80", config));
}

}  // namespace
}  // namespace dormouse
