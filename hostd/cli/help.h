// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hostd/cli/verb.h"

namespace dormouse::cli {

std::string overview(const std::string& program);  // `dormouse` alone: what to do first
std::string full_help(const std::string& program, bool colour);
std::string usage_of(const Verb& verb, const std::string& program);  // "./dormouse click NAME X Y [--right]"
// For CLI::App::formatter(): usage, summary, arguments, options, examples.
std::string verb_help(const Verb& verb, const CLI::App& app, const std::string& program);

}  // namespace dormouse::cli
