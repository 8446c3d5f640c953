// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/recipe.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "hostd/base/file.h"
#include "hostd/base/toml.h"

namespace dormouse::desktop {

namespace {

std::string at(const toml::node& node) {
    return fmt::format("line {}", node.source().begin.line);
}

// Reads one table and remembers the first thing that is wrong with it.
class Reader {
  public:
    Reader(const toml::table& table, std::string prefix) : table_(table), prefix_(std::move(prefix)) {}

    void text(std::string_view key, std::string& out, bool required = true) {
        const auto* node = take(key, required);
        if (!node) return;
        if (const auto* value = node->as_string())
            out = value->get();
        else
            wrong(*node, key, "must be a text");
    }
    void number(std::string_view key, int& out, int low, int high) {
        const auto* node = take(key, false);
        if (!node) return;
        const auto* value = node->as_integer();
        if (value && value->get() >= low && value->get() <= high)
            out = static_cast<int>(value->get());
        else
            wrong(*node, key, fmt::format("must be a whole number from {} to {}", low, high));
    }
    void texts(std::string_view key, std::vector<std::string>& out) {
        const auto* node = take(key, false);
        if (!node) return;
        const auto* array = node->as_array();
        if (!array) return wrong(*node, key, "must be a list of texts");
        for (const auto& element : *array) {
            const auto* value = element.as_string();
            if (!value) return wrong(element, key, "must be a list of texts");
            out.push_back(value->get());
        }
    }
    const toml::table* table(std::string_view key) {
        static const toml::table empty;
        const auto* node = take(key, false);
        if (!node) return &empty;
        if (!node->is_table()) wrong(*node, key, "must be a [table]");
        return node->is_table() ? node->as_table() : &empty;
    }
    void fail_at(std::string_view key, const std::string& what) {
        if (const auto* node = table_.get(key)) wrong(*node, key, what);
    }
    // To be called last: what nobody asked for is an error.
    std::optional<Error> finish() {
        for (const auto& [key, node] : table_)
            if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
                wrong(node, key.str(), "is not a key of a recipe");
        return error_ ? error_ : missing_;  // a key that is written wrongly explains one that is missing
    }

  private:
    const toml::node* take(std::string_view key, bool required) {
        known_.push_back(std::string{key});
        const auto* node = table_.get(key);
        if (!node && required && !missing_)
            missing_ = Error{Errc::InvalidArgument, fmt::format("'{}{}' is missing", prefix_, key), {}, 0};
        return node;
    }
    void wrong(const toml::node& node, std::string_view key, const std::string& what) {
        if (!error_)
            error_ = Error{
                Errc::InvalidArgument, fmt::format("{}: '{}{}' {}", at(node), prefix_, key, what), {}, 0};
    }

    const toml::table& table_;
    std::string prefix_;
    std::vector<std::string> known_;
    std::optional<Error> error_;
    std::optional<Error> missing_;
};

// "1280x800"; each side a multiple of 2 within what virtio-gpu and encoders take.
bool parse_screen(const std::string& text, int& width, int& height) {
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, width);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x') return false;
    const auto second = std::from_chars(first.ptr + 1, end, height);
    return second.ec == std::errc{} && second.ptr == end && width >= 640 && width <= 3840 && height >= 480 &&
           height <= 2160;
}

// A Debian package name; what mmdebstrap gets must not look like an option or a list.
bool is_package_name(const std::string& name) {
    const auto ok = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' ||
               c == ':';
    };
    return name.size() >= 2 && name.front() != '-' && std::all_of(name.begin(), name.end(), ok);
}

Result<Recipe> read_recipe(const toml::table& root, const std::filesystem::path& source_root) {
    Reader top{root, ""};
    std::string name;
    top.text("name", name);
    std::string description;
    std::string suite;
    top.text("description", description, false);
    top.text("suite", suite);
    const auto* machine = top.table("machine");
    const auto* packages = top.table("packages");
    const auto* files = top.table("files");
    const auto* system = top.table("system");
    if (auto error = top.finish()) return fail(std::move(*error));

    DORMOUSE_TRY_ASSIGN(auto parsed_name, TemplateName::parse(name));
    Recipe recipe{.name = std::move(parsed_name), .description = description, .suite = suite};

    Reader in_machine{*machine, "machine."};
    in_machine.number("memory_mib", recipe.memory_mib, 512, 65536);
    in_machine.number("cpus", recipe.cpus, 1, 32);
    in_machine.number("disk_gib", recipe.disk_gib, 4, 2048);
    std::string screen = "1280x800";
    in_machine.text("screen", screen, false);
    if (!parse_screen(screen, recipe.screen_width, recipe.screen_height))
        in_machine.fail_at("screen", "must be WIDTHxHEIGHT from 640x480 to 3840x2160");
    in_machine.text("kernel_arguments", recipe.kernel_arguments);
    if (auto error = in_machine.finish()) return fail(std::move(*error));

    Reader in_packages{*packages, "packages."};
    in_packages.texts("install", recipe.packages);
    for (const auto& package : recipe.packages)
        if (!is_package_name(package))
            in_packages.fail_at("install", fmt::format("names '{}', which is not a package name", package));
    if (auto error = in_packages.finish()) return fail(std::move(*error));

    Reader in_files{*files, "files."};
    std::string overlay;
    in_files.text("overlay", overlay, false);
    if (auto error = in_files.finish()) return fail(std::move(*error));
    if (!overlay.empty()) recipe.overlay = (source_root / overlay).lexically_normal();

    Reader in_system{*system, "system."};
    in_system.text("locale", recipe.locale, false);
    in_system.text("timezone", recipe.timezone, false);
    in_system.text("keyboard", recipe.keyboard, false);
    in_system.text("user", recipe.user);
    in_system.texts("commands", recipe.commands);
    if (auto error = in_system.finish()) return fail(std::move(*error));
    if (!is_identifier(recipe.suite))
        return fail(Errc::InvalidArgument, "'suite' must be the name of a Debian release");
    if (!is_identifier(recipe.user)) return fail(Errc::InvalidArgument, "'system.user' must be a user name");
    return recipe;
}

}  // namespace

Result<Recipe> parse_recipe(std::string_view toml_text, const std::filesystem::path& source_root) {
    try {
        const auto root = toml::parse(toml_text);
        return read_recipe(root, source_root);
    } catch (const toml::parse_error& error) {
        return fail(Errc::InvalidArgument,
                    fmt::format("line {}: {}", error.source().begin.line, std::string{error.description()}));
    } catch (const std::runtime_error& error) {
        return fail(Errc::InvalidArgument, error.what());
    }
}

Result<Recipe> load_recipe(const std::filesystem::path& file, const std::filesystem::path& source_root) {
    DORMOUSE_TRY_ASSIGN(const auto text, read_file(file, 1 << 20));
    auto recipe = parse_recipe(text, source_root);
    if (!recipe) return fail_in(file.string(), recipe.error());
    return recipe;
}

}  // namespace dormouse::desktop
