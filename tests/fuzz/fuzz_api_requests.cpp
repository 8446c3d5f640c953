// SPDX-License-Identifier: Apache-2.0
// Bodies of requests, and of answers: never a crash, whatever the bytes. What is
// taken can be written, and is taken again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hostd/schema/base64.h"
#include "hostd/schema/schema.h"
#include "hostd/schema/time.h"

using namespace dormouse;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

template <class T>
void check_request(std::string_view text) {
    const auto first = schema::parse<T>(text);
    if (!first) {
        require(first.error().code == Errc::InvalidArgument || first.error().code == Errc::TooLarge);
        require(!first.error().message.empty());
        return;
    }
    const auto written = schema::to_json(*first);
    const auto second = schema::parse<T>(written);
    require(second.has_value() && schema::to_json(*second) == written);
}

template <class T>
void check_answer(std::string_view text) {
    const auto first = schema::parse<T>(text);
    if (!first) return require(first.error().code == Errc::Corrupt);
    const auto written = schema::to_json(*first);
    const auto second = schema::parse<T>(written);
    require(second.has_value() && schema::to_json(*second) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_request<schema::ActionsRequest>(text);
    check_request<schema::CreateDesktopRequest>(text);
    check_request<schema::CreateTokenRequest>(text);
    check_request<schema::BuildTemplateRequest>(text);
    (void)schema::parse<schema::EmptyRequest>(text).has_value();

    check_answer<schema::Desktop>(text);
    check_answer<schema::DesktopList>(text);
    check_answer<schema::ActionsResponse>(text);
    check_answer<schema::Token>(text);
    check_answer<schema::TokenList>(text);
    check_answer<schema::NewToken>(text);
    check_answer<schema::Template>(text);
    check_answer<schema::TemplateList>(text);
    check_answer<schema::Version>(text);
    check_answer<schema::Health>(text);
    check_answer<schema::ErrorBody>(text);

    if (const auto bytes = schema::decode_base64(text)) require(schema::encode_base64(*bytes) == text);
    if (const auto time = schema::parse_time(text))
        require(schema::parse_time(schema::format_time(*time)).has_value());
    return 0;
}
