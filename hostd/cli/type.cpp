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
    std::string method;
    ActFlags flags;
};

std::optional<schema::TypeMethod> method_of(const std::string& word) {
    if (word == "keys") return schema::TypeMethod::Keys;
    if (word == "paste") return schema::TypeMethod::Paste;
    return std::nullopt;
}

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
    return act(
        context, options.name,
        {{.kind = schema::ActionKind::Type, .text = std::move(text), .method = method_of(options.method)}},
        options.flags);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("TEXT", options->text, "What to type; - reads standard input")->required();
    app.add_option("--method", options->method,
                   "By keys, or pasted all at once; auto, when not given, does what fits")
        ->option_text(" auto|keys|paste")
        ->check(CLI::IsMember({"auto", "keys", "paste"}));
    add_act_flags(app, options->flags);
    return [options](Context& context) { return type_text(context, *options); };
}

}  // namespace

Verb type_verb() {
    return {.name = "type",
            .arguments = "NAME TEXT [--method auto|keys|paste]",
            .summary = "Type text, of any script",
            .examples = {"type research 'naïve 日本語'", "type research - <letter.txt",
                         "type research -- --dashes-first"},
            .details =
                "A line break in the text is the Return key, and a tab the Tab key, but where all is pasted.",
            .declare = declare};
}

}  // namespace dormouse::cli
