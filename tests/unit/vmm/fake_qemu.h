// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dormouse::vmm {

// This test program is also a QEMU of a sort: started with the environment
// variable kFakeQemu (not empty) it speaks QMP on the socket of its first argument and
// echoes on that of its second. The variable's words: "plain", "slow" (one byte at a
// time), "deaf" (never answers), "fail" (says why on stderr, ends with 3).
//
// Commands of its own: x-events {count, size?}: so many X_EVENTs; x-length {text};
// x-read-fd {}: what the passed descriptor holds; x-hang {}: stops for good;
// x-guest {read: bool}: whether the guest reads.
constexpr const char* kFakeQemu = "DORMOUSE_FAKE_QEMU";

std::string this_program();

}  // namespace dormouse::vmm
