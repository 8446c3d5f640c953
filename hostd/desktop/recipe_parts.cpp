// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/recipe_parts.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace dormouse::desktop {

namespace {

constexpr std::size_t kMostPerRepository = 100;  // suites, components, packages
constexpr std::size_t kMostKeyBytes = 64 << 10;
constexpr std::size_t kMostPathBytes = 500;
constexpr std::size_t kMostCommandBytes = 16 << 10;
constexpr std::size_t kMostFiles = 2000;

constexpr std::string_view kKeyBegin = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
constexpr std::string_view kKeyEnd = "-----END PGP PUBLIC KEY BLOCK-----";

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return is_lower(c) || is_upper(c);
}

template <class Predicate>
bool all(std::string_view text, Predicate predicate) {
    return std::all_of(text.begin(), text.end(), predicate);
}
bool all_of_set(std::string_view text, std::string_view more) {
    return all(text, [&](char c) { return is_letter(c) || is_digit(c) || more.find(c) != more.npos; });
}

// "bookworm", "stable/updates", "./": what deb822 takes for a suite or component.
bool is_archive_word(std::string_view text) {
    return !text.empty() && text.front() != '-' && all_of_set(text, ".-_/+~") && text.find("..") == text.npos;
}

bool is_archive_uri(std::string_view text) {
    std::string_view rest = text;
    for (const std::string_view scheme : {"https://", "http://"})
        if (text.starts_with(scheme)) rest.remove_prefix(scheme.size());
    if (rest.size() == text.size() || rest.empty()) return false;
    const auto host = rest.substr(0, rest.find('/'));
    return !host.empty() && all_of_set(host, ".-:[]") && all_of_set(rest, ".-_:/+~%=[]");
}

// Absolute and plain: what is written is what is meant.
bool is_plain_path(std::string_view path) {
    if (path.size() < 2 || path.front() != '/' || path.back() == '/') return false;
    std::size_t at = 1;
    while (at <= path.size()) {
        const auto end = std::min(path.find('/', at), path.size());
        const auto part = path.substr(at, end - at);
        if (part.empty() || part == "." || part == "..") return false;
        at = end + 1;
    }
    return true;
}

// These are not of the disk: what is put there would be gone.
bool is_below_mount(std::string_view path) {
    constexpr std::array kMounts{"/dev", "/proc", "/sys", "/run", "/tmp"};
    return std::any_of(kMounts.begin(), kMounts.end(), [&](std::string_view mount) {
        return path == mount || (path.starts_with(mount) && path[mount.size()] == '/');
    });
}

std::optional<unsigned> parse_mode(std::string_view text) {
    if (text.size() < 3 || text.size() > 4) return std::nullopt;
    unsigned mode = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, mode, 8);
    if (parsed.ec != std::errc{} || parsed.ptr != end || mode > 07777) return std::nullopt;
    return mode;
}

std::optional<std::string> decode_base64(std::string_view text) {
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    std::size_t size = 0;
    const char* end = nullptr;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                          text.size(), " \r\n", &size, &end, sodium_base64_VARIANT_ORIGINAL) != 0 ||
        end != text.data() + text.size())
        return std::nullopt;
    bytes.resize(size);
    return bytes;
}

// What all entries of one `files.add` have in common.
struct FileRules {
    std::string path;
    std::string mode;
    bool is_users = false;
};

void add_file(RecipeReader& in, const toml::node& node, std::string_view key, RecipeFile file,
              Recipe& recipe) {
    if (!is_plain_path(file.path))
        return in.wrong_at(node, key,
                           fmt::format("must be an absolute path without '.' and '..', not {}",
                                       quoted_for_error(file.path)));
    if (file.path.size() > kMostPathBytes)
        return in.wrong_at(node, key, fmt::format("has more than {} bytes", kMostPathBytes));
    if (is_below_mount(file.path))
        return in.wrong_at(node, key,
                           fmt::format("is {}: what lies there is not kept", quoted_for_error(file.path)));
    if (recipe.files.size() >= kMostFiles)
        return in.wrong_at(node, key, fmt::format("is one of more than {} files", kMostFiles));
    recipe.files.push_back(std::move(file));
}

// {path = "sub/name", mode = "0755", data = "base64"}: a file that the command
// line has packed. Below the entry's path; path = "" is the entry's path itself.
void read_packed_file(RecipeReader& in, const toml::node& node, const FileRules& rules, Recipe& recipe) {
    const auto* table = node.as_table();
    if (!table) return in.wrong_at(node, "source", "must be the name of a file beside the recipe");
    RecipeReader packed{*table, "files.add.source."};
    std::string below;
    std::string mode = "0644";
    std::string data;
    packed.text("path", below, {.most_bytes = kMostPathBytes, .may_be_empty = true});
    packed.text("mode", mode);
    packed.text("data", data, {.most_bytes = kMostRecipeBytes, .may_be_empty = true}, true);
    const auto bits = parse_mode(rules.mode.empty() ? mode : rules.mode);
    if (!bits) packed.wrong("mode", "must be octal digits such as \"0755\"");
    auto content = decode_base64(data);
    if (!content) packed.wrong("data", "is not base64");
    if (auto error = packed.finish()) return in.take_over(std::move(error));
    RecipeFile file{.path = below.empty() ? rules.path : rules.path + "/" + below,
                    .content = std::move(*content),
                    .mode = *bits,
                    .is_users = rules.is_users};
    add_file(in, node, "path", std::move(file), recipe);
}

void read_source(RecipeReader& entry, const toml::node& source, const FileRules& rules, Recipe& recipe) {
    const auto* packed = source.as_array();
    if (!packed)
        return entry.wrong_at(source, "source",
                              "names a file beside the recipe, which only `dormouse template build` can "
                              "read; here, give the file's `content`");
    for (const auto& one : *packed) {
        if (entry.failed()) return;
        read_packed_file(entry, one, rules, recipe);
    }
}

}  // namespace

bool is_package_name(std::string_view text) {
    const auto ok = [](char c) {
        return is_lower(c) || is_digit(c) || c == '+' || c == '-' || c == '.' || c == ':';
    };
    // apt takes a '-' or '+' at the end for an order to remove or to install.
    return text.size() >= 2 && text.size() <= 100 && (is_lower(text.front()) || is_digit(text.front())) &&
           text.back() != '-' && (text.back() != '+' || text.ends_with("++")) && all(text, ok);
}

bool is_locale(std::string_view text) {
    constexpr std::string_view kEncoding = ".UTF-8";
    if (!text.ends_with(kEncoding)) return false;
    text.remove_suffix(kEncoding.size());
    if (text == "C") return true;
    const auto language = text.substr(0, text.find('_'));
    if (language.size() < 2 || language.size() > 3 || language.size() == text.size()) return false;
    const auto country = text.substr(language.size() + 1);
    return all(language, is_lower) && country.size() == 2 && all(country, is_upper);
}

bool is_timezone(std::string_view text) {
    return !text.empty() && text.size() <= 60 && is_letter(text.front()) &&
           is_plain_path("/" + std::string{text}) && all_of_set(text, "_+-/");
}

bool is_keyboard(std::string_view text) {
    return text.size() >= 2 && text.size() <= 12 && all(text, is_lower);
}

bool is_user_name(std::string_view text) {
    return is_identifier(text) && text != "root" && text.size() <= 31;
}

bool parse_screen(std::string_view text, int& width, int& height) {
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, width);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x') return false;
    const auto second = std::from_chars(first.ptr + 1, end, height);
    return second.ec == std::errc{} && second.ptr == end && width >= 640 && width <= 3840 && height >= 480 &&
           height <= 2160 && width % 2 == 0 && height % 2 == 0;
}

void read_repository(RecipeReader& in, const toml::node& node, Recipe& recipe) {
    const auto* table = node.as_table();
    if (!table) return in.wrong_at(node, "repositories", "must be [[repositories]] tables");
    RecipeReader entry{*table, "repositories."};
    RecipeRepository made;
    entry.text("name", made.name, {}, true);
    entry.text("uri", made.uri, {}, true);
    entry.texts("suites", made.suites, kMostPerRepository);
    entry.texts("components", made.components, kMostPerRepository);
    entry.text("key", made.key, {.most_bytes = kMostKeyBytes, .may_have_lines = true}, true);
    entry.texts("install", made.packages, kMostPerRepository);
    if (!made.name.empty() && !is_identifier(made.name))
        entry.wrong("name", "must be lower-case letters, digits and '-', beginning with a letter");
    for (const auto& other : recipe.repositories)
        if (other.name == made.name) entry.wrong("name", "is there twice");
    if (!made.uri.empty() && !is_archive_uri(made.uri))
        entry.wrong("uri", "must be an http:// or https:// address without name and password");
    for (const auto& word : made.suites)
        if (!is_archive_word(word)) entry.wrong("suites", "has an entry that is not a suite");
    for (const auto& word : made.components)
        if (!is_archive_word(word)) entry.wrong("components", "has an entry that is not a component");
    for (const auto& package : made.packages)
        if (!is_package_name(package))
            entry.wrong("install",
                        fmt::format("names {}, which is not a package name", quoted_for_error(package)));
    if (!made.key.empty() &&
        (made.key.find(kKeyBegin) == std::string::npos || made.key.find(kKeyEnd) == std::string::npos))
        entry.wrong("key",
                    fmt::format("must be the armoured key itself, from {} on; the name of a file beside the "
                                "recipe only for `dormouse template build`",
                                kKeyBegin));
    if (auto error = entry.finish()) return in.take_over(std::move(error));
    if (made.suites.empty()) return in.wrong_at(node, "repositories", "needs `suites`");
    recipe.repositories.push_back(std::move(made));
}

void read_file_entry(RecipeReader& in, const toml::node& node, Recipe& recipe) {
    const auto* table = node.as_table();
    if (!table) return in.wrong_at(node, "add", "must be [[files.add]] tables");
    RecipeReader entry{*table, "files.add."};
    FileRules rules;
    std::string owner = "root";
    std::string content;
    entry.text("path", rules.path, {}, true);
    entry.text("mode", rules.mode);
    entry.text("owner", owner);
    entry.text("content", content,
               {.most_bytes = kMostRecipeBytes, .may_be_empty = true, .may_have_lines = true});
    const auto* source = entry.take("source");
    if (owner != "root" && owner != "user") entry.wrong("owner", "must be \"root\" or \"user\"");
    rules.is_users = owner == "user";
    if (!rules.mode.empty() && !parse_mode(rules.mode))
        entry.wrong("mode", "must be octal digits such as \"0755\"");
    if (source && entry.has("content")) entry.wrong("source", "and 'content' exclude each other");
    if (source && !entry.failed()) read_source(entry, *source, rules, recipe);
    if (auto error = entry.finish()) return in.take_over(std::move(error));
    if (source) return;
    if (!entry.has("content")) return in.wrong_at(node, "add", "needs `content` or `source`");
    RecipeFile file{
        .path = rules.path, .content = std::move(content), .mode = 0644, .is_users = rules.is_users};
    if (!rules.mode.empty()) file.mode = *parse_mode(rules.mode);
    add_file(in, node, "add.path", std::move(file), recipe);
}

void read_command(RecipeReader& in, const toml::node& node, Recipe& recipe, const std::string& recipe_name) {
    constexpr RecipeTextLimits kLimits{.most_bytes = kMostCommandBytes, .may_have_lines = true};
    RecipeCommand command{.text = {}, .as_user = false, .recipe = recipe_name, .line = line_of(node)};
    if (const auto* text = node.as_string()) {
        if (const auto bad = check_text(text->get(), kLimits))
            return in.wrong_at(node, "commands", "has an entry that " + *bad);
        command.text = text->get();
    } else if (const auto* table = node.as_table()) {
        RecipeReader entry{*table, "system.commands."};
        std::string as = "root";
        entry.text("run", command.text, kLimits, true);
        entry.text("as", as);
        if (as != "root" && as != "user") entry.wrong("as", "must be \"root\" or \"user\"");
        command.as_user = as == "user";
        if (auto error = entry.finish()) return in.take_over(std::move(error));
    } else {
        return in.wrong_at(node, "commands", "must be texts, or tables {run = \"...\", as = \"user\"}");
    }
    recipe.commands.push_back(std::move(command));
}

}  // namespace dormouse::desktop
