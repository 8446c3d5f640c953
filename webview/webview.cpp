// SPDX-License-Identifier: Apache-2.0
#include "webview/webview.h"

#include "dormouse_webview_embedded.h"

namespace dormouse::webview {

namespace {
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kScript = "text/javascript; charset=utf-8";
constexpr std::string_view kStyle = "text/css; charset=utf-8";
}  // namespace

std::span<const File> files() {
    static const File kFiles[] = {
        {"overview.html", kHtml, embedded::kOverviewHtml},
        {"desktop.html", kHtml, embedded::kDesktopHtml},
        {"overview.js", kScript, embedded::kOverviewJs},
        {"desktop.js", kScript, embedded::kDesktopJs},
        {"api.js", kScript, embedded::kApiJs},
        {"session.js", kScript, embedded::kSessionJs},
        {"view.js", kScript, embedded::kViewJs},
        {"style.css", kStyle, embedded::kStyleCss},
        {"icon.svg", "image/svg+xml", embedded::kIconSvg},
    };
    return kFiles;
}

const File* find_file(std::string_view name) {
    for (const auto& file : files())
        if (file.name == name) return &file;
    return nullptr;
}

}  // namespace dormouse::webview
