// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/desktop/commands.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::api {

// {"error":{"code","message","hint"}} with the status of the error's reason;
// 401 says how to authenticate.
wsio::HttpResponse error_response(const Error& error);

// 405 with what the path does allow ("GET, HEAD").
wsio::HttpResponse method_not_allowed(std::string_view method, std::string_view path,
                                      const std::string& allow);

// The picture with an ETag and what is needed to undo its scale, or 304 when `if_none_match` (the header's
// value, may be empty) has that ETag.
wsio::HttpResponse picture_response(const desktop::Picture& picture, std::string_view if_none_match);

// A strong ETag of the content, in quotes.
std::string content_etag(std::string_view content);

// Whether an If-None-Match header names this ETag (weak comparison) or is "*".
bool matches_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace dormouse::api
