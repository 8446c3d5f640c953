// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

#include "hostd/base/clock.h"

namespace dormouse::wsio {

// What one client may cost us.
struct HttpLimits {
    std::size_t head = 32 << 10;                      // bytes of request line and headers; then 431
    std::size_t headers = 100;                        // how many; then 431
    std::size_t body = 4 << 20;                       // bytes; then 413, without reading the rest
    std::size_t connections = 512;                    // then 503 and closed
    Duration head_time = std::chrono::seconds{10};    // first byte to end of headers; then 408
    Duration body_pause = std::chrono::seconds{15};   // without a byte of the body; then 408
    Duration body_time = std::chrono::seconds{120};   // for the whole body; then 408
    Duration idle = std::chrono::seconds{75};         // between requests; then closed
    Duration write_pause = std::chrono::seconds{30};  // client takes nothing of the answer; then closed
    Duration linger = std::chrono::seconds{2};        // after the last answer, for the client to close first
};

}  // namespace dormouse::wsio
