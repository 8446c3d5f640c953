// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <thread>

// For our own mistakes only, never for input. Always on.
#define DORMOUSE_CHECK(condition)                                                              \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                      \
        }                                                                                      \
    } while (false)

namespace dormouse {

// Remembers the thread it was made on.
class ThreadChecker {
  public:
    bool is_current() const { return std::this_thread::get_id() == owner_; }
    void adopt() { owner_ = std::this_thread::get_id(); }

  private:
    std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace dormouse
