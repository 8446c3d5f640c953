// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/translate.h"

namespace dormouse::api {

Result<desktop::BuildTemplate> to_command(const schema::BuildTemplateRequest& request) {
    desktop::BuildTemplate command{.recipe = request.recipe, .name = {}};
    if (request.name) {
        DORMOUSE_TRY_ASSIGN(command.name, TemplateName::parse(*request.name));
    }
    return command;
}

schema::Template to_schema(const desktop::TemplateInfo& info) {
    return {.name = info.name.str(),
            .hash = info.hash,
            .description = info.description,
            .parent = info.parent,
            .created_at = info.created_at,
            .screen = {.width = info.screen_width, .height = info.screen_height},
            .memory_mib = info.memory_mib,
            .cpus = info.cpus,
            .user = info.user,
            .locale = info.locale,
            .timezone = info.timezone,
            .keyboard = info.keyboard,
            .qemu = info.qemu_version,
            .accelerator = info.accelerator,
            .size_bytes = info.size,
            .built_in = info.is_built_in,
            .stale_reason = info.stale,
            .desktops = info.desktops,
            .recipe = info.recipe};
}

schema::TemplateList to_schema(const std::vector<desktop::TemplateInfo>& templates) {
    schema::TemplateList list;
    for (const auto& info : templates) list.templates.push_back(to_schema(info));
    return list;
}

}  // namespace dormouse::api
