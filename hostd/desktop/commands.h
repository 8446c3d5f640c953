// SPDX-License-Identifier: Apache-2.0
// The closed list of what Dormouse can be asked to do. REST, the command line
// and every later dialect are translations into it; a new capability starts
// here. Each group has a header of its own.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "hostd/desktop/command_traits.h"      // IWYU pragma: export
#include "hostd/desktop/commands_audit.h"      // IWYU pragma: export
#include "hostd/desktop/commands_desktop.h"    // IWYU pragma: export
#include "hostd/desktop/commands_network.h"    // IWYU pragma: export
#include "hostd/desktop/commands_operation.h"  // IWYU pragma: export
#include "hostd/desktop/commands_program.h"    // IWYU pragma: export
#include "hostd/desktop/commands_screen.h"     // IWYU pragma: export
#include "hostd/desktop/commands_template.h"   // IWYU pragma: export
#include "hostd/desktop/commands_token.h"      // IWYU pragma: export

namespace dormouse::desktop {

using Command = std::variant<  //
    CreateDesktop, ListDesktops, GetDesktop, UpdateDesktop, DeleteDesktop, StartDesktop, StopDesktop,
    RestartDesktop, ListDestinations,                                           //
    TakeScreenshot, Act, RunProgram,                                            //
    ListOperations, GetOperation, CancelOperation, GetOperationLog,             //
    ListTemplates, GetTemplate, BuildTemplate, DeleteTemplate, GetTemplateLog,  //
    CreateToken, ListTokens, DeleteToken, ListAudit>;

const CommandTraits& traits_of(const Command& command);

// "desktop.create", "token.list", ...: the name in the audit log.
std::string_view command_name(const Command& command);

// Whether a token of this scope with these limits may ask for it. Which desktops
// it sees is another matter: see sees().
bool allowed(const Command& command, Scope scope, const TokenLimits& limits = {});

// The states of a desktop in which a command that names one is carried out;
// for the others it is Errc::Conflict. Commands that only look are always legal.
bool legal(const Command& command, State state);

struct Done {};  // nothing to say

using Answer = std::variant<                                            //
    Done, DesktopInfo, DesktopPage, Picture, ActAnswer, ProgramResult,  //
    OperationInfo, std::vector<OperationInfo>, OperationLog,            //
    TemplateInfo, std::vector<TemplateInfo>,                            //
    NewToken, std::vector<TokenInfo>, AuditPage, std::vector<DestinationInfo>>;

}  // namespace dormouse::desktop
