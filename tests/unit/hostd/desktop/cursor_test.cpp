// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/cursor.h"

#include <gtest/gtest.h>

namespace dormouse::desktop {
namespace {

TEST(Cursor, ComesBackAsItWas) {
    for (const auto& cursor : {Cursor{0, ""}, Cursor{1'796'043'194'250, "d-1a2b3c4d5e"}, Cursor{-5, "a b"}}) {
        const auto text = encode_cursor('d', cursor);
        EXPECT_EQ(text.find_first_of("+/= &"), std::string::npos) << "goes into a query as it is: " << text;
        EXPECT_EQ(*decode_cursor('d', text), cursor);
    }
}

TEST(Cursor, OfAnotherListOrMadeUpIsRefused) {
    const auto text = encode_cursor('d', {7, "x"});
    EXPECT_EQ(decode_cursor('a', text).error().code, Errc::InvalidArgument);
    for (const std::string& bad : {std::string{}, std::string{"ZA"}, text + "=", text + "!", text.substr(1),
                                   std::string(300, 'A'), std::string{"ZDc"}, std::string{"ZHggeA"}})
        EXPECT_FALSE(decode_cursor('d', bad)) << bad;
}

}  // namespace
}  // namespace dormouse::desktop
