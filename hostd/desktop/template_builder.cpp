// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_builder.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "hostd/base/file.h"
#include "hostd/base/process.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// The slowest part is the packages of a first bake, over a slow line.
constexpr auto kBuilderTimeout = 90min;
// To take down mounts and hundreds of thousands of files.
constexpr auto kBuilderGrace = 2min;
constexpr std::size_t kMostBecause = 10;
constexpr int kLockInBuilder = 8;
constexpr std::size_t kMostCommandShown = 200;

bool take_word(std::string_view& line, std::string_view word) {
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') return false;
    line.remove_prefix(word.size() + 1);
    return true;
}

// "003 2" and the like: whole numbers, separated by a space.
std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    return number;
}

std::string number_name(std::size_t index) {
    return fmt::format("{:03d}", index + 1);
}

// One line, so that a message stays one.
std::string shown(std::string_view text) {
    std::string line{text.substr(0, kMostCommandShown)};
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    if (text.size() > kMostCommandShown) line += "...";
    return line;
}

std::string with_reasons(std::string message, const BuilderSaid& said) {
    for (const auto& line : said.because) message += (&line == &said.because.front() ? ": " : "; ") + line;
    return message;
}

Error wrong(std::string message, const BuilderSaid& said, std::string hint) {
    return {Errc::InvalidArgument, with_reasons(std::move(message), said), std::move(hint), 0};
}

std::string where(const Recipe& recipe, const RecipeCommand& command) {
    const auto line = fmt::format("line {}", command.line);
    return command.recipe == recipe.name.str() ? line : fmt::format("{} of '{}'", line, command.recipe);
}

std::optional<Error> explain_command(const Recipe& recipe, std::string_view rest, const BuilderSaid& said) {
    const auto number = take_number(rest);
    const auto status = take_number(rest);
    if (!number || !status || *number < 1 || static_cast<std::size_t>(*number) > recipe.commands.size())
        return std::nullopt;
    const auto& command = recipe.commands[static_cast<std::size_t>(*number) - 1];
    return wrong(fmt::format("command {} of {} ({}) ended with exit status {}: `{}`", *number,
                             recipe.commands.size(), where(recipe, command), *status, shown(command.text)),
                 said, "the log has all that it said");
}

std::optional<Error> explain_file(const Recipe& recipe, std::string_view rest, const BuilderSaid& said) {
    const auto number = take_number(rest);
    if (!number || *number < 1 || static_cast<std::size_t>(*number) > recipe.files.size())
        return std::nullopt;
    const auto& file = recipe.files[static_cast<std::size_t>(*number) - 1];
    return wrong(fmt::format("the file '{}' cannot be written", shown(file.path)), said, {});
}

Error explain_repository(const Recipe& recipe, std::string_view name, const BuilderSaid& said) {
    std::string what = "Debian's mirror";
    for (const auto& repository : recipe.repositories)
        if (repository.name == name) what = fmt::format("the repository '{}' ({})", name, repository.uri);
    return {Errc::Unavailable, with_reasons(what + " cannot be used", said),
            "can this host reach it, and are its uri, suites, components and key right?", 0};
}

// A pipe whose one end is the builder's standard input, the other `kept`.
UniqueFd lifeline_for(CommandLine& command, UniqueFd& kept) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return {};
    kept = UniqueFd{fds[1]};
    UniqueFd given{fds[0]};
    command.descriptors.emplace(0, given.get());
    return given;
}

}  // namespace

std::optional<BuilderProgress> read_builder_line(std::string_view line, BuilderSaid& said) {
    if (take_word(line, "failed")) {
        if (said.failed.empty()) said.failed = line;
    } else if (take_word(line, "because")) {
        if (said.because.size() < kMostBecause) said.because.emplace_back(line);
    } else if (take_word(line, "progress")) {
        BuilderProgress progress;
        const auto parsed = std::from_chars(line.data(), line.data() + line.size(), progress.done);
        if (parsed.ec != std::errc{} || !(progress.done >= 0 && progress.done <= 1)) return std::nullopt;
        line.remove_prefix(static_cast<std::size_t>(parsed.ptr - line.data()));
        if (!line.empty()) line.remove_prefix(1);
        progress.step = line;
        return progress;
    }
    return std::nullopt;
}

std::optional<Error> explain_failure(const Recipe& recipe, const BuilderSaid& said) {
    std::string_view what = said.failed;
    if (what == "packages")
        return wrong("the packages cannot be installed", said,
                     "are their names right, and is Debian's mirror reachable?");
    if (what == "space")
        return Error{Errc::Io, with_reasons("the disk image cannot be written", said), {}, 0};
    if (take_word(what, "command")) return explain_command(recipe, what, said);
    if (take_word(what, "file")) return explain_file(recipe, what, said);
    if (take_word(what, "repository")) return explain_repository(recipe, what, said);
    if (take_word(what, "system")) return wrong(fmt::format("'system.{}' cannot be set up", what), said, {});
    return std::nullopt;
}

Result<> write_parts(const Recipe& recipe, const fs::path& folder) {
    for (const char* part : {"sources", "files", "commands"}) DORMOUSE_TRY(make_directories(folder / part));
    std::string install;
    for (const auto& package : recipe.added_packages) install += package + "\n";
    for (const auto& repository : recipe.repositories) {
        for (const auto& package : repository.packages) install += package + "\n";
        DORMOUSE_TRY(
            write_file_atomic(folder / "sources" / (repository.name + ".sources"), sources_text(repository)));
    }
    if (!install.empty()) DORMOUSE_TRY(write_file_atomic(folder / "install", install));
    for (std::size_t i = 0; i < recipe.files.size(); ++i) {
        const auto& file = recipe.files[i];
        const auto name = folder / "files" / number_name(i);
        DORMOUSE_TRY(write_file_atomic(name, file.content));
        DORMOUSE_TRY(write_file_atomic(
            name.string() + ".place",
            fmt::format("{:04o} {} {}\n", file.mode, file.is_users ? "user" : "root", file.path)));
    }
    for (std::size_t i = 0; i < recipe.commands.size(); ++i) {
        const auto& command = recipe.commands[i];
        const auto name = fmt::format("{}.{}", number_name(i), command.as_user ? "user" : "root");
        DORMOUSE_TRY(write_file_atomic(folder / "commands" / name, command.text + "\n"));
    }
    return {};
}

std::string sources_text(const RecipeRepository& repository) {
    const auto joined = [](const std::vector<std::string>& words) {
        std::string text;
        for (const auto& word : words) text += " " + word;
        return text;
    };
    std::string text =
        fmt::format("Types: deb\nURIs: {}\nSuites:{}\n", repository.uri, joined(repository.suites));
    if (!repository.components.empty()) text += fmt::format("Components:{}\n", joined(repository.components));
    // A block in the field itself: each line is indented, an empty one is a dot.
    text += "Signed-By:\n";
    std::string_view rest = repository.key;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
            line.remove_suffix(1);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        text += fmt::format(" {}\n", line.empty() ? "." : line);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text;
}

std::vector<std::string> packages_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                            const BuilderFolders& folders) {
    return {"bash",
            inputs.builder.string(),
            "packages",
            "--suite",
            recipe.suite,
            "--packages",
            folders.packages.string(),
            "--output",
            folders.output.string(),
            "--work",
            folders.work.string(),
            "--log",
            folders.log.string(),
            "--locale",
            recipe.locale};
}

std::vector<std::string> disk_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                        const BuilderFolders& folders) {
    return {"bash",
            inputs.builder.string(),
            "disk",
            "--packages-tar",
            folders.packages.string(),
            "--overlay",
            recipe.overlay.string(),
            "--agent",
            inputs.agent_binary.string(),
            "--parts",
            folders.parts.string(),
            "--output",
            folders.output.string(),
            "--work",
            folders.work.string(),
            "--log",
            folders.log.string(),
            "--suite",
            recipe.suite,
            "--user",
            recipe.user,
            "--locale",
            recipe.locale,
            "--timezone",
            recipe.timezone,
            "--keyboard",
            recipe.keyboard,
            "--disk-gib",
            std::to_string(recipe.disk_gib),
            "--began",
            std::to_string(std::chrono::system_clock::to_time_t(
                std::chrono::time_point_cast<std::chrono::system_clock::duration>(folders.began)))};
}

Task<Result<>> run_builder(EventLoop& loop, WorkPool& pool, std::vector<std::string> arguments, Recipe recipe,
                           std::function<void(BuilderProgress)> progress, int lock,
                           std::shared_ptr<std::atomic<bool>> cancelled) {
    // Written by the pool's thread alone until it is done.
    auto said = std::make_shared<BuilderSaid>();
    auto on_line = [&loop, progress, said](std::string_view line) {
        auto told = read_builder_line(line, *said);
        if (told) loop.post([progress, told = std::move(*told)] { progress(told); });
    };
    auto job = run_on(
        pool, loop, [arguments = std::move(arguments), on_line, lock, cancelled]() -> Result<std::string> {
            CommandLine command{.argv = arguments};
            UniqueFd ours;
            const auto theirs = lifeline_for(command, ours);
            if (!theirs) return fail_errno("cannot make a pipe");
            // For as long as it lives no other bake begins, also where this process has ended.
            command.descriptors.emplace(kLockInBuilder, lock);
            return run_checked(command, {.timeout = kBuilderTimeout,
                                         .grace = kBuilderGrace,
                                         .on_line = on_line,
                                         .cancelled = [cancelled] { return cancelled->load(); }});
        });
    auto output = co_await std::move(job);
    if (output) co_return Result<>{};
    if (output.error().code == Errc::Interrupted) co_return fail(Errc::Interrupted, "the bake was cancelled");
    if (auto explained = explain_failure(recipe, *said)) co_return fail(std::move(*explained));
    co_return fail(output.error());
}

}  // namespace dormouse::desktop
