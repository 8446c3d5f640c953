// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hostd/desktop/commands_template.h"
#include "hostd/desktop/host.h"
#include "hostd/desktop/template_store.h"

namespace dormouse::desktop {

// Whether the recipe of that name comes with Dormouse.
bool is_built_in(const Host& host, const TemplateName& name);

// Why `image` should be baked again: QEMU or the host has changed, or what goes
// into a bake. Nothing when it is as a bake of today would be. Blocks: reads all
// that goes in.
std::optional<std::string> why_stale(const Host& host, const Template& image);

// All but the desktops and the recipe. Blocks.
TemplateInfo report_on(const Host& host, const Template& image);

}  // namespace dormouse::desktop
