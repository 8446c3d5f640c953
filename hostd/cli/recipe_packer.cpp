// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/recipe_packer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "hostd/base/file.h"
#include "hostd/base/toml.h"
#include "hostd/cli/text.h"
#include "hostd/schema/base64.h"

namespace dormouse::cli {

namespace fs = std::filesystem;

namespace {

// The daemon takes requests of at most 1 MiB, and base64 makes four bytes of three.
constexpr std::uint64_t kMostBytes = 700 << 10;
constexpr std::string_view kKeyMark = "-----BEGIN PGP";

struct Replacement {
    std::size_t begin;  // bytes of the text
    std::size_t end;
    std::string text;
};

// Lines and columns count from 1, columns in characters.
std::size_t offset_of(std::string_view text, const toml::source_position& position) {
    std::size_t at = 0;
    for (toml::source_index line = 1; line < position.line; ++line) at = text.find('\n', at) + 1;
    const auto is_inside = [&](std::size_t byte) {
        return byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xc0) == 0x80;
    };
    for (toml::source_index column = 1; column < position.column && at < text.size(); ++column)
        for (++at; is_inside(at); ++at) {
        }
    return at;
}

std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += std::string{'\\'} + c;
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out + "\"";
}

class Packer {
  public:
    Packer(const std::string& text, fs::path folder) : text_(text), folder_(std::move(folder)) {}

    Result<> look(const toml::table& root) {
        if (const auto* files = root["files"]["add"].as_array())
            for (const auto& entry : *files) DORMOUSE_TRY(pack(entry, "source"));
        if (const auto* repositories = root["repositories"].as_array())
            for (const auto& entry : *repositories) DORMOUSE_TRY(pack(entry, "key"));
        return {};
    }
    std::string packed() {
        std::sort(found_.begin(), found_.end(),
                  [](const auto& a, const auto& b) { return a.begin > b.begin; });
        auto out = text_;
        for (const auto& one : found_) out.replace(one.begin, one.end - one.begin, one.text);
        return out;
    }

  private:
    Result<> pack(const toml::node& entry, std::string_view key) {
        const auto* table = entry.as_table();
        const auto* value = table ? table->get_as<std::string>(key) : nullptr;
        if (!value) return {};
        const bool is_key = key == "key";
        if (is_key && value->get().find(kKeyMark) != std::string::npos) return {};
        auto made = is_key ? pack_key(value->get()) : pack_source(value->get());
        if (!made)
            return fail_in(fmt::format("line {}: '{}'", value->source().begin.line, key), made.error());
        found_.push_back({offset_of(text_, value->source().begin), offset_of(text_, value->source().end),
                          std::move(*made)});
        return {};
    }

    Result<std::string> pack_key(const std::string& name) {
        DORMOUSE_TRY_ASSIGN(const auto path, place_of(name));
        DORMOUSE_TRY_ASSIGN(const auto content, read(path));
        if (content.find(kKeyMark) == std::string::npos)
            return fail(Errc::InvalidArgument, fmt::format("{} is not an armoured key", plain(name)),
                        "make it one: gpg --enarmor < KEY > KEY.asc");
        return toml_text(content);
    }

    Result<std::string> pack_source(const std::string& name) {
        DORMOUSE_TRY_ASSIGN(const auto path, place_of(name));
        std::string list;
        DORMOUSE_TRY(pack_below(path, {}, list));
        return fmt::format("[{}]", list);
    }

    // Where a name of the recipe leads: below its folder, by no link.
    Result<fs::path> place_of(const std::string& name) const {
        const auto path = fs::path{name}.lexically_normal();
        if (name.empty() || path.is_absolute() || *path.begin() == ".." ||
            name.find('\0') != std::string::npos)
            return fail(
                Errc::InvalidArgument,
                fmt::format("'{}' must be the name of a file or folder beside the recipe", plain(name)),
                fmt::format("beside the recipe is {}", folder_.string()));
        auto at = folder_;
        for (const auto& part : path) {
            at /= part;
            DORMOUSE_TRY(no_link(at));
        }
        return folder_ / path;
    }

    static Result<> no_link(const fs::path& path) {
        struct stat info {};
        if (::lstat(path.c_str(), &info) != 0) return fail_errno(path.string());
        if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return {};
        return fail(
            Errc::InvalidArgument,
            fmt::format("{} is neither a plain file nor a folder; links are not followed", path.string()));
    }

    Result<> pack_below(const fs::path& path, const std::string& name, std::string& list) {
        DORMOUSE_TRY(no_link(path));
        std::error_code error;
        if (!fs::is_directory(path, error)) return pack_file(path, name, list);
        std::vector<fs::path> inside;
        for (const auto& entry : fs::directory_iterator{path, error}) inside.push_back(entry.path());
        if (error) return fail_errno(path.string(), error.value());
        std::sort(inside.begin(), inside.end());
        for (const auto& one : inside) {
            const auto below = one.filename().string();
            DORMOUSE_TRY(pack_below(one, name.empty() ? below : name + "/" + below, list));
        }
        return {};
    }

    Result<> pack_file(const fs::path& path, const std::string& name, std::string& list) {
        DORMOUSE_TRY_ASSIGN(const auto content, read(path));
        list += fmt::format("{}{{path = {}, mode = \"{}\", data = \"{}\"}}", list.empty() ? "" : ", ",
                            toml_text(name), ::access(path.c_str(), X_OK) == 0 ? "0755" : "0644",
                            schema::encode_base64(content));
        return {};
    }

    Result<std::string> read(const fs::path& path) {
        DORMOUSE_TRY_ASSIGN(auto content, read_file(path, kMostBytes));
        total_ += content.size();
        if (total_ > kMostBytes)
            return fail(
                Errc::TooLarge,
                fmt::format("the files of a recipe have more than {} together", human_size(kMostBytes)),
                "let a command of the recipe fetch what is large");
        return content;
    }

    const std::string& text_;
    const fs::path folder_;
    std::vector<Replacement> found_;
    std::uint64_t total_ = 0;
};

}  // namespace

Result<std::string> pack_recipe(const std::string& text, const fs::path& folder) {
    try {
        const auto root = toml::parse(text);
        Packer packer{text, folder};
        DORMOUSE_TRY(packer.look(root));
        return packer.packed();
    } catch (const std::runtime_error&) {  // toml::parse_error is one
        return text;
    }
}

}  // namespace dormouse::cli
