// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

std::vector<VerbGroup> verb_groups() {
    return {
        {"Desktops",
         {create_verb(), list_verb(), show_verb(), start_verb(), stop_verb(), restart_verb(), rename_verb(),
          label_verb(), delete_verb()}},
        {"Seeing and acting",
         {exec_verb(), screenshot_verb(), zoom_verb(), click_verb(), move_verb(), drag_verb(),
          mouse_down_verb(), mouse_up_verb(), cursor_verb(), scroll_verb(), type_verb(), key_verb(),
          hold_key_verb()}},
        {"Templates",
         {template_build_verb(), template_list_verb(), template_show_verb(), template_remove_verb()}},
        {"Network", {network_verb(), destinations_verb()}},
        {"What happens",
         {events_verb(), operations_list_verb(), operations_show_verb(), operations_cancel_verb(),
          audit_verb()}},
        {"Access", {token_create_verb(), token_list_verb(), token_delete_verb()}},
        {"This machine",
         {doctor_verb(), bench_verb(), down_verb(), where_verb(), version_verb(), completion_verb(),
          ping_verb()}},
    };
}

std::vector<ScriptVerb> script_verbs() {
    return {
        {"up", "Install what is missing, build, bake, start the daemon, make a desktop"},
        {"test", "Run every test"},
    };
}

}  // namespace dormouse::cli
