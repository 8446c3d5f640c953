// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "display/image.h"
#include "display/raw_pixels.h"
#include "display/tile_rects.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// Counts the real changes of one screen; 0 is "no picture yet". Never goes back
// while the Framebuffer lives.
using Generation = std::uint64_t;

// A picture that stays as it is, with what is known about it.
struct Snapshot {
    Image image;
    Generation generation = 0;
    MonotonicTime changed_at;  // when this picture came to be
};

// What changed since some generation.
struct Damage {
    Generation generation = 0;  // the one that `rects` leads to
    MonotonicTime changed_at;   // of the newest change; the clock's zero before the first
    Size size;
    bool resized = false;     // then rects is the whole screen
    std::vector<Rect> rects;  // made of whole tiles, clipped to the screen, none overlapping
};

// The pointer's shape, 0xAARRGGBB with the colours multiplied by alpha, as QEMU gives it.
struct CursorShape {
    Image image;
    int hot_x = 0;
    int hot_y = 0;
};

struct CursorState {
    std::shared_ptr<const CursorShape> shape;  // null: none was ever told
    int x = 0;                                 // of the hot spot; may lie outside of the screen
    int y = 0;
    bool visible = false;
    bool placed = false;        // somebody has told where it is, or that it is hidden
    bool guessed = false;       // not the source, which does not tell such things
    Generation generation = 0;  // counts the cursor's changes only
};

// The host's copy of one screen.
//
// Any thread may call anything; one lock, held for no longer than it takes to
// copy the screen. What comes in is hostile: it is checked, clipped, or refused
// with nothing changed. `clock` must outlive it and be safe on the threads that use it.
class Framebuffer {
  public:
    explicit Framebuffer(const Clock& clock) : clock_(clock) {}
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

    // A whole new picture, of any size. True when a pixel really changed.
    Result<bool> replace(const RawPixels& picture);

    // A part of the picture, put at x, y. What lies outside of the screen is
    // left away. Errc::Conflict before the first replace().
    Result<bool> update(std::int64_t x, std::int64_t y, const RawPixels& part);

    // The screen was turned off: all black, the size stays.
    void blank();

    Result<> set_cursor_shape(std::int64_t width, std::int64_t height, int hot_x, int hot_y,
                              std::span<const std::byte> argb);
    void set_cursor_position(int x, int y, bool visible);
    void guess_cursor_position(int x, int y);  // for a source that does not tell it

    Size size() const;  // empty before the first picture
    Generation generation() const;
    MonotonicTime changed_at() const;
    Damage damage_since(Generation generation) const;
    CursorState cursor() const;

    // The newest picture; copied once for each generation, shared after that.
    // Null before the first picture.
    std::shared_ptr<const Snapshot> snapshot() const;

  private:
    void place_cursor(int x, int y, bool visible, bool guessed);
    bool merge(const RawReader& reader, Rect target);
    bool merge_tile(const RawReader& reader, const Rect& target, const Rect& tile);
    void resize(Size size);
    void finish_change();
    Generation& tile_generation(int column, int row);

    const Clock& clock_;
    mutable std::mutex mutex_;  // guards all below
    Image picture_;
    Generation generation_ = 0;
    Generation resized_at_ = 0;
    MonotonicTime changed_at_{};
    std::vector<Generation> tiles_;
    CursorState cursor_;
    mutable std::shared_ptr<const Snapshot> snapshot_;  // null, or of generation_
};

}  // namespace dormouse::display
