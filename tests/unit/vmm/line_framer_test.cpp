// SPDX-License-Identifier: Apache-2.0
#include "vmm/line_framer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dormouse::vmm {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> take_all(LineFramer& framer) {
    std::vector<std::string> lines;
    while (auto line = framer.next()) lines.push_back(*line);
    return lines;
}

TEST(LineFramer, GivesTheSameLinesHoweverTheBytesAreCut) {
    const std::string stream = "{\"a\":1}\r\n\r\n{\"b\":\"two\"}\nrest";
    for (std::size_t cut = 1; cut <= stream.size(); ++cut) {
        LineFramer framer{64};
        std::vector<std::string> lines;
        for (std::size_t at = 0; at < stream.size(); at += cut) {
            framer.feed(std::string_view{stream}.substr(at, cut));
            for (auto& line : take_all(framer)) lines.push_back(line);
        }
        EXPECT_THAT(lines, ElementsAre("{\"a\":1}", "", "{\"b\":\"two\"}")) << "pieces of " << cut;
    }
}

TEST(LineFramer, SkipsALineThatIsTooLongAndGoesOnAfterIt) {
    for (const std::size_t cut : {1U, 3U, 7U, 100U}) {
        LineFramer framer{8};
        const std::string stream = "12345678\n123456789\nshort\nmuch too long for this\nend\n";
        for (std::size_t at = 0; at < stream.size(); at += cut)
            framer.feed(std::string_view{stream}.substr(at, cut));
        EXPECT_THAT(take_all(framer), ElementsAre("12345678", "short", "end")) << "pieces of " << cut;
        EXPECT_EQ(framer.skipped(), 2U);
    }
}

TEST(LineFramer, HoldsNoMoreThanTheLimitOfAnEndlessLine) {
    LineFramer framer{1000};
    for (int i = 0; i < 10'000; ++i) framer.feed("0123456789");
    EXPECT_EQ(framer.skipped(), 1U);
    EXPECT_FALSE(framer.next());
    framer.feed("\nfine\n");
    EXPECT_THAT(take_all(framer), ElementsAre("fine"));
}

}  // namespace
}  // namespace dormouse::vmm
