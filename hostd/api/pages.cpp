// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/pages.h"

#include <algorithm>

#include "hostd/api/responses.h"
#include "hostd/base/id.h"
#include "webview/webview.h"

namespace dormouse::api {

namespace {

// Nothing from elsewhere, no inline script, not inside anybody's frame. A
// picture is a blob because it comes with a token, which <img src> cannot send.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

wsio::HttpResponse serve(std::string_view name, const wsio::HttpRequest& request) {
    const auto* file = webview::find_file(name);
    if (!file) return error_response({Errc::NotFound, "there is no such file", {}, 0});
    const auto etag = content_etag(file->content);
    wsio::HttpResponse response;
    response.headers = {{"Content-Security-Policy", std::string{kContentPolicy}},
                        {"Referrer-Policy", "no-referrer"},
                        {"Cross-Origin-Opener-Policy", "same-origin"},
                        {"Cross-Origin-Resource-Policy", "same-origin"},
                        {"X-Frame-Options", "DENY"},
                        // Kept, but asked about each time: a new daemon has new pages.
                        {"Cache-Control", "no-cache"},
                        {"ETag", etag}};
    if (matches_etag(wsio::find_header(request.headers, "if-none-match"), etag)) {
        response.status = 304;
        return response;
    }
    response.headers.emplace_back("Content-Type", file->content_type);
    response.body = std::make_shared<const std::string>(file->content);
    return response;
}

}  // namespace

wsio::HttpResponse overview_page(const wsio::HttpRequest& request, const Parameters&) {
    return serve("overview.html", request);
}

wsio::HttpResponse desktop_page(const wsio::HttpRequest& request, const Parameters& parameters) {
    if (!is_identifier(parameters.front()))
        return error_response(bad_identifier("desktop id or name", parameters.front()).value());
    return serve("desktop.html", request);
}

wsio::HttpResponse page_file(const wsio::HttpRequest& request, const Parameters& parameters) {
    return serve(parameters.front(), request);
}

}  // namespace dormouse::api
