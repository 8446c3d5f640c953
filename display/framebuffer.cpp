// SPDX-License-Identifier: Apache-2.0
#include "display/framebuffer.h"

#include <array>
#include <cstring>
#include <utility>

namespace dormouse::display {

namespace {

// A cursor is a small picture; QEMU itself refuses more than 512.
constexpr int kMaxCursorSide = 512;

}  // namespace

Result<bool> Framebuffer::replace(const RawPixels& picture) {
    DORMOUSE_TRY(picture.check());
    const RawReader reader{picture};
    const std::lock_guard lock{mutex_};
    const bool resized = picture.size() != picture_.size();
    if (resized) resize(picture.size());
    const bool changed = merge(reader, Rect::whole(picture.size())) || resized;
    if (changed) finish_change();
    return changed;
}

Result<bool> Framebuffer::update(std::int64_t x, std::int64_t y, const RawPixels& part) {
    DORMOUSE_TRY(part.check());
    // Far outside is outside; after this the sums below fit an int.
    if (x < -kMaxSide || y < -kMaxSide || x > kMaxSide || y > kMaxSide) return false;
    const std::lock_guard lock{mutex_};
    if (picture_.empty()) return fail(Errc::Conflict, "a part of a picture before the picture");
    const Rect target{static_cast<int>(x), static_cast<int>(y), part.size().width, part.size().height};
    const bool changed = merge(RawReader{part}, target);
    if (changed) finish_change();
    return changed;
}

void Framebuffer::blank() {
    const std::lock_guard lock{mutex_};
    if (picture_.empty()) return;
    const Image black{picture_.size()};
    if (picture_ == black) return;
    picture_ = black;
    std::fill(tiles_.begin(), tiles_.end(), generation_ + 1);
    finish_change();
}

// Takes over what really differs, tile by tile. The lock is held.
bool Framebuffer::merge(const RawReader& reader, Rect target) {
    const auto visible = intersect(target, Rect::whole(picture_.size()));
    if (visible.empty()) return false;
    bool changed = false;
    for (int row = visible.y / kTileSide; row * kTileSide < visible.bottom(); ++row) {
        for (int column = visible.x / kTileSide; column * kTileSide < visible.right(); ++column) {
            const Rect tile{column * kTileSide, row * kTileSide, kTileSide, kTileSide};
            if (!merge_tile(reader, target, intersect(tile, visible))) continue;
            tile_generation(column, row) = generation_ + 1;
            changed = true;
        }
    }
    return changed;
}

bool Framebuffer::merge_tile(const RawReader& reader, const Rect& target, const Rect& tile) {
    std::array<Pixel, kTileSide> buffer;
    const auto width = static_cast<std::size_t>(tile.width);
    const std::span fresh{buffer.data(), width};
    bool changed = false;
    for (int y = tile.y; y < tile.bottom(); ++y) {
        reader.read(tile.x - target.x, y - target.y, fresh);
        const auto kept = picture_.row(y).subspan(static_cast<std::size_t>(tile.x), width);
        if (std::memcmp(kept.data(), fresh.data(), fresh.size_bytes()) == 0) continue;
        std::memcpy(kept.data(), fresh.data(), fresh.size_bytes());
        changed = true;
    }
    return changed;
}

void Framebuffer::resize(Size size) {
    picture_ = Image{size};
    tiles_.assign(static_cast<std::size_t>(tiles_across(size)) * static_cast<std::size_t>(tiles_down(size)),
                  generation_ + 1);
    resized_at_ = generation_ + 1;
}

void Framebuffer::finish_change() {
    ++generation_;
    changed_at_ = clock_.now();
    snapshot_.reset();
}

Generation& Framebuffer::tile_generation(int column, int row) {
    return tiles_[static_cast<std::size_t>(row) * static_cast<std::size_t>(tiles_across(picture_.size())) +
                  static_cast<std::size_t>(column)];
}

Result<> Framebuffer::set_cursor_shape(std::int64_t width, std::int64_t height, int hot_x, int hot_y,
                                       std::span<const std::byte> argb) {
    if (width < 1 || height < 1 || width > kMaxCursorSide || height > kMaxCursorSide)
        return fail(Errc::InvalidArgument, fmt::format("cursor of {} by {} pixels", width, height));
    Image image{{static_cast<int>(width), static_cast<int>(height)}};
    const auto row_bytes = static_cast<std::size_t>(width) * sizeof(Pixel);
    if (argb.size() < row_bytes * static_cast<std::size_t>(height))
        return fail(Errc::InvalidArgument,
                    fmt::format("{} bytes of cursor for {} by {}", argb.size(), width, height));
    for (int y = 0; y < image.size().height; ++y)
        std::memcpy(image.row(y).data(), argb.data() + static_cast<std::size_t>(y) * row_bytes, row_bytes);
    auto shape = std::make_shared<const CursorShape>(CursorShape{std::move(image), hot_x, hot_y});

    const std::lock_guard lock{mutex_};
    cursor_.shape = std::move(shape);
    ++cursor_.generation;
    return {};
}

void Framebuffer::set_cursor_position(int x, int y, bool visible) {
    place_cursor(x, y, visible, false);
}

void Framebuffer::guess_cursor_position(int x, int y) {
    place_cursor(x, y, true, true);
}

void Framebuffer::place_cursor(int x, int y, bool visible, bool guessed) {
    const std::lock_guard lock{mutex_};
    if (cursor_.placed && cursor_.x == x && cursor_.y == y && cursor_.visible == visible &&
        cursor_.guessed == guessed)
        return;
    cursor_.placed = true;
    cursor_.guessed = guessed;
    cursor_.x = x;
    cursor_.y = y;
    cursor_.visible = visible;
    ++cursor_.generation;
}

Size Framebuffer::size() const {
    const std::lock_guard lock{mutex_};
    return picture_.size();
}

Generation Framebuffer::generation() const {
    const std::lock_guard lock{mutex_};
    return generation_;
}

MonotonicTime Framebuffer::changed_at() const {
    const std::lock_guard lock{mutex_};
    return changed_at_;
}

CursorState Framebuffer::cursor() const {
    const std::lock_guard lock{mutex_};
    return cursor_;
}

Damage Framebuffer::damage_since(Generation since) const {
    const std::lock_guard lock{mutex_};
    Damage damage{generation_, changed_at_, picture_.size(), since < resized_at_, {}};
    if (since >= generation_) return damage;
    if (damage.resized) {
        damage.rects.push_back(Rect::whole(picture_.size()));
        return damage;
    }
    const int across = tiles_across(picture_.size());
    damage.rects = rects_of_tiles(picture_.size(), [&](int column, int row) {
        return tiles_[static_cast<std::size_t>(row) * static_cast<std::size_t>(across) +
                      static_cast<std::size_t>(column)] > since;
    });
    return damage;
}

std::shared_ptr<const Snapshot> Framebuffer::snapshot() const {
    const std::lock_guard lock{mutex_};
    if (!snapshot_ && !picture_.empty())
        snapshot_ = std::make_shared<const Snapshot>(Snapshot{picture_, generation_, changed_at_});
    return snapshot_;
}

}  // namespace dormouse::display
