// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/help.h"

#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

constexpr std::string_view kExitCodes =
    "  0  done\n"
    "  1  failed\n"
    "  2  wrong usage, or a request that makes no sense\n"
    "  3  there is no such thing\n"
    "  4  there already, or not possible in this state\n"
    "  5  the daemon cannot be reached\n"
    "  6  no token, or one that may not do this\n";

constexpr std::string_view kEnvironment =
    "  DORMOUSE_HOME       the state folder\n"
    "  DORMOUSE_LISTEN     the daemon's address:port\n"
    "  DORMOUSE_URL        another daemon to talk to, with\n"
    "  DORMOUSE_TOKEN      the token for it\n"
    "  NO_COLOR            no colours\n";

std::string indented(std::string_view text) {
    std::string all;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const auto end = std::min(text.find('\n', begin), text.size());
        all += fmt::format("  {}\n", text.substr(begin, end - begin));
        begin = end + 1;
    }
    return all;
}

std::string options_help(const CLI::App& app) {
    Table positionals;
    Table options;
    for (const auto* option : app.get_options()) {
        if (option->get_positional()) {
            positionals.add({"  " + option->get_name(true, false), option->get_description()});
            continue;
        }
        auto name = option->get_name(false, true);
        for (std::size_t at; (at = name.find(',')) != std::string::npos && name.substr(at, 2) != ", ";)
            name.replace(at, 1, ", ");
        options.add({"  " + name + option->get_option_text(), option->get_description()});
    }
    const auto first = positionals.render(false);
    return (first.empty() ? "" : "\n" + first) + "\nOptions:\n" + options.render(false);
}

}  // namespace

std::string overview(const std::string& program) {
    return fmt::format(
        "Dormouse: real desktops for AI agents, on your own machine.\n"
        "\n"
        "The first steps:\n"
        "\n"
        "  {0} up                         build everything, start it, make a desktop\n"
        "  {0} create research             make another one\n"
        "  {0} show research               its state, and the link to watch it\n"
        "  {0} screenshot research         what it shows now, into research.png\n"
        "  {0} click research 640 400      click there\n"
        "  {0} type research 'Hello'       type that\n"
        "  {0} key research ctrl+l         press these keys\n"
        "\n"
        "All verbs: {0} --help        One verb: {0} help create        Trouble: {0} doctor\n",
        program);
}

std::string full_help(const std::string& program, bool colour) {
    std::string all = fmt::format("Usage: {} [--json] VERB ...\n", program);
    for (const auto& group : verb_groups()) {
        Table table;
        for (const auto& verb : group.verbs)
            if (!verb.hidden)
                table.add({fmt::format("  {} {}", verb.name, verb.arguments), std::string{verb.summary}});
        all += fmt::format("\n{}:\n{}", styled(group.title, Style::Bold, colour), table.render(colour));
    }
    Table script;
    for (const auto& verb : script_verbs())
        script.add({fmt::format("  {}", verb.name), std::string{verb.summary}});
    all += fmt::format("\n{}:\n{}", styled("Of ./dormouse at the root of the checkout", Style::Bold, colour),
                       script.render(colour));
    all += fmt::format(
        "\n{}:\n"
        "  --json      answers as JSON, before or after the verb\n"
        "  -h, --help  this, or the help of a verb\n"
        "  --version   the version of this program\n",
        styled("Options", Style::Bold, colour));
    all += fmt::format("\n{}:\n{}", styled("Exit codes", Style::Bold, colour), kExitCodes);
    all += fmt::format("\n{}:\n{}", styled("Environment", Style::Bold, colour), kEnvironment);
    all += fmt::format("\nMore about a verb, with examples: {} help VERB\n", program);
    return all;
}

std::string usage_of(const Verb& verb, const std::string& program) {
    return fmt::format("{} {}{}{}", program, verb.name, verb.arguments.empty() ? "" : " ", verb.arguments);
}

std::string verb_help(const Verb& verb, const CLI::App& app, const std::string& program) {
    auto all = fmt::format("{}.\n\nUsage: {}\n", verb.summary, usage_of(verb, program));
    if (!verb.details.empty()) all += "\n" + indented(verb.details);
    all += options_help(app);
    all += verb.examples.size() > 1 ? "\nExamples:\n" : "\nExample:\n";
    for (const auto& example : verb.examples) all += fmt::format("  {} {}\n", program, example);
    return all;
}

}  // namespace dormouse::cli
