// SPDX-License-Identifier: Apache-2.0
#include "display/raw_pixels.h"

#include <cstring>

#include "hostd/base/check.h"

namespace dormouse::display {

namespace {

constexpr Pixel kOpaque = 0xff000000;

bool is_known(std::uint32_t format) {
    switch (format) {
        case kPixmanX8R8G8B8:
        case kPixmanA8R8G8B8:
        case kPixmanX8B8G8R8:
        case kPixmanA8B8G8R8:
        case kPixmanB8G8R8X8:
        case kPixmanB8G8R8A8:
        case kPixmanR8G8B8X8:
        case kPixmanR8G8B8A8:
            return true;
        default:
            return false;
    }
}

Pixel swap_red_and_blue(Pixel p) {
    return (p & 0x0000ff00) | ((p >> 16) & 0xff) | ((p & 0xff) << 16);
}

// One row; `convert` is inlined, so that the compiler makes vector code of it.
template <class Convert>
void convert_row(const std::byte* from, std::span<Pixel> into, Convert convert) {
    for (std::size_t i = 0; i < into.size(); ++i) {
        Pixel pixel;
        std::memcpy(&pixel, from + i * sizeof(Pixel), sizeof(Pixel));
        into[i] = convert(pixel) | kOpaque;
    }
}

}  // namespace

Result<> RawPixels::check() const {
    if (!is_known(format))
        return fail(Errc::InvalidArgument, fmt::format("unknown pixel format {:#x}", format));
    if (width < 1 || height < 1)
        return fail(Errc::InvalidArgument, fmt::format("picture of {} by {} pixels", width, height));
    if (width > kMaxSide || height > kMaxSide)
        return fail(Errc::TooLarge, fmt::format("picture of {} by {} pixels", width, height));
    const auto row = static_cast<std::uint64_t>(width) * sizeof(Pixel);
    if (stride < row)
        return fail(Errc::InvalidArgument, fmt::format("stride {} for {} pixels", stride, width));
    // The last row need not be filled up to the stride. No overflow: 2^32 * 2^13.
    const auto needed = std::uint64_t{stride} * static_cast<std::uint64_t>(height - 1) + row;
    if (data.size() < needed)
        return fail(Errc::InvalidArgument,
                    fmt::format("{} bytes of pixels instead of {}", data.size(), needed));
    return {};
}

RawReader::RawReader(const RawPixels& checked) : raw_(checked) {
    DORMOUSE_CHECK(raw_.check());
}

void RawReader::read(int x, int y, std::span<Pixel> into) const {
    const auto* from = raw_.data.data() + static_cast<std::size_t>(y) * raw_.stride +
                       static_cast<std::size_t>(x) * sizeof(Pixel);
    switch (raw_.format) {
        case kPixmanX8B8G8R8:
        case kPixmanA8B8G8R8:
            return convert_row(from, into, swap_red_and_blue);
        case kPixmanB8G8R8X8:
        case kPixmanB8G8R8A8:
            return convert_row(from, into, [](Pixel p) { return __builtin_bswap32(p); });
        case kPixmanR8G8B8X8:
        case kPixmanR8G8B8A8:
            return convert_row(from, into, [](Pixel p) { return p >> 8; });
        default:
            return convert_row(from, into, [](Pixel p) { return p; });
    }
}

}  // namespace dormouse::display
