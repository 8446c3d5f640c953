// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/operations.h"

#include <climits>

#include "hostd/schema/desktop_json.h"
#include "hostd/schema/error_json.h"
#include "hostd/schema/operation_json.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

Json encode(const Operation& operation) {
    const auto maybe = [](const auto& value) { return value ? Json(*value) : Json(); };
    Json json;
    json["id"] = operation.id;
    json["kind"] = operation.kind;
    json["state"] = operation.state;
    json["step"] = operation.step;
    json["progress"] = maybe(operation.progress);
    json["cancelling"] = operation.cancelling;
    json["created_at"] = format_time(operation.created_at);
    json["finished_at"] = operation.finished_at ? Json(format_time(*operation.finished_at)) : Json();
    json["desktop"] = maybe(operation.desktop);
    json["template"] = maybe(operation.image);
    json["error"] = operation.error ? encode(ErrorBody{*operation.error, {}}) : Json();
    json["result"] = nullptr;
    if (operation.result) {
        json["result"] = Json::object();
        if (operation.result->desktop) json["result"]["desktop"] = encode(*operation.result->desktop);
    }
    return json;
}

Operation decode_operation(ObjectReader& in) {
    Operation operation;
    operation.id = in.text("id");
    operation.kind = in.text("kind");
    operation.state = in.text("state");
    operation.step = in.optional_text("step").value_or("");
    if (in.take_unless_null("progress"))
        operation.progress = in.number("progress", 0, 1, "a share of the whole");
    if (in.may_have("cancelling")) operation.cancelling = in.boolean("cancelling");
    operation.created_at = in.time("created_at");
    operation.finished_at = in.optional_time("finished_at");
    operation.desktop = in.optional_text("desktop");
    operation.image = in.optional_text("template");
    in.optional_object("error", [&](ObjectReader& error) { operation.error = decode_error(error).error; });
    in.optional_object("result", [&](ObjectReader& result) {
        operation.result.emplace();
        result.optional_object(
            "desktop", [&](ObjectReader& desktop) { operation.result->desktop = decode_desktop(desktop); });
    });
    return operation;
}

std::string to_json(const Operation& operation) {
    return write_json(encode(operation));
}

std::string to_json(const OperationAnswer& answer) {
    return write_json({{"operation", encode(answer.operation)}});
}

std::string to_json(const OperationList& list) {
    auto operations = Json::array();
    for (const auto& operation : list.operations) operations.push_back(encode(operation));
    return write_json({{"operations", std::move(operations)}});
}

std::string to_json(const OperationLog& log) {
    return write_json({{"text", log.text},
                       {"offset", log.offset},
                       {"next_offset", log.next_offset},
                       {"finished", log.finished}});
}

template <>
Result<Operation> parse<Operation>(std::string_view text) {
    return read_answer<Operation>(text, decode_operation);
}

template <>
Result<OperationAnswer> parse<OperationAnswer>(std::string_view text) {
    return read_answer<OperationAnswer>(text, [](ObjectReader& in) {
        OperationAnswer answer;
        in.object("operation", [&](ObjectReader& one) { answer.operation = decode_operation(one); });
        return answer;
    });
}

template <>
Result<OperationList> parse<OperationList>(std::string_view text) {
    return read_answer<OperationList>(text, [](ObjectReader& in) {
        OperationList list;
        in.list("operations", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader operation{item, std::move(path), in.problem()};
            list.operations.push_back(decode_operation(operation));
        });
        return list;
    });
}

template <>
Result<OperationLog> parse<OperationLog>(std::string_view text) {
    return read_answer<OperationLog>(text, [](ObjectReader& in) {
        OperationLog log;
        log.text = in.text("text", {.most_bytes = 64 << 20});
        log.offset = static_cast<std::uint64_t>(in.whole("offset", {0, INT64_MAX}));
        log.next_offset = static_cast<std::uint64_t>(in.whole("next_offset", {0, INT64_MAX}));
        log.finished = in.boolean("finished");
        return log;
    });
}

}  // namespace dormouse::schema
