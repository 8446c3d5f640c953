// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/picture_query.h"

#include <gtest/gtest.h>

#include "hostd/wsio/http_target.h"

namespace dormouse::api {
namespace {

Result<schema::PictureOptions> read(const std::string& query) {
    const auto target = wsio::parse_target("/x?" + query);
    EXPECT_TRUE(target) << query;
    wsio::HttpRequest request;
    request.query = target->query;
    QueryReader reader{request};
    const auto options = read_picture_query(reader);
    DORMOUSE_TRY(reader.finish());
    return options;
}

std::string mistake(const std::string& query) {
    const auto options = read(query);
    return options ? "" : options.error().message + " | " + options.error().hint;
}

TEST(PictureQuery, NothingAskedIsTheWholeScreenAsItIs) {
    EXPECT_EQ(*read(""), schema::PictureOptions{});
}

TEST(PictureQuery, ReadsARegionToTheLastDigit) {
    EXPECT_EQ(read("region=0,0,1,1")->region, (schema::Region{0, 0, 1, 1}));
    EXPECT_EQ(read("region=8192,1,8192,8192")->region, (schema::Region{8192, 1, 8192, 8192}));
    EXPECT_EQ(read("region=1%2C2%2C3%2C4")->region, (schema::Region{1, 2, 3, 4}));
    for (const auto* bad : {"1,2,3", "1,2,3,4,5", "1,2,3,", ",1,2,3", "1,,3,4", "1%20,2,3,4", "+1,2,3,4",
                            "1,2,3,4x", "1;2;3;4", "99999999999,0,1,1", "0x1,2,3,4", ","})
        EXPECT_NE(mistake(std::string{"region="} + bad).find("x,y,width,height"), std::string::npos) << bad;
    for (const auto* bad : {"-1,0,5,5", "0,0,0,5", "0,0,5,0", "0,0,8193,5", "8193,0,1,1"})
        EXPECT_NE(mistake(std::string{"region="} + bad).find("8192"), std::string::npos) << bad;
}

TEST(PictureQuery, SaysWhatIsWrongAndWhatThereIs) {
    EXPECT_EQ(
        mistake("sclae=0.5"),
        "query.sclae: unknown parameter | parameters: format, region, scale, max_width, max_height, quality, "
        "max_bytes, cursor");
    EXPECT_NE(mistake("format=gif").find("png, jpeg, webp"), std::string::npos);
    EXPECT_NE(mistake("scale=0.04").find("0.05 to 1"), std::string::npos);
    EXPECT_NE(mistake("scale=nan").find("0.05 to 1"), std::string::npos);
    EXPECT_NE(mistake("max_width=0").find("1 to 8192"), std::string::npos);
    EXPECT_NE(mistake("format=jpeg&quality=101").find("1 to 100"), std::string::npos);
    EXPECT_NE(mistake("quality=50").find("quality"), std::string::npos);
    EXPECT_NE(mistake("max_bytes=999").find("1000"), std::string::npos);
    EXPECT_NE(mistake("cursor=maybe").find("true or false"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::api
