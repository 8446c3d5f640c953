// SPDX-License-Identifier: Apache-2.0
// The query of a screenshot as a client could send it, from its bytes on: must
// never crash, and what it lets through must be within the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hostd/api/picture_query.h"
#include "hostd/wsio/http_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dormouse;
    const std::string text{reinterpret_cast<const char*>(data), size};
    const auto target = wsio::parse_target("/v1/desktops/a/screenshot?" + text);
    if (!target) return 0;
    wsio::HttpRequest request;
    request.query = target->query;
    api::QueryReader query{request};
    const auto options = api::read_picture_query(query);
    if (!query.finish()) return 0;
    const auto side_fits = [](int side) { return side >= 0 && side <= schema::kLargestPicture; };
    bool good = options.scale >= schema::kSmallestScale && options.scale <= 1 &&
                side_fits(options.max_width) && side_fits(options.max_height) && options.quality >= 0 &&
                options.quality <= 100 && options.max_bytes <= schema::kMostBytes;
    if (const auto& region = options.region)
        good = good && side_fits(region->x) && side_fits(region->y) && side_fits(region->width - 1) &&
               side_fits(region->height - 1);
    if (!good) std::abort();
    return 0;
}
