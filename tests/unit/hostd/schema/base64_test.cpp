// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/base64.h"

#include <gtest/gtest.h>

namespace dormouse::schema {
namespace {

TEST(Base64, MakesTheExamplesOfTheRfc) {
    const std::pair<std::string, std::string> examples[] = {{"", ""},
                                                            {"f", "Zg=="},
                                                            {"fo", "Zm8="},
                                                            {"foo", "Zm9v"},
                                                            {"foob", "Zm9vYg=="},
                                                            {"fooba", "Zm9vYmE="},
                                                            {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : examples) {
        EXPECT_EQ(encode_base64(bytes), text);
        EXPECT_EQ(decode_base64(text).value(), bytes);
    }
}

TEST(Base64, BringsBackEveryByte) {
    std::string bytes;
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(decode_base64(encode_base64(bytes)).value(), bytes);
        bytes += static_cast<char>(i * 7);
    }
}

TEST(Base64, TakesNothingElse) {
    for (const auto* text : {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "=Zg=", "Zm9v\n", "Zm 9", "Zm-_",
                             "Zh==", "Zm9=", "Zg==Zg==", "\x80zzz"})
        EXPECT_FALSE(decode_base64(text)) << text;
}

}  // namespace
}  // namespace dormouse::schema
