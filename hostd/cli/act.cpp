// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"

namespace dormouse::cli {

Result<int> act(Context& context, const std::string& desktop, schema::Action action) {
    const auto name = schema::action_name(action.kind);
    schema::ActionsRequest request;
    request.actions.push_back(std::move(action));
    DORMOUSE_TRY_ASSIGN(const auto response, context.client().act(desktop, request));
    if (response.failure) return fail(response.failure->error);
    if (context.json())
        context.print_line(schema::to_json(response));
    else if (!response.results.empty())
        context.note(fmt::format("{}: done in {} ms", name, response.results.front().took.count()));
    return kOk;
}

}  // namespace dormouse::cli
