// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <ostream>

#include "hostd/base/file.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"

namespace dormouse::cli {

namespace {

using schema::PictureFormat;

struct Options {
    std::string name;
    std::string file;
    std::string format;
    std::string region;
    schema::PictureOptions picture;
};

Result<> save(const std::string& file, const std::string& bytes) {
    // As any program makes files: what the umask leaves of 0666.
    DORMOUSE_TRY_ASSIGN(const auto fd, open_file(file, O_WRONLY | O_CREAT | O_TRUNC, 0666));
    if (const auto written = write_all(fd.get(), bytes); !written) return fail_in(file, written.error());
    return {};
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// What the file's name asks for. A name that says nothing, or something else
// than a format of pictures ("shot.2"), leaves it open.
Result<std::optional<PictureFormat>> format_of(const std::string& file) {
    const auto suffix = lower_case(std::filesystem::path{file}.extension().string());
    if (suffix == ".jpg") return PictureFormat::Jpeg;
    for (const std::string_view foreign : {".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".ppm"})
        if (suffix == foreign)
            return fail(Errc::InvalidArgument,
                        fmt::format("{}: there are no {} pictures", file, suffix.substr(1)),
                        "pictures are .png, .jpg or .webp");
    return suffix.empty() ? std::nullopt : schema::format_from_name(suffix.substr(1));
}

Result<PictureFormat> chosen_format(const Options& options) {
    if (options.format.empty()) {
        DORMOUSE_TRY_ASSIGN(const auto by_name, format_of(options.file));
        return by_name.value_or(PictureFormat::Png);
    }
    const auto named = lower_case(options.format) == "jpg" ? "jpeg" : lower_case(options.format);
    const auto format = schema::format_from_name(named);
    if (!format)
        return fail(Errc::InvalidArgument,
                    fmt::format("--format: there is no format '{}'", plain(options.format)),
                    "one of: png, jpeg, webp");
    return *format;
}

Result<schema::Region> parse_region(std::string_view text) {
    schema::Region region;
    int* const numbers[] = {&region.x, &region.y, &region.width, &region.height};
    const auto* at = text.data();
    const auto* const end = text.data() + text.size();
    for (int* number : numbers) {
        const bool first = number == numbers[0];
        if (!first && (at == end || *at++ != ',')) at = nullptr;
        if (at != nullptr) {
            const auto [stop, error] = std::from_chars(at, end, *number);
            at = error == std::errc{} ? stop : nullptr;
        }
        if (at == nullptr) break;
    }
    if (at != end)
        return fail(Errc::InvalidArgument,
                    fmt::format("--region: '{}' is not four whole numbers", plain(text)),
                    "X,Y,WIDTH,HEIGHT in pixels of the screen, for example 0,0,640,400");
    return region;
}

Result<int> take(Context& context, Options options) {
    const bool to_output = options.file == "-";
    if (to_output && context.streams().out_is_terminal)
        return fail(Errc::InvalidArgument, "a picture would only confuse this terminal",
                    fmt::format("name a file, or send it on: {} | ...",
                                context.command(fmt::format("screenshot {} -", options.name))));
    if (to_output && context.json())
        return fail(Errc::InvalidArgument, "--json does not go with a picture on standard output");
    DORMOUSE_TRY_ASSIGN(options.picture.format, chosen_format(options));
    if (!options.region.empty()) {
        DORMOUSE_TRY_ASSIGN(options.picture.region, parse_region(options.region));
    }

    DORMOUSE_TRY_ASSIGN(const auto shot, context.client().screenshot(options.name, options.picture));
    if (to_output) {
        context.print(shot.bytes);
        return kOk;
    }
    const auto file = options.file.empty()
                          ? fmt::format("{}.{}", options.name, schema::format_name(options.picture.format))
                          : options.file;
    DORMOUSE_TRY(save(file, shot.bytes));
    if (context.json())
        context.print_line(schema::write_json(schema::Json{
            {"file", file}, {"width", shot.width}, {"height", shot.height}, {"bytes", shot.bytes.size()}}));
    else
        context.print_line(fmt::format("{}: {}×{}, {}", plain(file), shot.width, shot.height,
                                       human_size(shot.bytes.size())));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    auto& picture = options->picture;
    add_desktop(app, options->name);
    app.add_option("FILE", options->file,
                   "Where to put it (NAME.png when not given), .png, .jpg or .webp; - is standard output");
    app.add_option("--format", options->format, "png, jpeg or webp (as the file's name says when not given)");
    app.add_option("--region", options->region, "X,Y,WIDTH,HEIGHT of the screen (all of it when not given)");
    app.add_option("--scale", picture.scale, "How much smaller: 0.05 to 1");
    app.add_option("--max-width", picture.max_width, "Pixels; the proportions stay");
    app.add_option("--max-height", picture.max_height, "Pixels; the proportions stay");
    app.add_option("--quality", picture.quality, "1 to 100, of jpeg and webp");
    app.add_option("--max-bytes", picture.max_bytes, "Quality and size go down until it fits");
    app.add_flag("--cursor", picture.cursor, "With the pointer");
    return [options](Context& context) { return take(context, *options); };
}

}  // namespace

Verb screenshot_verb() {
    return {.name = "screenshot",
            .arguments = "NAME [FILE|-]",
            .summary = "Save what the screen shows, as PNG, JPEG or WebP",
            .examples = {"screenshot research", "screenshot research now.webp --max-width 800 --cursor",
                         "screenshot research - --region 0,0,640,400 > part.png"},
            .declare = declare};
}

}  // namespace dormouse::cli
