// SPDX-License-Identifier: Apache-2.0
#include "real_qemu.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dormouse::display::testing {

bool RealQemu::installed() {
    return std::system("command -v qemu-system-x86_64 >/dev/null") == 0;
}

RealQemu::RealQemu(const std::string& device, SourceKind display) : display_(display) {
    std::string name = "/tmp/dormouse-display-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    // We listen and QEMU connects: no waiting for a socket file to appear.
    UniqueFd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = directory_ + "/qmp";
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);

    CommandLine line;
    line.argv = {"qemu-system-x86_64",
                 "-M",
                 "pc-q35-7.2",
                 "-nodefaults",
                 "-no-user-config",
                 "-accel",
                 "tcg",
                 "-m",
                 "64",
                 "-device",
                 device,
                 "-display",
                 display == SourceKind::Dbus ? "dbus,p2p=yes" : "none",
                 "-chardev",
                 "socket,id=qmp,path=" + path,
                 "-mon",
                 "chardev=qmp,mode=control"};
    if (display == SourceKind::Vnc) line.argv.insert(line.argv.end(), {"-vnc", "none"});
    line.die_with_parent = true;
    ForkSpawner spawner;
    auto child = spawner.start(line);
    EXPECT_TRUE(child.has_value()) << (child ? "" : child.error().message);
    if (!child) return;
    child_ = std::move(*child);
    pollfd ready{listener.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 30'000), 1) << "QEMU did not connect";
    qmp_.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_NE(read_line().find("QMP"), std::string::npos);
    EXPECT_NE(command(R"({"execute":"qmp_capabilities"})").find("return"), std::string::npos);
}

RealQemu::~RealQemu() {
    if (child_.pid > 0) {
        ::kill(child_.pid, SIGKILL);
        (void)wait_exit(child_);
    }
    std::filesystem::remove_all(directory_);
}

UniqueFd RealQemu::connect_display() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const UniqueFd theirs{ends[1]};
    UniqueFd ours{ends[0]};
    EXPECT_NE(command(R"({"execute":"getfd","arguments":{"fdname":"display"}})", theirs.get()).find("return"),
              std::string::npos);
    const std::string protocol =
        display_ == SourceKind::Dbus ? R"("@dbus-display")" : R"("vnc","skipauth":true)";
    EXPECT_NE(
        command(R"({"execute":"add_client","arguments":{"fdname":"display","protocol":)" + protocol + "}}")
            .find("return"),
        std::string::npos);
    return ours;
}

Image RealQemu::screendump() {
    const auto file = directory_ + "/screen.ppm";
    EXPECT_NE(command(R"({"execute":"screendump","arguments":{"filename":")" + file + "\"}}").find("return"),
              std::string::npos);
    std::ifstream in{file, std::ios::binary};
    std::string magic;
    int width = 0, height = 0, depth = 0;
    in >> magic >> width >> height >> depth;
    in.get();
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    EXPECT_EQ(magic, "P6");
    EXPECT_EQ(bytes.size(), static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
    Image image{{width, height}};
    const auto* next = bytes.data();
    for (int y = 0; y < height; ++y) {
        for (auto& pixel : image.row(y)) {
            for (int channel = 0; channel < 3; ++channel)
                pixel = pixel << 8 | static_cast<unsigned char>(*next++);
            pixel |= 0xff000000;
        }
    }
    return image;
}

std::string RealQemu::command(const std::string& json, int passed_fd) {
    std::string text = json + "\n";
    iovec data{text.data(), text.size()};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (passed_fd >= 0) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        auto* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &passed_fd, sizeof passed_fd);
    }
    EXPECT_EQ(::sendmsg(qmp_.get(), &header, MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return read_reply();
}

std::string RealQemu::read_reply() {
    while (true) {
        auto line = read_line();
        if (line.empty() || line.find("\"event\"") == std::string::npos) return line;
    }
}

std::string RealQemu::read_line() {
    while (true) {
        if (const auto end = buffered_.find('\n'); end != std::string::npos) {
            auto line = buffered_.substr(0, end);
            buffered_.erase(0, end + 1);
            return line;
        }
        pollfd ready{qmp_.get(), POLLIN, 0};
        std::array<char, 4096> bytes;
        const auto got = ::poll(&ready, 1, 30'000) == 1 ? ::read(qmp_.get(), bytes.data(), bytes.size()) : 0;
        if (got <= 0) {
            ADD_FAILURE() << "QMP ended";
            return {};
        }
        buffered_.append(bytes.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace dormouse::display::testing
