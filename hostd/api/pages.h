// SPDX-License-Identifier: Apache-2.0
// The pages for people, out of the binary. They hold no secrets and need no
// token: what they show, they get through the API with the reader's own.
#pragma once

#include "hostd/api/routes.h"

namespace dormouse::api {

wsio::HttpResponse overview_page(const wsio::HttpRequest& request, const Parameters& parameters);
wsio::HttpResponse desktop_page(const wsio::HttpRequest& request, const Parameters& parameters);
wsio::HttpResponse page_file(const wsio::HttpRequest& request, const Parameters& parameters);

}  // namespace dormouse::api
