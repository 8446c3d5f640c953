// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostd/cli/verb.h"

namespace dormouse::cli {

Verb audit_verb();
Verb bench_verb();
Verb click_verb();
Verb completion_verb();
Verb create_verb();
Verb cursor_verb();
Verb delete_verb();
Verb destinations_verb();
Verb doctor_verb();
Verb down_verb();
Verb drag_verb();
Verb events_verb();
Verb exec_verb();
Verb hold_key_verb();
Verb key_verb();
Verb label_verb();
Verb list_verb();
Verb mouse_down_verb();
Verb mouse_up_verb();
Verb move_verb();
Verb network_verb();
Verb operations_cancel_verb();
Verb operations_list_verb();
Verb operations_show_verb();
Verb ping_verb();
Verb rename_verb();
Verb restart_verb();
Verb screenshot_verb();
Verb scroll_verb();
Verb show_verb();
Verb start_verb();
Verb stop_verb();
Verb template_build_verb();
Verb template_list_verb();
Verb template_remove_verb();
Verb template_show_verb();
Verb token_create_verb();
Verb token_delete_verb();
Verb token_list_verb();
Verb type_verb();
Verb version_verb();
Verb where_verb();
Verb zoom_verb();

struct VerbGroup {
    std::string_view title;
    std::vector<Verb> verbs;
};

// In the order of the help.
std::vector<VerbGroup> verb_groups();

// The two that belong to the script at the checkout's root.
struct ScriptVerb {
    std::string_view name;
    std::string_view summary;
};
std::vector<ScriptVerb> script_verbs();

}  // namespace dormouse::cli
