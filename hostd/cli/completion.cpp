// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "hostd/cli/completion_scripts.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

constexpr std::string_view kDesktops = "@desktops";
constexpr std::string_view kAnything = "-";  // a value is wanted, and we know none

// From what the help shows for an option's value: " agent|admin", " NAME".
Completions completions_of(std::string text) {
    text.erase(0, text.find_first_not_of(' '));
    if (text == "NAME") return {.desktops = true, .words = {}};
    if (text.find('|') == std::string::npos) return {};
    Completions all;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find('|', begin), text.size());
        all.words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return all;
}

VerbShape shape_of(const Verb& verb) {
    CLI::App app;
    verb.declare(app);
    VerbShape shape{
        .name = std::string{verb.name}, .summary = std::string{verb.summary}, .options = {}, .first = {}};
    bool first = true;
    for (const auto* option : app.get_options()) {
        if (option->get_positional()) {
            if (std::exchange(first, false)) {
                const auto& about = option->get_description();
                shape.first.desktops = about == kDesktopDescription || about == kDesktopsDescription;
                if (!option->get_option_text().empty())
                    shape.first = completions_of(option->get_option_text());
            }
            continue;
        }
        for (const auto& name : option->get_lnames()) {
            if (name == "help") continue;
            const bool takes_value = option->get_items_expected_max() > 0;
            shape.options.push_back(
                {.name = "--" + name,
                 .description = option->get_description(),
                 .takes_value = takes_value,
                 .value = takes_value ? completions_of(option->get_option_text()) : Completions{}});
        }
    }
    shape.options.push_back({.name = "--json", .description = "Answer as JSON"});
    shape.options.push_back({.name = "--help", .description = "Show its help"});
    return shape;
}

// In single quotes for any of the three shells: ours have none, but for the
// descriptions, which only fish is given.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

std::string words_of(const Completions& completions) {
    if (completions.desktops) return std::string{kDesktops};
    return fmt::format("{}", fmt::join(completions.words, " "));
}

// The words that may follow: of "", the first words of verbs; of "token", the second.
std::map<std::string, std::vector<std::string>> next_words(const std::vector<VerbShape>& shapes) {
    std::map<std::string, std::vector<std::string>> next;
    const auto add = [&](const std::string& before, const std::string& word) {
        auto& words = next[before];
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    };
    for (const auto& shape : shapes) {
        const auto space = shape.name.find(' ');
        add("", shape.name.substr(0, space));
        if (space != std::string::npos) add(shape.name.substr(0, space), shape.name.substr(space + 1));
    }
    for (const auto& verb : script_verbs()) add("", std::string{verb.name});
    add("", "help");
    return next;
}

// One shell function: the answer for each value of $1.
std::string lookup_function(std::string_view name,
                            const std::vector<std::pair<std::string, std::string>>& rows) {
    auto text = fmt::format("{}() {{\n    case \"$1\" in\n", name);
    for (const auto& [key, value] : rows)
        if (!value.empty()) text += fmt::format("        {}) echo {} ;;\n", in_quotes(key), in_quotes(value));
    return text + "    esac\n}\n";
}

std::string table_for_sh() {
    const auto shapes = verb_shapes();
    std::vector<std::pair<std::string, std::string>> verbs, options, values, firsts;
    for (const auto& [before, words] : next_words(shapes))
        verbs.emplace_back(before, fmt::format("{}", fmt::join(words, " ")));
    options.emplace_back("", "--json --help --version");
    for (const auto& shape : shapes) {
        std::vector<std::string> names;
        for (const auto& option : shape.options) {
            names.push_back(option.name);
            if (!option.takes_value) continue;
            const auto words = words_of(option.value);
            values.emplace_back(shape.name + " " + option.name,
                                words.empty() ? std::string{kAnything} : words);
        }
        options.emplace_back(shape.name, fmt::format("{}", fmt::join(names, " ")));
        firsts.emplace_back(shape.name, words_of(shape.first));
    }
    return lookup_function("_dormouse_verbs", verbs) + lookup_function("_dormouse_options", options) +
           lookup_function("_dormouse_value", values) + lookup_function("_dormouse_first", firsts);
}

std::string fish_script() {
    const auto shapes = verb_shapes();
    std::string text{kFishBegin};
    text += "complete -c dormouse -f\n";
    for (const auto& [before, words] : next_words(shapes))
        for (const auto& word : words) {
            const auto name = before.empty() ? word : before + " " + word;
            const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                            [&](const VerbShape& one) { return one.name == name; });
            text += fmt::format("complete -c dormouse -n {} -a {} -d {}\n",
                                in_quotes(fmt::format("__dormouse_at {}", before)), in_quotes(word),
                                in_quotes(shape == shapes.end() ? "" : shape->summary));
        }
    const auto candidates = [](const Completions& from) {
        return from.desktops ? std::string{"(__dormouse_desktops)"}
                             : fmt::format("{}", fmt::join(from.words, " "));
    };
    for (const auto& shape : shapes) {
        const auto here = in_quotes("__dormouse_in " + shape.name);
        for (const auto& option : shape.options) {
            text += fmt::format("complete -c dormouse -n {} -l {} -d {}", here,
                                in_quotes(option.name.substr(2)), in_quotes(option.description));
            if (option.takes_value) text += fmt::format(" -x -a {}", in_quotes(candidates(option.value)));
            text += '\n';
        }
        if (shape.first.desktops || !shape.first.words.empty())
            text += fmt::format("complete -c dormouse -n {} -a {}\n",
                                in_quotes("__dormouse_at " + shape.name), in_quotes(candidates(shape.first)));
    }
    return text;
}

Action declare(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "Whose")
        ->required()
        ->option_text(" bash|zsh|fish")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    return [shell](Context& context) -> Result<int> {
        context.print(completion_script(*shell));
        return kOk;
    };
}

}  // namespace

std::vector<VerbShape> verb_shapes() {
    std::vector<VerbShape> shapes;
    for (const auto& group : verb_groups())
        for (const auto& verb : group.verbs)
            if (!verb.hidden) shapes.push_back(shape_of(verb));
    return shapes;
}

std::string completion_script(std::string_view shell) {
    if (shell == "bash") return table_for_sh() + std::string{kCandidates} + std::string{kBashEnd};
    if (shell == "zsh")
        return "#compdef dormouse\n" + table_for_sh() + std::string{kCandidates} + std::string{kZshEnd};
    if (shell == "fish") return fish_script();
    return {};
}

Verb completion_verb() {
    return {.name = "completion",
            .arguments = "bash|zsh|fish",
            .summary = "Print a script that lets the shell complete verbs, options and desktops",
            .examples = {"completion bash"},
            .details =
                "bash: source <(dormouse completion bash), for good in ~/.bashrc\n"
                "zsh:  source <(dormouse completion zsh), behind compinit in ~/.zshrc\n"
                "fish: dormouse completion fish > ~/.config/fish/completions/dormouse.fish",
            .declare = declare};
}

}  // namespace dormouse::cli
