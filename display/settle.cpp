// SPDX-License-Identifier: Apache-2.0
#include "display/settle.h"

#include <algorithm>

namespace dormouse::display {

namespace {

// Counted up to one beyond `limit`: a changed screen has hundreds.
std::vector<std::pair<int, int>> tiles_of(const std::vector<Rect>& rects, int limit) {
    std::vector<std::pair<int, int>> tiles;
    for (const auto& rect : rects) {
        for (int row = rect.y / kTileSide; row * kTileSide < rect.bottom(); ++row) {
            for (int column = rect.x / kTileSide; column * kTileSide < rect.right(); ++column) {
                tiles.emplace_back(column, row);
                if (static_cast<int>(tiles.size()) > limit) return tiles;
            }
        }
    }
    return tiles;
}

}  // namespace

void SettleDetector::changed(const Damage& damage) {
    const auto when = std::max(damage.changed_at, last_);
    const auto tiles = tiles_of(damage.rects, options_.small_tiles);
    if (tiles.empty()) return;
    if (static_cast<int>(tiles.size()) > options_.small_tiles || damage.resized) {
        small_.clear();  // whatever blinked may be gone
        last_ = when;
        return;
    }
    if (!is_blink(tiles, when)) last_ = when;
    for (const auto& tile : tiles) small_[tile] = when;
}

bool SettleDetector::is_blink(const std::vector<Tile>& tiles, MonotonicTime when) const {
    return std::all_of(tiles.begin(), tiles.end(), [&](const Tile& tile) {
        const auto known = small_.find(tile);
        if (known == small_.end()) return false;
        const auto since = when - known->second;
        return since >= options_.blink_min && since <= options_.blink_max;
    });
}

}  // namespace dormouse::display
