// SPDX-License-Identifier: Apache-2.0
#include <istream>
#include <iterator>

#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::string text;
};

// One byte more than allowed is enough to see that it is too long.
std::string read_all(std::istream& in) {
    std::string text(schema::kLongestTypedText + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

Result<int> type_text(Context& context, const Options& options) {
    auto text = options.text == "-" ? read_all(context.streams().in) : options.text;
    if (text.empty()) return fail(Errc::InvalidArgument, "there is nothing to type");
    if (text.size() > schema::kLongestTypedText)
        return fail(Errc::TooLarge,
                    fmt::format("the text is longer than {} bytes", schema::kLongestTypedText),
                    "type it in pieces");
    return act(context, options.name, {.kind = schema::ActionKind::Type, .text = std::move(text)});
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("TEXT", options->text, "What to type; - reads standard input")->required();
    return [options](Context& context) { return type_text(context, *options); };
}

}  // namespace

Verb type_verb() {
    return {.name = "type",
            .arguments = "NAME TEXT",
            .summary = "Type text, of any script",
            .examples = {"type research 'naïve 日本語'", "type research - <letter.txt",
                         "type research -- --dashes-first"},
            .details = "A line break in the text is the Return key.",
            .declare = declare};
}

}  // namespace dormouse::cli
