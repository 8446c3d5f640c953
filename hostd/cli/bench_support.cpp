// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "hostd/cli/bench.h"
#include "hostd/cli/table.h"
#include "hostd/schema/json.h"

namespace dormouse::cli::bench {

Summary summarise(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const auto count = samples.size();
    const auto middle = count / 2;
    const double median = count % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
    const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(count)));
    return {count, median, samples[rank - 1], samples.back()};
}

namespace {

double rounded(double value) {
    return std::round(value * 100) / 100;
}

std::string shown_number(double value) {
    return value < 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string to_json(const std::vector<Measurement>& results) {
    auto list = schema::Json::array();
    for (const auto& result : results) {
        const auto summary = summarise(result.samples);
        schema::Json json{{"name", result.name},         {"unit", result.unit},
                          {"count", summary.count},      {"median", rounded(summary.median)},
                          {"p95", rounded(summary.p95)}, {"max", rounded(summary.max)}};
        if (result.baseline)
            json["baseline"] = {{"name", result.baseline->name},
                                {"median", rounded(result.baseline->median)}};
        list.push_back(std::move(json));
    }
    return schema::write_json({{"results", std::move(list)}});
}

std::string to_table(const std::vector<Measurement>& results, bool colour) {
    Table table{{"WHAT", "COUNT", "MEDIAN", "P95", "MAX", "THE USUAL WAY", "MEDIAN", "TIMES FASTER"}};
    for (const auto& result : results) {
        const auto summary = summarise(result.samples);
        const auto with_unit = [&](double value) { return shown_number(value) + " " + result.unit; };
        std::vector<Cell> row{result.name, std::to_string(summary.count), with_unit(summary.median),
                              with_unit(summary.p95), with_unit(summary.max)};
        if (result.baseline && summary.median > 0) {
            row.emplace_back(result.baseline->name);
            row.emplace_back(with_unit(result.baseline->median));
            row.emplace_back(shown_number(result.baseline->median / summary.median));
        }
        table.add(std::move(row));
    }
    return table.render(colour);
}

Result<double> timed(const Clock& clock, const std::function<Result<>()>& body) {
    const auto began = clock.now();
    DORMOUSE_TRY(body());
    return std::chrono::duration<double, std::milli>(clock.now() - began).count();
}

Result<Desktop> Desktop::create(Context& context) {
    DORMOUSE_TRY_ASSIGN(const auto made, context.client().create_desktop({}));
    return Desktop{context, made.name};
}

Desktop::~Desktop() {
    if (name_.empty()) return;
    if (const auto deleted = context_.client().delete_desktop(name_); !deleted)
        context_.complain(deleted.error());
}

Result<std::string> Desktop::run(const std::string& line, std::chrono::seconds timeout) const {
    schema::ExecRequest request;
    request.argv = {line};
    request.shell = true;
    request.timeout = timeout;
    DORMOUSE_TRY_ASSIGN(auto response, context_.client().exec(name_, request));
    if (response.exit_code == 0) return std::move(response.out);
    return fail(Errc::Internal, fmt::format("inside the desktop, '{}' failed: {}", line, response.err));
}

Result<> Desktop::write(const std::string& path, const std::string& content) const {
    schema::ExecRequest request;
    request.argv = {"tee", path};
    request.input = content;
    DORMOUSE_TRY_ASSIGN(const auto response, context_.client().exec(name_, request));
    if (response.exit_code == 0) return {};
    return fail(Errc::Internal,
                fmt::format("inside the desktop, {} cannot be written: {}", path, response.err));
}

Result<schema::ActionsResponse> Desktop::act(schema::ActionsRequest request) const {
    DORMOUSE_TRY_ASSIGN(auto response, context_.client().act(name_, request));
    if (response.failure) return fail(response.failure->error);
    return response;
}

Result<> Desktop::open_page(const std::string& url) const {
    schema::ActionsRequest request;
    request.actions.push_back({.kind = schema::ActionKind::Key, .text = "ctrl+l"});
    request.actions.push_back({.kind = schema::ActionKind::Type, .text = url});
    request.actions.push_back({.kind = schema::ActionKind::Key, .text = "Return"});
    request.actions.push_back({.kind = schema::ActionKind::Wait, .duration = std::chrono::seconds{4}});
    DORMOUSE_TRY(act(std::move(request)));
    return {};
}

}  // namespace dormouse::cli::bench
