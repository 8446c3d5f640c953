// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/x_authority.h"

#include <X11/Xauth.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "hostd/base/file.h"

namespace dormouse::agent {

namespace {

namespace fs = std::filesystem;

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
struct DisposeAuth {
    void operator()(Xauth* auth) const noexcept { XauDisposeAuth(auth); }
};

// ":0.0" -> "0"
std::string display_number(const std::string& display) {
    const auto colon = display.rfind(':');
    if (colon == std::string::npos) return {};
    const auto number = display.substr(colon + 1);
    return number.substr(0, number.find('.'));
}

void add_from_folder(std::vector<fs::path>& files, const fs::path& folder, const char* name) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator{folder, ignored}) files.push_back(entry.path() / name);
}

}  // namespace

std::vector<fs::path> authority_files(const std::string& display) {
    std::vector<fs::path> candidates;
    if (const char* named = std::getenv("XAUTHORITY")) candidates.emplace_back(named);
    candidates.push_back("/var/run/lightdm/root/:" + display_number(display));
    candidates.emplace_back("/home/user/.Xauthority");
    add_from_folder(candidates, "/home", ".Xauthority");
    add_from_folder(candidates, "/run/user", "Xauthority");
    add_from_folder(candidates, "/run/user", ".Xauthority");
    add_from_folder(candidates, "/run/user", "gdm/Xauthority");

    std::vector<fs::path> present;
    std::error_code ignored;
    for (auto& file : candidates) {
        if (fs::is_regular_file(file, ignored)) present.push_back(std::move(file));
    }
    return present;
}

std::vector<std::string> read_cookies(const fs::path& file, const std::string& display) {
    std::vector<std::string> cookies;
    const std::unique_ptr<std::FILE, CloseFile> stream{std::fopen(file.c_str(), "re")};
    if (!stream) return cookies;
    const auto number = display_number(display);
    // The users write these files; no honest one is long.
    for (int i = 0; i < 100; ++i) {
        const std::unique_ptr<Xauth, DisposeAuth> auth{XauReadAuth(stream.get())};
        if (!auth) break;
        if (std::string_view{auth->name, auth->name_length} != "MIT-MAGIC-COOKIE-1") continue;
        const std::string_view entry{auth->number, auth->number_length};
        if (entry.empty() || entry == number) cookies.emplace_back(auth->data, auth->data_length);
    }
    return cookies;
}

}  // namespace dormouse::agent
