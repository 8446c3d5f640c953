// SPDX-License-Identifier: Apache-2.0
// What is checked of every request before anybody looks at what it asks for.
#pragma once

#include <string>

#include "hostd/base/result.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::api {

// The token of "Authorization: Bearer TOKEN". Errc::Unauthenticated, always with
// the same words, when there is none or it cannot be one.
Result<std::string> bearer_token(const wsio::HttpRequest& request);

// What is told when nobody has that token: the same words whatever is wrong.
Error unknown_token();

// A browser says in Origin which site's page makes a request. Pages of other
// sites may not change anything here, whatever they know: Errc::Denied.
Result<> check_origin(const wsio::HttpRequest& request);

// A body is JSON and says so, or says nothing: Errc::InvalidArgument. Forms are
// what a page of another site could send without asking first.
Result<> check_content_type(const wsio::HttpRequest& request);

}  // namespace dormouse::api
