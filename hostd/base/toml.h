// SPDX-License-Identifier: Apache-2.0
// toml++, for files that somebody else wrote: its parser asserts what some inputs
// break (found by tests/fuzz/fuzz_recipe.cpp), and without assertions would go on
// beyond it. Here it throws instead, in all builds, like for any other mistake in
// a file. Include this, never <toml++/toml.h>.
#pragma once

#include <stdexcept>

#define TOML_ASSERT(expression)                                         \
    do {                                                                \
        if (!(expression)) throw std::runtime_error("not a TOML file"); \
    } while (false)

// With NDEBUG the header would replace the assertion by an assumption.
#pragma push_macro("NDEBUG")
#undef NDEBUG
// Some assertions stand in functions that may not throw: those end the program,
// as assertions do; no input is known to reach them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"
#include <toml++/toml.h>
#pragma GCC diagnostic pop
#pragma pop_macro("NDEBUG")
