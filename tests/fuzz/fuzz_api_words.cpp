// SPDX-License-Identifier: Apache-2.0
// What stands in a request outside of its body: the query with filters and
// cursors, ids of events, keys of requests that may come again. What is refused
// must make a message that JSON can carry.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hostd/api/event_streams.h"
#include "hostd/api/once.h"
#include "hostd/api/query.h"
#include "hostd/api/router.h"
#include "hostd/base/check.h"
#include "hostd/base/labels.h"
#include "hostd/base/utf8.h"
#include "hostd/desktop/cursor.h"
#include "hostd/schema/time.h"
#include "hostd/wsio/http_target.h"

namespace {

using namespace dormouse;

template <class T>
void check(const Result<T>& result) {
    if (result) return;
    const nlohmann::json text{{"message", result.error().message}, {"hint", result.error().hint}};
    DORMOUSE_CHECK(!text.dump().empty());  // throws for invalid UTF-8
}

void check_query(const wsio::HttpRequest& request) {
    api::QueryReader query{request};
    for (const auto& label : query.all("label")) {
        const auto filter = parse_label_filter(label);
        check(filter);
        if (!filter || !filter->value) continue;
        const Labels labels{{filter->key, *filter->value}};
        DORMOUSE_CHECK(labels_from_text(labels_to_text(labels)).value() == labels);
    }
    const auto limit = query.whole("limit", 1, 1000);
    DORMOUSE_CHECK(!limit || (*limit >= 1 && *limit <= 1000));
    const auto scale = query.number("scale", 0.05, 1);
    DORMOUSE_CHECK(!scale || (*scale >= 0.05 && *scale <= 1));
    if (const auto cursor = query.text("cursor")) {
        for (const char list : {'a', 'd'}) {
            const auto place = desktop::decode_cursor(list, *cursor);
            check(place);
            if (place)
                DORMOUSE_CHECK(desktop::decode_cursor(list, desktop::encode_cursor(list, *place)).value() ==
                               *place);
        }
    }
    if (const auto time = query.text("since")) check(schema::parse_time(*time));
    query.flag("async");
    query.word("format", {"png", "jpeg"});
    check(query.finish());
    check(api::last_seen_event(request));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto line = text.substr(0, text.find('\n'));
    if (const auto target = wsio::parse_target(line)) {
        wsio::HttpRequest request;
        request.method = "GET";
        request.path = target->path;
        request.query = target->query;
        DORMOUSE_CHECK(is_utf8(request.path));
        (void)api::find_route("GET", request.path);
        request.headers.emplace("last-event-id", text.substr(std::min(line.size() + 1, text.size())));
        check_query(request);
    }
    wsio::HttpRequest post;
    post.method = "POST";
    post.headers.emplace("idempotency-key", text);
    const auto key = api::once_key(post);
    check(key);
    DORMOUSE_CHECK(!key || (*key)->key.size() <= api::kLongestOnceKey);
    if (const auto answer = api::unpack_answer(text)) DORMOUSE_CHECK(answer->status < 300);
    DORMOUSE_CHECK(is_utf8(one_line(text, 100)));
    (void)labels_from_text(text);
    return 0;
}
