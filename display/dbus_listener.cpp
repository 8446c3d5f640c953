// SPDX-License-Identifier: Apache-2.0
#include "display/dbus_listener.h"

#include <exception>
#include <string>
#include <utility>

#include "hostd/base/log.h"

namespace dormouse::display {

namespace {

constexpr const char* kPath = "/org/qemu/Display1/Listener";
constexpr const char* kInterface = "org.qemu.Display1.Listener";
constexpr const char* kProperties = "org.freedesktop.DBus.Properties";
constexpr const char* kDoing = "cannot read a display message";

Result<std::span<const std::byte>> read_bytes(sd_bus_message* message) {
    const void* data = nullptr;
    std::size_t size = 0;
    DORMOUSE_TRY(check_bus(sd_bus_message_read_array(message, 'y', &data, &size), kDoing));
    return std::span{static_cast<const std::byte*>(data), size};
}

}  // namespace

struct DbusListener::Method {
    const char* name;
    const char* signature;
    Result<> (DbusListener::*call)(sd_bus_message*);
};

const DbusListener::Method DbusListener::kMethods[] = {
    {"Update", "iiiiuuay", &DbusListener::update},
    {"Scanout", "uuuuay", &DbusListener::scanout},
    {"Disable", "", &DbusListener::disable},
    {"MouseSet", "iii", &DbusListener::mouse_set},
    {"CursorDefine", "iiiiay", &DbusListener::cursor_define},
    // Only where QEMU draws with OpenGL, which we never ask for. The descriptor
    // is closed with the message.
    {"ScanoutDMABUF", "huuuutb", &DbusListener::ignore},
    {"UpdateDMABUF", "iiii", &DbusListener::ignore},
};

DbusListener::DbusListener(Framebuffer& framebuffer, Callbacks callbacks)
    : framebuffer_(framebuffer), callbacks_(std::move(callbacks)) {}

Result<> DbusListener::serve(sd_bus* bus) {
    sd_bus_slot* slot = nullptr;
    DORMOUSE_TRY(check_bus(sd_bus_add_object(bus, &slot, kPath, &DbusListener::on_call, this),
                           "cannot offer the display listener"));
    slot_.reset(slot);
    return {};
}

int DbusListener::on_call(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
    try {
        return static_cast<DbusListener*>(self)->dispatch(message);
    } catch (const std::exception& e) {  // sd-bus is C: nothing may pass through it
        log::error("display.unexpected", {{"what", e.what()}});
        return -ENOMEM;
    }
}

int DbusListener::dispatch(sd_bus_message* message) {
    if (sd_bus_message_is_method_call(message, kProperties, "GetAll") > 0) return get_all_properties(message);
    if (sd_bus_message_is_method_call(message, kProperties, "Get") > 0) return get_property(message);
    for (const auto& method : kMethods) {
        if (sd_bus_message_is_method_call(message, kInterface, method.name) <= 0) continue;
        if (sd_bus_message_has_signature(message, method.signature) <= 0)
            return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_INVALID_ARGS, "%s takes %s", method.name,
                                              method.signature);
        if (const auto done = (this->*method.call)(message); !done) {
            // What a guest can cause at will is told once.
            if (!std::exchange(told_refusal_, true))
                log::warn("display.refused", {{"method", method.name}, {"reason", done.error().message}});
            return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_INVALID_ARGS, "%s",
                                              done.error().message.c_str());
        }
        return sd_bus_reply_method_return(message, nullptr);
    }
    return 0;  // sd-bus answers that there is no such method
}

int DbusListener::get_all_properties(sd_bus_message* message) {
    const char* interface = nullptr;
    if (sd_bus_message_has_signature(message, "s") <= 0 || sd_bus_message_read(message, "s", &interface) < 0)
        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_INVALID_ARGS, "GetAll takes s");
    if (std::string_view{interface} != kInterface) return sd_bus_reply_method_return(message, "a{sv}", 0);
    return sd_bus_reply_method_return(message, "a{sv}", 1, "Interfaces", "as", 0);
}

int DbusListener::get_property(sd_bus_message* message) {
    const char* interface = nullptr;
    const char* name = nullptr;
    if (sd_bus_message_has_signature(message, "ss") <= 0 ||
        sd_bus_message_read(message, "ss", &interface, &name) < 0)
        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_INVALID_ARGS, "Get takes ss");
    if (std::string_view{interface} != kInterface || std::string_view{name} != "Interfaces")
        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_PROPERTY, "no such property");
    return sd_bus_reply_method_return(message, "v", "as", 0);
}

Result<> DbusListener::scanout(sd_bus_message* message) {
    std::uint32_t width = 0, height = 0;
    RawPixels picture;
    DORMOUSE_TRY(check_bus(
        sd_bus_message_read(message, "uuuu", &width, &height, &picture.stride, &picture.format), kDoing));
    DORMOUSE_TRY_ASSIGN(picture.data, read_bytes(message));
    picture.width = width;
    picture.height = height;
    DORMOUSE_TRY_ASSIGN(const bool changed, framebuffer_.replace(picture));
    callbacks_.on_picture();
    if (changed) callbacks_.on_change();
    return {};
}

Result<> DbusListener::update(sd_bus_message* message) {
    std::int32_t x = 0, y = 0, width = 0, height = 0;
    RawPixels part;
    DORMOUSE_TRY(check_bus(
        sd_bus_message_read(message, "iiiiuu", &x, &y, &width, &height, &part.stride, &part.format), kDoing));
    DORMOUSE_TRY_ASSIGN(part.data, read_bytes(message));
    part.width = width;
    part.height = height;
    DORMOUSE_TRY_ASSIGN(const bool changed, framebuffer_.update(x, y, part));
    if (changed) callbacks_.on_change();
    return {};
}

Result<> DbusListener::disable(sd_bus_message* /*message*/) {
    framebuffer_.blank();
    callbacks_.on_picture();
    callbacks_.on_change();
    return {};
}

Result<> DbusListener::mouse_set(sd_bus_message* message) {
    std::int32_t x = 0, y = 0, on = 0;
    DORMOUSE_TRY(check_bus(sd_bus_message_read(message, "iii", &x, &y, &on), kDoing));
    framebuffer_.set_cursor_position(x, y, on != 0);
    callbacks_.on_change();
    return {};
}

Result<> DbusListener::cursor_define(sd_bus_message* message) {
    std::int32_t width = 0, height = 0, hot_x = 0, hot_y = 0;
    DORMOUSE_TRY(check_bus(sd_bus_message_read(message, "iiii", &width, &height, &hot_x, &hot_y), kDoing));
    DORMOUSE_TRY_ASSIGN(const auto argb, read_bytes(message));
    DORMOUSE_TRY(framebuffer_.set_cursor_shape(width, height, hot_x, hot_y, argb));
    callbacks_.on_change();
    return {};
}

Result<> DbusListener::ignore(sd_bus_message* /*message*/) {
    return {};
}

}  // namespace dormouse::display
