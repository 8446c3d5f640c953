// SPDX-License-Identifier: Apache-2.0
#include "display/still.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include "display/jpeg.h"
#include "display/png.h"
#include "display/scale.h"
#include "display/webp.h"
#include "hostd/base/random.h"

namespace dormouse::display {

namespace {

tl::unexpected<Error> no_picture() {
    return fail(Errc::Unavailable, "the screen has no picture yet", "try again in a moment");
}

// A picture of less quality than this is not worth having; size goes down first.
constexpr int kLeastQuality = 20;
// A side of less pixels shows nothing that anybody could use.
constexpr int kLeastSide = 16;
// Each try is an encoding. Quality takes at most 4, size the rest.
constexpr int kMostTries = 16;

int quality_of(const StillOptions& options) {
    if (options.format == ImageFormat::Png) return 0;
    if (options.quality != 0) return options.quality;
    return options.format == ImageFormat::Jpeg ? kJpegQuality : kWebpQuality;
}

Result<std::string> encode(const ImageView& view, ImageFormat format, int quality) {
    switch (format) {
        case ImageFormat::Png:
            return encode_png(view);
        case ImageFormat::Jpeg:
            return encode_jpeg(view, quality);
        case ImageFormat::Webp:
            return encode_webp(view, quality);
    }
    return fail(Errc::Internal, "no such format of pictures");
}

// A size and a quality, and what comes after them when the file was too large.
struct Try {
    Size size;
    int quality = 0;

    // False when there is nothing smaller.
    bool go_down(std::size_t bytes, std::size_t limit) {
        if (quality > kLeastQuality) {
            quality = std::max(quality * 2 / 3, kLeastQuality);
            return true;
        }
        if (std::min(size.width, size.height) <= kLeastSide) return false;
        // Bytes go with the area; a little less, as small pictures pack worse.
        const double wanted = 0.9 * std::sqrt(double(limit) / double(bytes));
        const double factor = std::clamp(wanted, 0.25, 0.9);
        size.width = std::max(static_cast<int>(size.width * factor), 1);
        size.height = std::max(static_cast<int>(size.height * factor), 1);
        return true;
    }
};

tl::unexpected<Error> does_not_fit(const StillOptions& options, const Try& last, std::size_t bytes) {
    const auto at = last.quality == 0 ? std::string{} : fmt::format(" at quality {}", last.quality);
    return fail(
        Errc::InvalidArgument,
        fmt::format("the picture does not fit into max_bytes={}: the smallest made, {}x{} pixels as {}{}, "
                    "has {} bytes",
                    options.max_bytes, last.size.width, last.size.height, format_name(options.format), at,
                    bytes),
        options.format == ImageFormat::Png ? "allow more bytes, or ask for format=jpeg or format=webp"
                                           : "allow more bytes, or ask for a smaller region");
}

Result<Still> encode_to_fit(const ImageView& source, const StillPlan& plan, const StillOptions& options) {
    Still still;
    Try next{plan.size, quality_of(options)};
    Image scaled;
    for (int tries = 1;; ++tries) {
        if (next.size != source.size && next.size != scaled.size()) scaled = scale_image(source, next.size);
        const auto view = next.size == source.size ? source : scaled.view();
        DORMOUSE_TRY_ASSIGN(auto bytes, encode(view, options.format, next.quality));
        const auto count = bytes.size();
        if (options.max_bytes == 0 || count <= options.max_bytes) {
            still.bytes = std::make_shared<const std::string>(std::move(bytes));
            still.size = next.size;
            still.quality = next.quality;
            return still;
        }
        const auto tried = next;
        if (tries == kMostTries || !next.go_down(count, options.max_bytes))
            return does_not_fit(options, tried, count);
    }
}

}  // namespace

Result<Still> make_still(const Snapshot& snapshot, const CursorState& cursor, const StillOptions& options) {
    DORMOUSE_TRY_ASSIGN(const auto plan, plan_still(options, snapshot.image.size()));
    auto source = snapshot.image.view().part(plan.region);
    auto drawn = CursorDrawn::Unknown;
    Image with_cursor;  // the only copy of pixels, and only where there is a pointer to draw
    if (options.cursor) {
        drawn = place_cursor(cursor, plan.region);
        if (drawn == CursorDrawn::Drawn) {
            with_cursor = Image{source};
            draw_cursor(cursor, plan.region, with_cursor);
            source = with_cursor.view();
        }
    }
    DORMOUSE_TRY_ASSIGN(auto still, encode_to_fit(source, plan, options));
    still.format = options.format;
    still.region = plan.region;
    still.screen = snapshot.image.size();
    still.cursor = drawn;
    still.generation = snapshot.generation;
    still.changed_at = snapshot.changed_at;
    return still;
}

StillCache::StillCache(const Framebuffer& framebuffer, Maker maker)
    : framebuffer_(framebuffer), maker_(std::move(maker)), epoch_(random_hex(6)) {}

std::string StillCache::tag_of(const Key& key) const {
    auto tag = fmt::format("{}-{:x}-{}", epoch_, key.generation, describe(key.options));
    if (key.options.cursor) tag += fmt::format("-c{:x}", key.cursor);
    return tag;
}

StillCache::Key StillCache::key_of(const StillOptions& options, Generation generation,
                                   const CursorState& cursor) {
    return {options, generation, options.cursor ? cursor.generation : 0};
}

Result<Still> StillCache::newest(const StillOptions& options) {
    std::unique_lock lock{mutex_};
    for (;;) {
        // The cursor first: drawn at a place where it has been is fine, a picture
        // that it has not reached yet is not what was asked for.
        const auto cursor = options.cursor ? framebuffer_.cursor() : CursorState{};
        const auto snapshot = framebuffer_.snapshot();
        if (!snapshot) return no_picture();
        const auto key = key_of(options, snapshot->generation, cursor);
        const auto known =
            std::find_if(kept_.begin(), kept_.end(), [&](const auto& entry) { return entry.first == key; });
        if (known != kept_.end()) return known->second;
        if (std::find(in_work_.begin(), in_work_.end(), key) != in_work_.end()) {
            made_.wait(lock);
            continue;
        }
        in_work_.push_back(key);
        lock.unlock();
        auto still = make_guarded(*snapshot, cursor, options);
        lock.lock();
        std::erase(in_work_, key);
        if (still) {
            still->tag = tag_of(key);
            keep(key, *still);
        }
        made_.notify_all();
        return still;
    }
}

// Those who wait must be woken whatever happens.
Result<Still> StillCache::make_guarded(const Snapshot& snapshot, const CursorState& cursor,
                                       const StillOptions& options) const {
    try {
        return maker_(snapshot, cursor, options);
    } catch (const std::exception& e) {
        return fail(Errc::Internal, fmt::format("cannot encode the picture: {}", e.what()));
    }
}

void StillCache::keep(const Key& key, const Still& still) {
    std::erase_if(kept_, [&](const auto& entry) {
        return entry.first.generation < key.generation || entry.first.options == key.options;
    });
    if (kept_.size() >= kKept) kept_.erase(kept_.begin());
    kept_.emplace_back(key, still);
}

Result<Still> StillCache::newest_if_ready(const StillOptions& options) const {
    const std::lock_guard lock{mutex_};
    const auto cursor = options.cursor ? framebuffer_.cursor() : CursorState{};
    const auto generation = framebuffer_.generation();
    if (generation == 0) return no_picture();
    const auto key = key_of(options, generation, cursor);
    for (const auto& [made_of, still] : kept_)
        if (made_of == key) return still;
    return fail(Errc::Unavailable, "the newest picture is not encoded yet");
}

}  // namespace dormouse::display
