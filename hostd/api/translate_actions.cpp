// SPDX-License-Identifier: Apache-2.0
// The part of translate.h that is about acting.
#include "hostd/api/translate.h"

namespace dormouse::api {

namespace {

std::optional<desktop::Point> point(const std::optional<schema::Point>& from) {
    if (!from) return std::nullopt;
    return desktop::Point{from->x, from->y};
}

// For coordinates that the kind of action needs, and parse() has seen to.
desktop::Point needed(const std::optional<schema::Point>& from) {
    return point(from).value_or(desktop::Point{});
}

desktop::ClickAction click(desktop::Button button, int count, const schema::Action& action) {
    return {.button = button,
            .count = count,
            .at = point(action.coordinate),
            .held = action.text.value_or(""),
            .repeat = action.repeat.value_or(1)};
}

desktop::ScrollDirection direction(schema::ScrollDirection from) {
    switch (from) {
        case schema::ScrollDirection::Up:
            return desktop::ScrollDirection::Up;
        case schema::ScrollDirection::Down:
            return desktop::ScrollDirection::Down;
        case schema::ScrollDirection::Left:
            return desktop::ScrollDirection::Left;
        case schema::ScrollDirection::Right:
            return desktop::ScrollDirection::Right;
    }
    return desktop::ScrollDirection::Down;
}

desktop::ScrollAction scroll(const schema::Action& action) {
    return {.direction = direction(action.scroll_direction.value_or(schema::ScrollDirection::Down)),
            .amount = action.scroll_amount.value_or(1),
            .at = point(action.coordinate),
            .held = action.text.value_or("")};
}

desktop::DragAction drag(const schema::Action& action) {
    desktop::DragAction out{
        .from = point(action.start_coordinate), .path = {}, .held = action.text.value_or("")};
    for (const auto& each : action.path) out.path.push_back({each.x, each.y});
    if (action.coordinate) out.path.push_back(needed(action.coordinate));
    return out;
}

desktop::ZoomAction zoom(const schema::Action& action) {
    const auto box = action.region.value_or(schema::Box{});
    const auto size = action.size.value_or(schema::Size{});
    return {.region = {box.left, box.top, box.right, box.bottom}, .width = size.width, .height = size.height};
}

desktop::TypeAction type(const schema::Action& action) {
    desktop::TypeAction out{.text = action.text.value_or("")};
    switch (action.method.value_or(schema::TypeMethod::Auto)) {
        case schema::TypeMethod::Auto:
            out.method = desktop::TypeMethod::Auto;
            break;
        case schema::TypeMethod::Keys:
            out.method = desktop::TypeMethod::Keys;
            break;
        case schema::TypeMethod::Paste:
            out.method = desktop::TypeMethod::Paste;
            break;
    }
    return out;
}

desktop::PictureFormat format(schema::PictureFormat from) {
    switch (from) {
        case schema::PictureFormat::Png:
            return desktop::PictureFormat::Png;
        case schema::PictureFormat::Jpeg:
            return desktop::PictureFormat::Jpeg;
        case schema::PictureFormat::Webp:
            return desktop::PictureFormat::Webp;
    }
    return desktop::PictureFormat::Png;
}

desktop::WithScreenshot with_screenshot(schema::WithScreenshot from) {
    switch (from) {
        case schema::WithScreenshot::None:
            return desktop::WithScreenshot::None;
        case schema::WithScreenshot::After:
            return desktop::WithScreenshot::After;
        case schema::WithScreenshot::Settled:
            return desktop::WithScreenshot::Settled;
    }
    return desktop::WithScreenshot::None;
}

schema::Image image(const desktop::Picture& picture) {
    return {.media_type = std::string{picture.media_type},
            .data = picture.bytes ? *picture.bytes : std::string{},
            .width = picture.width,
            .height = picture.height,
            .screen_width = picture.screen_width,
            .screen_height = picture.screen_height};
}

schema::ActionResult result(const desktop::ActionOutcome& outcome) {
    schema::ActionResult out{
        .action = outcome.action, .ok = true, .took = outcome.took, .image = {}, .position = {}};
    if (outcome.picture) out.image = image(*outcome.picture);
    if (outcome.pointer) out.position = schema::Point{outcome.pointer->x, outcome.pointer->y};
    return out;
}

void add_aftermath(schema::ActionsResponse& response, const desktop::Aftermath& aftermath) {
    response.screenshot = image(aftermath.screenshot);
    response.changed.emplace();
    for (const auto& region : aftermath.changed)
        response.changed->push_back({region.x, region.y, region.width, region.height});
    if (aftermath.settling)
        response.settling = schema::Settling{aftermath.settling->settled, aftermath.settling->took};
}

}  // namespace

desktop::PictureOptions to_command(const schema::PictureOptions& options) {
    desktop::PictureOptions out;
    out.format = format(options.format);
    if (const auto& region = options.region)
        out.region = desktop::Region{region->x, region->y, region->width, region->height};
    out.scale = options.scale;
    out.max_width = options.max_width;
    out.max_height = options.max_height;
    out.quality = options.quality;
    out.max_bytes = options.max_bytes;
    out.cursor = options.cursor;
    return out;
}

desktop::Action to_command(const schema::Action& action) {
    using desktop::Button;
    switch (action.kind) {
        case schema::ActionKind::Screenshot:
            return desktop::ScreenshotAction{};
        case schema::ActionKind::Zoom:
            return zoom(action);
        case schema::ActionKind::CursorPosition:
            return desktop::CursorAction{};
        case schema::ActionKind::LeftClick:
            return click(Button::Left, 1, action);
        case schema::ActionKind::RightClick:
            return click(Button::Right, 1, action);
        case schema::ActionKind::MiddleClick:
            return click(Button::Middle, 1, action);
        case schema::ActionKind::BackClick:
            return click(Button::Back, 1, action);
        case schema::ActionKind::ForwardClick:
            return click(Button::Forward, 1, action);
        case schema::ActionKind::DoubleClick:
            return click(Button::Left, 2, action);
        case schema::ActionKind::TripleClick:
            return click(Button::Left, 3, action);
        case schema::ActionKind::MouseMove:
            return desktop::MoveAction{.to = needed(action.coordinate), .held = action.text.value_or("")};
        case schema::ActionKind::LeftMouseDown:
            return desktop::LeftButtonAction{.down = true, .at = point(action.coordinate)};
        case schema::ActionKind::LeftMouseUp:
            return desktop::LeftButtonAction{.down = false, .at = point(action.coordinate)};
        case schema::ActionKind::LeftClickDrag:
            return drag(action);
        case schema::ActionKind::Scroll:
            return scroll(action);
        case schema::ActionKind::Key:
            return desktop::KeyAction{.keys = action.text.value_or(""), .repeat = action.repeat.value_or(1)};
        case schema::ActionKind::HoldKey:
            return desktop::HoldKeyAction{.keys = action.text.value_or(""),
                                          .time = action.duration.value_or(Duration{})};
        case schema::ActionKind::Type:
            return type(action);
        case schema::ActionKind::Wait:
            return desktop::WaitAction{action.duration.value_or(Duration{})};
    }
    return desktop::ScreenshotAction{};
}

desktop::ActOptions options_of(const schema::ActionsRequest& request) {
    desktop::ActOptions options;
    options.screenshot = with_screenshot(request.screenshot);
    options.picture = to_command(request.image);
    if (const auto& coordinates = request.coordinates) {
        options.coordinates = desktop::Coordinates{.scale = coordinates->scale};
        if (coordinates->size) {
            options.coordinates->width = coordinates->size->width;
            options.coordinates->height = coordinates->size->height;
        }
    }
    return options;
}

schema::ActionsResponse to_schema(const desktop::ActAnswer& answer) {
    schema::ActionsResponse response;
    for (const auto& outcome : answer.done) response.results.push_back(result(outcome));
    if (answer.aftermath) add_aftermath(response, *answer.aftermath);
    if (answer.failure)
        response.failure =
            schema::ErrorBody{.error = *answer.failure, .action_index = static_cast<int>(answer.failed_at)};
    return response;
}

}  // namespace dormouse::api
