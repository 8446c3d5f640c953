// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/tokens.h"

#include <algorithm>
#include <climits>

#include "hostd/base/id.h"
#include "hostd/base/labels.h"
#include "hostd/schema/reader.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

constexpr Range kAnyCount{0, 1000};

Json encode(const std::optional<WallTime>& time) {
    return time ? Json(format_time(*time)) : Json();
}

void encode(Json& json, const TokenLimits& limits) {
    json["desktops"] = limits.desktops.empty() ? Json() : Json(limits.desktops);
    json["label"] = limits.label ? Json(*limits.label) : Json();
    json["commands"] = limits.commands.empty() ? Json() : Json(limits.commands);
}

std::vector<std::string> texts(ObjectReader& in, std::string_view field) {
    std::vector<std::string> texts;
    if (!in.may_have(field) || !in.take_unless_null(field)) return texts;
    const auto count = in.strictness() == Strictness::Request ? Range{1, 100} : kAnyCount;
    in.list(field, count, [&](const Json& item, std::string path) {
        if (item.is_string()) return texts.push_back(item.get<std::string>());
        in.problem().note(std::move(path), "must be a text");
    });
    return texts;
}

TokenLimits decode_limits(ObjectReader& in) {
    TokenLimits limits;
    limits.desktops = texts(in, "desktops");
    if (in.may_have("label")) limits.label = in.optional_text("label");
    limits.commands = texts(in, "commands");
    return limits;
}

Json encode(const Token& token) {
    Json json;
    json["id"] = token.id;
    json["name"] = token.name;
    json["scope"] = token.scope;
    encode(json, token.limits);
    json["created_at"] = format_time(token.created_at);
    json["last_used_at"] = encode(token.last_used_at);
    json["expires_at"] = encode(token.expires_at);
    return json;
}

Token decode_token(ObjectReader& in) {
    Token token;
    token.id = in.text("id");
    token.name = in.text("name");
    token.scope = in.text("scope");
    token.limits = decode_limits(in);
    token.created_at = in.time("created_at");
    token.last_used_at = in.optional_time("last_used_at");
    token.expires_at = in.optional_time("expires_at");
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
    Json json{{"name", request.name}, {"scope", request.scope}};
    if (!request.limits.desktops.empty()) json["desktops"] = request.limits.desktops;
    if (request.limits.label) json["label"] = *request.limits.label;
    if (!request.limits.commands.empty()) json["commands"] = request.limits.commands;
    if (request.expires_at) json["expires_at"] = format_time(*request.expires_at);
    return write_json(json);
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
        request.scope = in.word("scope", {"viewer", "agent", "admin"});
        request.limits = decode_limits(in);
        for (std::size_t i = 0; i < request.limits.desktops.size(); ++i)
            if (const auto& name = request.limits.desktops[i]; !is_identifier(name)) {
                const auto bad = bad_identifier("desktop id or name", shown(name));
                in.problem().note(fmt::format("desktops[{}]", i), bad.value().message, bad.value().hint);
            }
        if (request.limits.label) {
            const auto label = parse_label_filter(*request.limits.label);
            if (!label) in.note("label", label.error().message, label.error().hint);
            if (label && !label->value) in.note("label", "a token's label needs a value", "write key=value");
        }
        if (in.may_have("expires_at")) request.expires_at = in.optional_time("expires_at");
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
