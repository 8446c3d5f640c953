// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hostd/cli/context.h"

namespace dormouse::cli {

// What a command needs of the world besides its words.
struct World {
    std::function<Result<Connection>()> connect;  // asked once the words are known to be right
    const Clock& clock;
    std::function<void(Duration)> pause;  // any thread
    std::string program = "./dormouse";
};

// Carries one command line out, without the program's name in front. Gives the
// exit code. Blocks until it is done.
int run(const std::vector<std::string>& words, Streams& streams, const World& world);

}  // namespace dormouse::cli
