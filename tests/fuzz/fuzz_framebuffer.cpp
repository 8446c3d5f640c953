// SPDX-License-Identifier: Apache-2.0
// Pictures, parts and pointers as a hostile guest would send them: must never
// crash, read outside of the bytes given, or keep more than one screen.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "display/changes.h"
#include "display/cursor.h"
#include "display/framebuffer.h"

namespace {

// Takes numbers off the front of the input; zeros once it is empty.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
    bool empty() const { return rest_.empty(); }
    template <class T>
    T number() {
        T value{};
        const auto bytes = std::min(sizeof value, rest_.size());
        std::memcpy(&value, rest_.data(), bytes);
        rest_ = rest_.subspan(bytes);
        return value;
    }
    std::span<const std::byte> bytes(std::size_t count) {
        const auto taken = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return std::as_bytes(taken);
    }

  private:
    std::span<const std::uint8_t> rest_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dormouse::display;
    const dormouse::ManualClock clock;
    Framebuffer framebuffer{clock};
    Input input{data, size};
    while (!input.empty()) {
        const auto operation = input.number<std::uint8_t>();
        const auto x = input.number<std::int32_t>();
        const auto y = input.number<std::int32_t>();
        RawPixels raw;
        raw.width = input.number<std::int32_t>();
        raw.height = input.number<std::int32_t>();
        raw.stride = input.number<std::uint32_t>();
        raw.format = operation & 0x80 ? input.number<std::uint32_t>() : kPixmanX8R8G8B8;
        raw.data = input.bytes(input.number<std::uint16_t>());
        switch (operation & 3) {
            case 0:
                (void)framebuffer.replace(raw);
                break;
            case 1:
                (void)framebuffer.update(x, y, raw);
                break;
            case 2:
                (void)framebuffer.set_cursor_shape(raw.width, raw.height, x, y, raw.data);
                framebuffer.set_cursor_position(x / 2, y, (operation & 4) == 0);
                break;
            default:
                framebuffer.blank();
                break;
        }
        (void)framebuffer.damage_since(framebuffer.generation() / 2);
    }
    const auto snapshot = framebuffer.snapshot();
    if (!snapshot) return 0;
    auto copy = snapshot->image;
    draw_cursor(framebuffer.cursor(), Rect::whole(copy.size()), copy);
    (void)find_changes(snapshot->image.view(), copy.view());
    return 0;
}
