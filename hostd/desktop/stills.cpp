// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/stills.h"

namespace dormouse::desktop {

display::StillOptions still_options(const PictureOptions& picture) {
    display::StillOptions options;
    switch (picture.format) {
        case PictureFormat::Png:
            options.format = display::ImageFormat::Png;
            break;
        case PictureFormat::Jpeg:
            options.format = display::ImageFormat::Jpeg;
            break;
        case PictureFormat::Webp:
            options.format = display::ImageFormat::Webp;
            break;
    }
    if (const auto& region = picture.region)
        options.region = display::Rect{region->x, region->y, region->width, region->height};
    options.scale = picture.scale;
    options.max_width = picture.max_width;
    options.max_height = picture.max_height;
    options.exact = {picture.width, picture.height};
    options.quality = picture.quality;
    options.max_bytes = picture.max_bytes;
    options.cursor = picture.cursor;
    return options;
}

Picture to_picture(const display::Still& still, bool with_cursor) {
    Picture picture;
    picture.bytes = still.bytes;
    picture.width = still.size.width;
    picture.height = still.size.height;
    picture.generation = still.generation;
    picture.media_type = display::media_type(still.format);
    picture.screen_width = still.screen.width;
    picture.screen_height = still.screen.height;
    picture.region = {still.region.x, still.region.y, still.region.width, still.region.height};
    picture.quality = still.quality;
    if (with_cursor) picture.cursor = display::cursor_name(still.cursor);
    picture.tag = still.tag;
    return picture;
}

}  // namespace dormouse::desktop
