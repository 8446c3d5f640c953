// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "display/image.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// No screen is larger: the memory that a guest can make the host keep for one
// is 256 MiB.
constexpr int kMaxSide = 8192;

// pixman's names for the layouts that QEMU's virtio and VGA devices use for
// 32-bit screens (bits per pixel << 24 | order << 16 | bits of each channel).
constexpr std::uint32_t kPixmanX8R8G8B8 = 0x20020888;
constexpr std::uint32_t kPixmanA8R8G8B8 = 0x20028888;
constexpr std::uint32_t kPixmanX8B8G8R8 = 0x20030888;
constexpr std::uint32_t kPixmanA8B8G8R8 = 0x20038888;
constexpr std::uint32_t kPixmanB8G8R8X8 = 0x20080888;
constexpr std::uint32_t kPixmanB8G8R8A8 = 0x20088888;
constexpr std::uint32_t kPixmanR8G8B8X8 = 0x20090888;
constexpr std::uint32_t kPixmanR8G8B8A8 = 0x20098888;

// A picture as it came from outside: none of it can be trusted before
// RawPixels::check().
struct RawPixels {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::uint32_t stride = 0;  // in bytes
    std::uint32_t format = 0;  // pixman's number
    std::span<const std::byte> data;

    // Errc::InvalidArgument for an unknown format, a size below 1, a stride
    // that does not hold a row, or too few bytes; Errc::TooLarge beyond kMaxSide.
    Result<> check() const;

    Size size() const { return {static_cast<int>(width), static_cast<int>(height)}; }  // after check()
};

// Reads rows of checked pixels as Pixel words.
class RawReader {
  public:
    explicit RawReader(const RawPixels& checked);

    // `into` gets the pixels of row `y` from column `x` on.
    void read(int x, int y, std::span<Pixel> into) const;

  private:
    RawPixels raw_;
};

}  // namespace dormouse::display
