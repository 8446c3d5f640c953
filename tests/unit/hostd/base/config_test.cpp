// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "hostd/base/file.h"
#include "hostd/base/random.h"

namespace dormouse {
namespace {

using testing::HasSubstr;

class ConfigTest : public testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::create_directories(home_);
        ::setenv("DORMOUSE_HOME", home_.c_str(), 1);
        ::unsetenv("DORMOUSE_LISTEN");
    }
    void TearDown() override {
        ::unsetenv("DORMOUSE_HOME");
        std::filesystem::remove_all(home_);
    }
    Result<Config> load(const std::string& text) {
        EXPECT_TRUE(write_file_atomic(home_ / "config.toml", text));
        return load_config();
    }

    const std::filesystem::path home_ =
        std::filesystem::temp_directory_path() / ("dormouse-config-" + random_hex(6));
};

TEST_F(ConfigTest, ReadsWhereToListenAndTheLimits) {
    const auto config = load(
        "listen = \"127.0.0.1:9000\"\n[limits]\nrequests_per_second = 2.5\nburst = 5\nconcurrent = 3\n"
        "desktops = 7\ndesktops_per_token = 2\nevent_streams = 9\nevent_streams_per_token = 4\n"
        "[audit]\ndays = 10\nrows = 5000\n");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->listen_port, 9000);
    EXPECT_EQ(config->limits.requests_per_second, 2.5);
    EXPECT_EQ(config->limits.burst, 5);
    EXPECT_EQ(config->limits.concurrent, 3);
    EXPECT_EQ(config->limits.desktops, 7);
    EXPECT_EQ(config->limits.desktops_per_token, 2);
    EXPECT_EQ(config->limits.event_streams, 9);
    EXPECT_EQ(config->limits.event_streams_per_token, 4);
    EXPECT_EQ(config->audit.days, 10);
    EXPECT_EQ(config->audit.rows, 5000);
    EXPECT_EQ(load("")->limits.concurrent, LimitsConfig{}.concurrent);
}

TEST_F(ConfigTest, SaysWhichSettingIsWrongAndWhichThereAre) {
    const auto said = [&](const std::string& text) {
        const auto config = load(text);
        return config ? "" : config.error().message + " | " + config.error().hint;
    };
    EXPECT_THAT(said("[limits]\ndesktop = 1\n"), HasSubstr("config.toml: 'limits.desktop' is not a setting"));
    EXPECT_THAT(said("[limits]\ndesktop = 1\n"), HasSubstr("limits.desktops"));
    EXPECT_THAT(said("limits = 3\n"), HasSubstr("'limits' is not a setting"));
    EXPECT_THAT(said("[limits]\nburst = \"many\"\n"),
                HasSubstr("'limits.burst' is not a setting, or not of"));
    EXPECT_THAT(said("[limits]\nburst = 0\n"), HasSubstr("limits.burst must be from 1 to"));
    EXPECT_THAT(said("[audit]\ndays = 0\n"), HasSubstr("audit.days must be from 1"));
    EXPECT_THAT(said("listen = 8\n"), HasSubstr("'listen' is not a setting"));
    EXPECT_THAT(said("[limits\n"), HasSubstr("line 1"));
}

}  // namespace
}  // namespace dormouse
