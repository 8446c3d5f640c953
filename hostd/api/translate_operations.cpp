// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/translate.h"

namespace dormouse::api {

schema::Operation to_schema(const desktop::OperationInfo& info) {
    schema::Operation out;
    out.id = info.id.str();
    out.kind = info.kind;
    out.state = desktop::operation_state_name(info.state);
    out.step = info.step;
    out.progress = info.progress;
    out.cancelling = info.cancelling;
    out.created_at = info.created_at;
    out.finished_at = info.finished_at;
    if (info.desktop) out.desktop = info.desktop->str();
    if (info.image) out.image = info.image->str();
    out.error = info.error;
    if (info.result) {
        out.result.emplace();
        if (info.result->desktop) out.result->desktop = to_schema(*info.result->desktop);
    }
    return out;
}

schema::OperationList to_schema(const std::vector<desktop::OperationInfo>& operations) {
    schema::OperationList list;
    for (const auto& info : operations) list.operations.push_back(to_schema(info));
    return list;
}

schema::OperationLog to_schema(const desktop::OperationLog& log) {
    return {.text = log.text, .offset = log.offset, .next_offset = log.next_offset, .finished = log.finished};
}

}  // namespace dormouse::api
