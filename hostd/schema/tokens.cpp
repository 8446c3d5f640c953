// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/tokens.h"

#include <algorithm>
#include <climits>

#include "hostd/schema/reader.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

Json encode(const Token& token) {
    Json json;
    json["id"] = token.id;
    json["name"] = token.name;
    json["scope"] = token.scope;
    json["created_at"] = format_time(token.created_at);
    json["last_used_at"] = token.last_used_at ? Json(format_time(*token.last_used_at)) : Json();
    return json;
}

Token decode_token(ObjectReader& in) {
    Token token;
    token.id = in.text("id");
    token.name = in.text("name");
    token.scope = in.text("scope");
    token.created_at = in.time("created_at");
    token.last_used_at = in.optional_time("last_used_at");
    return token;
}

}  // namespace

std::string to_json(const Token& token) {
    return write_json(encode(token));
}

std::string to_json(const TokenList& list) {
    auto tokens = Json::array();
    for (const auto& token : list.tokens) tokens.push_back(encode(token));
    return write_json({{"tokens", std::move(tokens)}});
}

std::string to_json(const CreateTokenRequest& request) {
    return write_json({{"name", request.name}, {"scope", request.scope}});
}

std::string to_json(const NewToken& token) {
    auto json = encode(token.token);
    json["secret"] = token.secret.reveal_for_transport();
    return write_json(json);
}

template <>
Result<Token> parse<Token>(std::string_view text) {
    return read_answer<Token>(text, decode_token);
}

template <>
Result<TokenList> parse<TokenList>(std::string_view text) {
    return read_answer<TokenList>(text, [](ObjectReader& in) {
        TokenList list;
        in.list("tokens", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader token{item, std::move(path), in.problem()};
            list.tokens.push_back(decode_token(token));
        });
        return list;
    });
}

template <>
Result<CreateTokenRequest> parse<CreateTokenRequest>(std::string_view text) {
    return read_request<CreateTokenRequest>(text, [](ObjectReader& in) {
        CreateTokenRequest request;
        request.name = in.text("name", {.most_bytes = kLongestTokenName, .may_be_empty = false},
                               "what you will know it by, for example \"laptop\"");
        const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
        if (std::any_of(request.name.begin(), request.name.end(), control))
            in.note("name", "must be one line without control characters");
        request.scope = in.word("scope", {"agent", "admin"});
        return request;
    });
}

template <>
Result<NewToken> parse<NewToken>(std::string_view text) {
    return read_answer<NewToken>(text, [](ObjectReader& in) {
        return NewToken{decode_token(in), Secret{in.text("secret")}};
    });
}

}  // namespace dormouse::schema
