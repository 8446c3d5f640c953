// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostd/schema/codec.h"

namespace dormouse::schema {

constexpr std::chrono::seconds kLongestProgram{600};
constexpr std::size_t kMostArguments = 1000;

// A program to run inside a desktop, to its end.
struct ExecRequest {
    std::vector<std::string> argv;         // "command" in JSON: a list, or one text for the user's shell
    bool shell = false;                    // it was one text
    std::string user = "desktop";          // or "root"
    std::optional<std::string> directory;  // "cwd" in JSON
    std::map<std::string, std::string> env;
    std::optional<std::string> input;           // "stdin" in JSON
    std::chrono::milliseconds timeout{60'000};  // seconds in JSON
};

struct ExecResponse {
    std::optional<int> exit_code;
    std::optional<int> signal;
    bool timed_out = false;
    std::string out;  // "stdout" in JSON
    std::string err;
    std::uint64_t out_left_out = 0;  // "stdout_left_out" in JSON: bytes that were not kept
    std::uint64_t err_left_out = 0;
};

std::string to_json(const ExecRequest& request);
std::string to_json(const ExecResponse& response);
template <>
Result<ExecRequest> parse<ExecRequest>(std::string_view text);
template <>
Result<ExecResponse> parse<ExecResponse>(std::string_view text);

}  // namespace dormouse::schema
