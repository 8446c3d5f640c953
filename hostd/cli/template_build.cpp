// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <ostream>

#include "hostd/base/file.h"
#include "hostd/cli/interruption.h"
#include "hostd/cli/recipe_packer.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

constexpr std::size_t kMostRecipe = 1 << 20;
constexpr auto kPoll = std::chrono::milliseconds{400};
// A step's line in the log: "==   12 s  fetching packages".
constexpr std::string_view kStep = "== ";

struct Options {
    std::string file;
    std::string name;
    bool quiet = false;
};

// Follows one operation: shows its log on standard error, cancels it when asked to.
class Build {
  public:
    Build(Context& context, const Options& options, std::string operation)
        : context_(context), options_(options), id_(std::move(operation)) {}

    Result<schema::Operation> follow() {
        for (;;) {
            DORMOUSE_TRY(cancel_when_asked());
            // First the state, then the log: so nothing of it is left out in the end.
            DORMOUSE_TRY_ASSIGN(auto operation, context_.client().get_operation(id_));
            DORMOUSE_TRY(show_log());
            if (operation.state != "running") return operation;
            context_.pause(kPoll);
        }
    }

  private:
    Result<> cancel_when_asked() {
        if (!interruption_.asked() || cancelled_) return {};
        cancelled_ = true;
        context_.streams().err << "cancelling; what there is of it is removed\n" << std::flush;
        const auto asked = context_.client().cancel_operation(id_);
        // It may have ended meanwhile.
        if (!asked && asked.error().code != Errc::Conflict) return fail(asked.error());
        return {};
    }

    Result<> show_log() {
        for (;;) {
            DORMOUSE_TRY_ASSIGN(const auto part, context_.client().get_operation_log(id_, offset_));
            std::string_view rest = part.text;
            while (!rest.empty()) {
                const auto end = std::min(rest.find('\n'), rest.size());
                show_line(rest.substr(0, end));
                rest.remove_prefix(std::min(end + 1, rest.size()));
            }
            context_.streams().err << std::flush;
            if (part.next_offset <= offset_ || part.text.empty()) return {};
            offset_ = part.next_offset;
        }
    }

    void show_line(std::string_view line) {
        const bool is_step = line.starts_with(kStep) && line.find(" s  ") != std::string_view::npos;
        if (options_.quiet && !is_step) return;
        const bool colour = context_.streams().err_is_terminal;
        context_.streams().err << styled(plain(line), is_step ? Style::Bold : Style::Dim, colour) << "\n";
    }

    Context& context_;
    const Options& options_;
    const std::string id_;
    Interruption interruption_;
    bool cancelled_ = false;
    std::uint64_t offset_ = 0;
};

// The name alone goes to standard output: NAME=$(dormouse template build my.toml).
Result<int> build(Context& context, const Options& options) {
    namespace fs = std::filesystem;
    auto text = read_file(options.file, kMostRecipe);
    if (!text) return fail(text.error());
    auto packed = pack_recipe(*text, fs::absolute(options.file).lexically_normal().parent_path());
    if (!packed) return fail_in(options.file, packed.error());
    schema::BuildTemplateRequest request{.recipe = std::move(*packed), .name = {}};
    if (!options.name.empty()) request.name = options.name;
    auto begun = context.client().build_template(request);
    if (!begun) {
        if (begun.error().code == Errc::InvalidArgument) return fail_in(options.file, begun.error());
        return fail(begun.error());
    }
    Build watching{context, options, begun->operation.id};
    DORMOUSE_TRY_ASSIGN(const auto ended, watching.follow());
    if (ended.state == "cancelled")
        return fail(Errc::Interrupted, "the build was cancelled; the templates are as before");
    if (ended.state != "succeeded") {
        auto error = ended.error.value_or(Error{Errc::Internal, "the build failed", {}, 0});
        return error.code == Errc::InvalidArgument ? fail_in(options.file, std::move(error))
                                                   : fail(std::move(error));
    }
    const auto name = ended.image.value_or("");
    if (context.json()) {
        DORMOUSE_TRY_ASSIGN(const auto made, context.client().get_template(name));
        context.print_line(schema::to_json(made));
        return kOk;
    }
    context.print_line(plain(name));
    context.streams().out.flush();
    context.note("  make a desktop of it: " + context.command("create --template " + name));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("FILE", options->file, "The recipe")->required()->option_text(" ");
    app.add_option("--name", options->name, "A name instead of the recipe's")->option_text(" NAME");
    app.add_flag("--quiet", options->quiet, "Show the steps, but not what the tools say");
    return [options](Context& context) { return build(context, *options); };
}

}  // namespace

Verb template_build_verb() {
    return {
        .name = "template build",
        .arguments = "FILE [--name NAME] [--quiet]",
        .summary = "Make a template from a recipe of your own",
        .examples = {"template build my.toml", "template build my.toml --name other"},
        .details =
            "A recipe of five lines will do: docs/templates.md. Files beside it that it names are sent "
            "along. Ctrl-C ends the build and leaves nothing. Where nothing has changed it takes seconds.",
        .declare = declare};
}

}  // namespace dormouse::cli
