// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace dormouse::cli {

// While it lives, Ctrl-C and SIGTERM do not end this program but are counted, so
// that what was begun elsewhere can be ended in order. One at a time; the third
// ends it all the same.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    bool asked() const;

  private:
    struct sigaction interrupt_before_ {};
    struct sigaction terminate_before_ {};
};

}  // namespace dormouse::cli
