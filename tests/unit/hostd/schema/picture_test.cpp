// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/picture.h"

#include <gmock/gmock.h>

#include "hostd/schema/reader.h"

namespace dormouse::schema {
namespace {

using testing::HasSubstr;

Result<PictureOptions> read(std::string_view text) {
    return read_request<PictureOptions>(text, [](ObjectReader& in) { return read_picture_options(in); });
}

TEST(PictureOptions, ThatAreLeftOutMeanTheWholeScreenAsPng) {
    const auto options = read("{}");
    ASSERT_TRUE(options);
    EXPECT_EQ(*options, PictureOptions{});
    EXPECT_EQ(write_json(encode(*options)), "{}");
}

TEST(PictureOptions, AreWrittenAsTheyAreRead) {
    const std::string text =
        R"({"format":"jpeg","region":{"x":1,"y":2,"width":30,"height":40},"scale":0.5,"max_width":640,)"
        R"("max_height":400,"quality":80,"max_bytes":50000,"cursor":true})";
    const auto options = read(text);
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->format, PictureFormat::Jpeg);
    EXPECT_EQ(options->region, (Region{1, 2, 30, 40}));
    EXPECT_EQ(options->max_bytes, 50000u);
    EXPECT_EQ(write_json(encode(*options)), text);
}

TEST(PictureOptions, ThatMakeNoSenseAreRefusedByTheNameOfTheField) {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"format":"gif"})", "format: "},
        {R"({"scale":0.01})", "scale: must be a number from 0.05 to 1"},
        {R"({"scale":2})", "scale: "},
        {R"({"region":{"x":0,"y":0,"width":0,"height":1}})", "region.width: "},
        {R"({"region":{"x":0,"y":0,"width":1}})", "region.height"},
        {R"({"max_width":0})", "max_width: "},
        {R"({"quality":101,"format":"webp"})", "quality: "},
        {R"({"quality":50})", "quality: PNG has none"},
        {R"({"max_bytes":10})", "max_bytes: "},
        {R"({"cursor":"yes"})", "cursor: "},
        {R"({"colour":true})", "colour: unknown field"},
    };
    for (const auto& [text, message] : cases) {
        const auto options = read(text);
        ASSERT_FALSE(options) << text;
        EXPECT_EQ(options.error().code, Errc::InvalidArgument);
        EXPECT_THAT(options.error().message, HasSubstr(message));
    }
}

}  // namespace
}  // namespace dormouse::schema
