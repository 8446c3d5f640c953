// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/names.h"

#include <array>
#include <string_view>

#include "hostd/base/random.h"

namespace dormouse::desktop {

namespace {

constexpr std::array<std::string_view, 32> kHow = {
    "quiet", "amber", "brave",  "calm",   "clever", "cosy",   "dusky", "early", "fleet",  "gentle",  "golden",
    "happy", "hazel", "keen",   "lively", "lucky",  "mellow", "merry", "mossy", "nimble", "patient", "plain",
    "proud", "rosy",  "silver", "snug",   "spry",   "sunny",  "swift", "tidy",  "warm",   "wise"};
constexpr std::array<std::string_view, 32> kWho = {
    "otter",  "badger", "beaver", "bittern",  "crane", "curlew",   "dunnock", "ermine",
    "falcon", "ferret", "finch",  "hare",     "heron", "hedgehog", "jackdaw", "kestrel",
    "lark",   "linnet", "marten", "mole",     "newt",  "osprey",   "owl",     "plover",
    "rabbit", "robin",  "shrew",  "squirrel", "stoat", "swift",    "vole",    "wren"};

}  // namespace

std::string make_up_name() {
    const auto bytes = random_bytes(2);
    return std::string{kHow[static_cast<unsigned char>(bytes[0]) % kHow.size()]} + "-" +
           std::string{kWho[static_cast<unsigned char>(bytes[1]) % kWho.size()]};
}

}  // namespace dormouse::desktop
