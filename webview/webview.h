// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace dormouse::webview {

struct File {
    std::string_view name;  // "style.css"
    std::string_view content_type;
    std::string_view content;
};

// All the files of the pages. Constant; any thread.
std::span<const File> files();

// Null when there is none of that name.
const File* find_file(std::string_view name);

}  // namespace dormouse::webview
