// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/schema/codec.h"
#include "hostd/schema/desktops.h"
#include "hostd/schema/error.h"

namespace dormouse::schema {

struct OperationResult {
    std::optional<Desktop> desktop;
    friend bool operator==(const OperationResult&, const OperationResult&) = default;
};

struct Operation {
    std::string id;
    std::string kind;                // "desktop.create", "template.build"
    std::string state;               // running, succeeded, failed, cancelled
    std::string step;                // what it is doing now; may be empty
    std::optional<double> progress;  // 0 to 1
    bool cancelling = false;         // it was asked to end
    WallTime created_at;
    std::optional<WallTime> finished_at;
    std::optional<std::string> desktop;  // id
    std::optional<std::string> image;    // "template" in JSON: its name
    std::optional<Error> error;
    std::optional<OperationResult> result;
};

struct OperationList {
    std::vector<Operation> operations;
};

// The body of a 202: {"operation": {...}}.
struct OperationAnswer {
    Operation operation;
};

struct OperationLog {
    std::string text;
    std::uint64_t offset = 0;       // of the first byte of text
    std::uint64_t next_offset = 0;  // where to go on
    bool finished = false;          // nothing will be added
};

std::string to_json(const Operation& operation);
std::string to_json(const OperationList& list);
std::string to_json(const OperationAnswer& answer);
std::string to_json(const OperationLog& log);

template <>
Result<Operation> parse<Operation>(std::string_view text);
template <>
Result<OperationList> parse<OperationList>(std::string_view text);
template <>
Result<OperationAnswer> parse<OperationAnswer>(std::string_view text);
template <>
Result<OperationLog> parse<OperationLog>(std::string_view text);

}  // namespace dormouse::schema
