// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hostd/schema/codec.h"

namespace dormouse::schema {

struct Version {
    std::string version;  // of Dormouse
    std::string api = "v1";
    std::string qemu;                // version of QEMU
    std::string accelerator;         // "tcg" or "kvm"
    std::string accelerator_reason;  // why this one
    friend bool operator==(const Version&, const Version&) = default;
};

struct Health {
    std::string status = "ok";
};

std::string to_json(const Version& version);
std::string to_json(const Health& health);
template <>
Result<Version> parse<Version>(std::string_view text);
template <>
Result<Health> parse<Health>(std::string_view text);

}  // namespace dormouse::schema
