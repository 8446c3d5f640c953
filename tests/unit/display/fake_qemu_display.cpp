// SPDX-License-Identifier: Apache-2.0
#include "fake_qemu_display.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>

namespace dormouse::display::testing {

namespace {

constexpr const char* kListenerPath = "/org/qemu/Display1/Listener";
constexpr const char* kListenerInterface = "org.qemu.Display1.Listener";

std::uint64_t usec(std::chrono::microseconds time) {
    return static_cast<std::uint64_t>(time.count());
}

}  // namespace

FakeQemuDisplay::FakeQemuDisplay() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    client_end_.reset(ends[0]);
    console_ = serve(UniqueFd{ends[1]});
    sd_bus_slot* slot = nullptr;
    EXPECT_GE(sd_bus_add_object(console_.get(), &slot, "/org/qemu/Display1/Console_0",
                                &FakeQemuDisplay::on_register, this),
              0);
    object_.reset(slot);
}

BusHandle FakeQemuDisplay::serve(UniqueFd socket) {
    sd_bus* raw = nullptr;
    EXPECT_GE(sd_bus_new(&raw), 0);
    BusHandle bus{raw};
    sd_id128_t id{};
    EXPECT_GE(sd_id128_randomize(&id), 0);
    EXPECT_GE(sd_bus_set_server(raw, 1, id), 0);
    EXPECT_GE(sd_bus_negotiate_fds(raw, 1), 0);
    const int fd = socket.release();
    EXPECT_GE(sd_bus_set_fd(raw, fd, fd), 0);
    EXPECT_GE(sd_bus_start(raw), 0);
    return bus;
}

bool FakeQemuDisplay::process_until(const std::function<bool()>& done, std::chrono::microseconds patience) {
    while (!done()) {
        const int processed = sd_bus_process(console_.get(), nullptr);
        if (processed < 0 || sd_bus_is_open(console_.get()) <= 0) return false;
        if (processed == 0 && sd_bus_wait(console_.get(), usec(patience)) <= 0) return false;
    }
    return true;
}

bool FakeQemuDisplay::accept(Handshake order, std::chrono::microseconds patience) {
    order_ = order;
    called_ = false;
    shaken_ = false;
    return process_until([this] { return called_; }, patience) && shaken_;
}

bool FakeQemuDisplay::refuse_listener() {
    refusing_ = true;
    called_ = false;
    return process_until([this] { return called_; }) && sd_bus_flush(console_.get()) >= 0;
}

int FakeQemuDisplay::on_register(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
    auto& fake = *static_cast<FakeQemuDisplay*>(self);
    if (sd_bus_message_is_method_call(message, "org.qemu.Display1.Console", "RegisterListener") <= 0)
        return 0;
    fake.called_ = true;
    if (fake.refusing_)
        return sd_bus_reply_method_errorf(message, "org.qemu.Display1.Error.Failed", "no room");
    int fd = -1;
    if (sd_bus_message_read(message, "h", &fd) < 0) return -EINVAL;
    fake.listener_ = fake.serve(UniqueFd{::fcntl(fd, F_DUPFD_CLOEXEC, 3)});
    if (fake.order_ == Handshake::BeforeReply) fake.shaken_ = fake.shake_hands();
    const int replied = sd_bus_reply_method_return(message, nullptr);
    if (fake.order_ == Handshake::AfterReply) fake.shaken_ = fake.shake_hands();
    return replied;
}

// GDBus makes its proxy with GetAll, and QEMU waits for the answer.
bool FakeQemuDisplay::shake_hands() {
    sd_bus_message* raw = nullptr;
    sd_bus_message_new_method_call(listener_.get(), &raw, nullptr, kListenerPath,
                                   "org.freedesktop.DBus.Properties", "GetAll");
    const BusMessage request{raw};
    sd_bus_message_append(raw, "s", kListenerInterface);
    sd_bus_message* raw_reply = nullptr;
    if (sd_bus_call(listener_.get(), raw, usec(kPatience), nullptr, &raw_reply) < 0) return false;
    const BusMessage reply{raw_reply};
    if (sd_bus_message_enter_container(raw_reply, 'a', "{sv}") < 0) return false;
    while (sd_bus_message_enter_container(raw_reply, 'e', "sv") > 0) {
        const char* name = nullptr;
        sd_bus_message_read(raw_reply, "s", &name);
        EXPECT_STREQ(name, "Interfaces");
        sd_bus_message_enter_container(raw_reply, 'v', "as");
        sd_bus_message_enter_container(raw_reply, 'a', "s");
        const char* interface = nullptr;
        for (listener_interfaces_ = 0; sd_bus_message_read(raw_reply, "s", &interface) > 0;)
            ++listener_interfaces_;
        sd_bus_message_exit_container(raw_reply);
        sd_bus_message_exit_container(raw_reply);
        sd_bus_message_exit_container(raw_reply);
    }
    return true;
}

BusMessage FakeQemuDisplay::method(const char* member) {
    sd_bus_message* raw = nullptr;
    EXPECT_GE(sd_bus_message_new_method_call(listener_.get(), &raw, nullptr, kListenerPath,
                                             kListenerInterface, member),
              0);
    return BusMessage{raw};
}

std::string FakeQemuDisplay::call(const BusMessage& message) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    std::string name;
    if (const int code = sd_bus_call(listener_.get(), message.get(), usec(kPatience), &error, nullptr);
        code < 0)
        name = error.name != nullptr ? error.name : std::to_string(code);
    sd_bus_error_free(&error);
    return name;
}

std::string FakeQemuDisplay::scanout(const RawPixels& picture) {
    const auto message = method("Scanout");
    sd_bus_message_append(message.get(), "uuuu", static_cast<std::uint32_t>(picture.width),
                          static_cast<std::uint32_t>(picture.height), picture.stride, picture.format);
    sd_bus_message_append_array(message.get(), 'y', picture.data.data(), picture.data.size());
    return call(message);
}

void FakeQemuDisplay::post_scanout(const RawPixels& picture) {
    const auto message = method("Scanout");
    sd_bus_message_append(message.get(), "uuuu", static_cast<std::uint32_t>(picture.width),
                          static_cast<std::uint32_t>(picture.height), picture.stride, picture.format);
    sd_bus_message_append_array(message.get(), 'y', picture.data.data(), picture.data.size());
    sd_bus_message_set_expect_reply(message.get(), 0);
    EXPECT_GE(sd_bus_send(listener_.get(), message.get(), nullptr), 0);
    EXPECT_GE(sd_bus_flush(listener_.get()), 0);
}

void FakeQemuDisplay::tell_size(std::uint32_t width, std::uint32_t height) {
    sd_bus_message* raw = nullptr;
    EXPECT_GE(sd_bus_message_new_signal(console_.get(), &raw, "/org/qemu/Display1/Console_0",
                                        "org.freedesktop.DBus.Properties", "PropertiesChanged"),
              0);
    const BusMessage signal{raw};
    sd_bus_message_append(raw, "sa{sv}as", "org.qemu.Display1.Console", 3, "Label", "s", "VGA", "Width", "u",
                          width, "Height", "u", height, 0);
    EXPECT_GE(sd_bus_send(console_.get(), raw, nullptr), 0);
    EXPECT_GE(sd_bus_flush(console_.get()), 0);
}

std::string FakeQemuDisplay::update(int x, int y, const RawPixels& part) {
    const auto message = method("Update");
    sd_bus_message_append(message.get(), "iiiiuu", x, y, static_cast<std::int32_t>(part.width),
                          static_cast<std::int32_t>(part.height), part.stride, part.format);
    sd_bus_message_append_array(message.get(), 'y', part.data.data(), part.data.size());
    return call(message);
}

std::string FakeQemuDisplay::disable() {
    return call(method("Disable"));
}

std::string FakeQemuDisplay::mouse_set(int x, int y, int on) {
    const auto message = method("MouseSet");
    sd_bus_message_append(message.get(), "iii", x, y, on);
    return call(message);
}

std::string FakeQemuDisplay::cursor_define(int width, int height, int hot_x, int hot_y,
                                           std::span<const std::byte> argb) {
    const auto message = method("CursorDefine");
    sd_bus_message_append(message.get(), "iiii", width, height, hot_x, hot_y);
    sd_bus_message_append_array(message.get(), 'y', argb.data(), argb.size());
    return call(message);
}

std::string FakeQemuDisplay::scanout_dmabuf(int fd) {
    const auto message = method("ScanoutDMABUF");
    sd_bus_message_append(message.get(), "huuuutb", fd, 64U, 64U, 256U, 0U, std::uint64_t{0}, 1);
    return call(message);
}

std::string FakeQemuDisplay::call_with_text(const char* member) {
    const auto message = method(member);
    sd_bus_message_append(message.get(), "s", "surprise");
    return call(message);
}

}  // namespace dormouse::display::testing
