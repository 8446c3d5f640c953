// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"

#include <fcntl.h>

#include "hostd/base/file.h"

namespace dormouse::cli {

namespace {

Result<schema::WithScreenshot> mode_of(const std::string& word) {
    if (word == "after") return schema::WithScreenshot::After;
    if (word == "settled") return schema::WithScreenshot::Settled;
    return fail(Errc::InvalidArgument, fmt::format("--screenshot takes after or settled, not '{}'", word),
                "and a file: --screenshot settled now.png");
}

}  // namespace

void add_act_flags(CLI::App& app, ActFlags& flags) {
    app.add_option("--screenshot", flags.screenshot,
                   "Save what the screen shows after it, or once it has settled, in FILE (.png, .jpg, .webp)")
        ->option_text(" after|settled FILE")
        ->expected(2)
        ->allow_extra_args(false);
}

void add_modifiers(CLI::App& app, std::optional<std::string>& modifiers) {
    app.add_option("--modifiers", modifiers, "Hold these keys meanwhile, for example ctrl+shift")
        ->option_text(" KEYS");
}

Result<> save_picture(const std::string& file, const std::string& bytes) {
    // As any program makes files: what the umask leaves of 0666.
    DORMOUSE_TRY_ASSIGN(const auto fd, open_file(file, O_WRONLY | O_CREAT | O_TRUNC, 0666));
    if (const auto written = write_all(fd.get(), bytes); !written) return fail_in(file, written.error());
    return {};
}

schema::PictureFormat format_of(const std::string& file) {
    if (file.ends_with(".jpg") || file.ends_with(".jpeg")) return schema::PictureFormat::Jpeg;
    if (file.ends_with(".webp")) return schema::PictureFormat::Webp;
    return schema::PictureFormat::Png;
}

Result<std::optional<schema::Point>> place(const std::optional<int>& x, const std::optional<int>& y) {
    if (x.has_value() != y.has_value())
        return fail(Errc::InvalidArgument, "Y is missing",
                    "give X and Y, or neither for where the pointer is");
    if (!x) return std::nullopt;
    return schema::Point{*x, *y};
}

Result<int> act(Context& context, const std::string& desktop, std::vector<schema::Action> actions,
                const ActFlags& flags, std::string note) {
    if (actions.size() > schema::kMostActions)
        return fail(Errc::InvalidArgument,
                    fmt::format("these are more than {} actions", schema::kMostActions));
    schema::ActionsRequest request;
    const auto name = std::string{schema::action_name(actions.front().kind)};
    request.actions = std::move(actions);
    if (!flags.screenshot.empty()) {
        DORMOUSE_TRY_ASSIGN(request.screenshot, mode_of(flags.screenshot[0]));
        request.image.format = format_of(flags.screenshot[1]);
    }
    DORMOUSE_TRY_ASSIGN(const auto response, context.client().act(desktop, request));
    if (response.failure) return fail(response.failure->error);
    if (response.screenshot && !flags.screenshot.empty())
        DORMOUSE_TRY(save_picture(flags.screenshot[1], response.screenshot->data));
    if (context.json())
        context.print_line(schema::to_json(response));
    else if (!note.empty())
        context.note(note);
    else if (!response.results.empty())
        context.note(fmt::format("{}: done in {} ms", name, response.results.front().took.count()));
    return kOk;
}

}  // namespace dormouse::cli
