// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/app.h"

#include <algorithm>
#include <ostream>

#include "hostd/cli/help.h"
#include "hostd/cli/suggest.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

using Words = std::vector<std::string>;

// The words are looked at in two steps: up to the verb here, behind it by CLI11
// with a CLI::App for that verb alone. CLI11's own subcommands would take a
// desktop named "list", or the text "stop" to be typed, for a verb.
struct CommandLineStart {
    bool json = false;
    bool help = false;
    bool version = false;
    Words rest;  // from the verb on
};

Result<CommandLineStart> read_start(const Words& words) {
    CommandLineStart start;
    std::size_t at = 0;
    for (; at < words.size() && words[at].size() > 1 && words[at].starts_with('-'); ++at) {
        if (words[at] == "--json")
            start.json = true;
        else if (words[at] == "--help" || words[at] == "-h")
            start.help = true;
        else if (words[at] == "--version")
            start.version = true;
        else
            return fail(Errc::InvalidArgument, fmt::format("there is no option '{}'", words[at]),
                        "see --help");
    }
    start.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    if (!start.rest.empty() && start.rest.front() == "help") {
        start.help = true;
        start.rest.erase(start.rest.begin());
    }
    return start;
}

std::vector<Verb> all_verbs() {
    std::vector<Verb> all;
    for (const auto& group : verb_groups()) all.insert(all.end(), group.verbs.begin(), group.verbs.end());
    return all;
}

tl::unexpected<Error> no_such_verb(const Words& words, const World& world) {
    const auto verbs = all_verbs();
    Words candidates;
    for (const auto& verb : verbs)
        if (!verb.hidden) candidates.emplace_back(verb.name);
    for (const auto& verb : script_verbs()) candidates.emplace_back(verb.name);
    candidates.emplace_back("help");

    const bool is_family = std::any_of(verbs.begin(), verbs.end(), [&](const Verb& verb) {
        return verb.name.starts_with(words.front() + " ");
    });
    if (is_family && words.size() == 1) {
        std::string members;
        for (const auto& verb : verbs)
            if (verb.name.starts_with(words.front() + " "))
                members += fmt::format("{}{} {}", members.empty() ? "" : ", ", world.program, verb.name);
        return fail(Errc::InvalidArgument, fmt::format("'{}' needs another word", words.front()), members);
    }
    const auto typed = is_family ? words[0] + " " + words[1] : words[0];
    auto near = nearest(typed, candidates);
    // Its second word may be all that is left out or wrong.
    if (!near) near = nearest(typed, {"token", "template"});
    return fail(Errc::InvalidArgument, fmt::format("there is no verb '{}'", typed),
                near ? fmt::format("did you mean: {} {}", world.program, *near)
                     : fmt::format("all verbs: {} --help", world.program));
}

// Takes the verb's one or two words off the front.
Result<Verb> take_verb(Words& words, const World& world) {
    for (const std::size_t count : {2U, 1U}) {
        if (words.size() < count) continue;
        const auto name = count == 2 ? words[0] + " " + words[1] : words[0];
        for (auto& verb : all_verbs()) {
            if (verb.name != name) continue;
            words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
            return std::move(verb);
        }
    }
    for (const auto& verb : script_verbs())
        if (verb.name == words.front())
            return fail(Errc::InvalidArgument,
                        fmt::format("'{}' is a verb of the script at the root of the checkout", verb.name),
                        fmt::format("run ./dormouse {} there", verb.name));
    return no_such_verb(words, world);
}

class OurFormatter final : public CLI::Formatter {
  public:
    OurFormatter(Verb verb, std::string program) : verb_(std::move(verb)), program_(std::move(program)) {}
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        return verb_help(verb_, *app, program_);
    }

  private:
    const Verb verb_;
    const std::string program_;
};

// The code, once the error has been shown.
int show_error(Context& context, Error error) {
    const auto verdict = context.judge(std::move(error));
    if (context.json()) context.print_line(schema::to_json(schema::ErrorBody{verdict.error, std::nullopt}));
    context.complain(verdict.error);
    return verdict.code;
}

int run_action(const Action& action, bool json, Streams& streams, const World& world) {
    auto connection = world.connect();
    if (!connection) {
        complain(streams, connection.error());
        return exit_code_of(connection.error().code);
    }
    Context context{std::move(*connection),
                    streams,
                    {.json = json, .program = world.program, .clock = world.clock, .pause = world.pause}};
    auto code = action(context);
    return code ? *code : show_error(context, std::move(code.error()));
}

// What is wrong with how it was called.
int usage_error(Streams& streams, const Error& error, bool json) {
    if (json) streams.out << schema::to_json(schema::ErrorBody{error, std::nullopt}) << '\n';
    complain(streams, error);
    return kUsage;
}

int run_verb(const Verb& verb, Words words, bool json, Streams& streams, const World& world) {
    CLI::App app{std::string{verb.summary}};
    app.formatter(std::make_shared<OurFormatter>(verb, world.program));
    const auto action = verb.declare(app);
    app.add_flag("--json", json, "Answer as JSON");
    app.set_help_flag("-h,--help", "Show this");
    const bool wants_json = json || std::find(words.begin(), words.end(), "--json") != words.end();
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        streams.out << app.help();
        return kOk;
    } catch (const CLI::ParseError& error) {
        const Error wrong{Errc::InvalidArgument, error.what(), "usage: " + usage_of(verb, world.program), 0};
        return usage_error(streams, wrong, wants_json);
    }
    return run_action(action, json, streams, world);
}

}  // namespace

int run(const Words& words, Streams& streams, const World& world) {
    const bool wants_json = std::find(words.begin(), words.end(), "--json") != words.end();
    auto start = read_start(words);
    if (!start) return usage_error(streams, start.error(), wants_json);
    if (start->version) {
        streams.out << "dormouse " DORMOUSE_VERSION "\n";
        return kOk;
    }
    if (start->rest.empty()) {
        streams.out << (start->help ? full_help(world.program, streams.colour) : overview(world.program));
        return kOk;
    }
    const auto verb = take_verb(start->rest, world);
    if (!verb) return usage_error(streams, verb.error(), wants_json);
    if (start->help) start->rest = {"--help"};
    return run_verb(*verb, std::move(start->rest), start->json, streams, world);
}

}  // namespace dormouse::cli
