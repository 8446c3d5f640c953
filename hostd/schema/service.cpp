// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/service.h"

#include "hostd/schema/reader.h"

namespace dormouse::schema {

std::string to_json(const Version& version) {
    return write_json({{"version", version.version},
                       {"api", version.api},
                       {"qemu", version.qemu},
                       {"accelerator", version.accelerator},
                       {"accelerator_reason", version.accelerator_reason}});
}

std::string to_json(const Health& health) {
    return write_json(Json{{"status", health.status}});
}

template <>
Result<Version> parse<Version>(std::string_view text) {
    return read_answer<Version>(text, [](ObjectReader& in) {
        Version version;
        version.version = in.text("version");
        version.api = in.text("api");
        version.qemu = in.text("qemu");
        version.accelerator = in.text("accelerator");
        version.accelerator_reason = in.text("accelerator_reason");
        return version;
    });
}

template <>
Result<Health> parse<Health>(std::string_view text) {
    // Whoever else listens at our port is not taken for a daemon.
    return read_answer<Health>(text, [](ObjectReader& in) { return Health{in.word("status", {"ok"})}; });
}

}  // namespace dormouse::schema
