// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace dormouse {

// From the kernel's generator; any thread.
std::string random_bytes(std::size_t count);
std::string random_hex(std::size_t bytes);  // 2 characters a byte
std::string random_uuid();                  // version 4, lower case

}  // namespace dormouse
