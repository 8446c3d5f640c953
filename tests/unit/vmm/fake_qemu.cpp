// SPDX-License-Identifier: Apache-2.0
#include "fake_qemu.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hostd/base/unique_fd.h"

namespace dormouse::vmm {

namespace {

using nlohmann::json;

class FakeQemu {
  public:
    FakeQemu(std::string mode, const char* qmp_path, const char* guest_path)
        : mode_(std::move(mode)),
          qmp_listener_(listen_on(qmp_path)),
          guest_listener_(listen_on(guest_path)) {}

    [[noreturn]] void run() {
        qmp_ = UniqueFd{::accept(qmp_listener_.get(), nullptr, nullptr)};
        if (mode_ == "deaf") ::pause();
        say({{"QMP",
              {{"version", {{"qemu", {{"major", 1}, {"minor", 2}, {"micro", 3}}}}},
               {"capabilities", json::array()}}}});
        for (;;) {
            pollfd fds[3] = {{qmp_.get(), POLLIN, 0},
                             {guest_listener_.get(), POLLIN, 0},
                             {guest_reads_ ? guest_.get() : -1, POLLIN, 0}};
            ::poll(fds, 3, -1);
            if (fds[0].revents != 0) read_qmp();
            if (fds[1].revents != 0) guest_ = UniqueFd{::accept(guest_listener_.get(), nullptr, nullptr)};
            if (fds[2].revents != 0) echo();
        }
    }

  private:
    static UniqueFd listen_on(const char* path) {
        UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM, 0)};
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(90);
        ::listen(fd.get(), 1);
        return fd;
    }
    void write_all(int fd, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto piece = mode_ == "slow" ? bytes.substr(0, 1) : bytes;
            const auto sent = ::send(fd, piece.data(), piece.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    void say(const json& message) { write_all(qmp_.get(), message.dump() + "\r\n"); }

    void read_qmp() {
        char buffer[4096];
        iovec part{buffer, sizeof buffer};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const auto got = ::recvmsg(qmp_.get(), &message, 0);
        if (got <= 0) ::_exit(91);
        if (const auto* header = CMSG_FIRSTHDR(&message)) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
            passed_ = UniqueFd{fd};
        }
        buffered_.append(buffer, static_cast<std::size_t>(got));
        for (auto end = buffered_.find('\n'); end != std::string::npos; end = buffered_.find('\n')) {
            const auto line = buffered_.substr(0, end);
            buffered_.erase(0, end + 1);
            carry_out(json::parse(line, nullptr, false));
        }
    }

    void carry_out(const json& request) {
        if (!request.is_object() || !request.contains("id")) {
            say({{"error", {{"class", "GenericError"}, {"desc", "JSON parse error"}}}});
            return;
        }
        const std::string command = request.at("execute");
        const auto arguments = request.value("arguments", json::object());
        json result = json::object();
        if (command == "quit") {
            say({{"return", result}, {"id", request.at("id")}});
            say({{"event", "SHUTDOWN"}, {"data", {{"guest", false}, {"reason", "host-qmp-quit"}}}});
            ::_exit(0);
        }
        if (command == "x-hang") ::pause();
        if (command == "x-length") result = arguments.at("text").get<std::string>().size();
        if (command == "x-guest") guest_reads_ = arguments.at("read");
        if (command == "x-big") result = std::string(arguments.at("size").get<std::size_t>(), 'b');
        if (command == "x-read-fd") {
            char byte[64]{};
            const auto got = ::read(passed_.get(), byte, sizeof byte);
            result = std::string(byte, got > 0 ? static_cast<std::size_t>(got) : 0);
        }
        if (command == "x-events")
            for (int i = 0; i < arguments.at("count").get<int>(); ++i)
                say({{"event", "X_EVENT"},
                     {"data", {{"number", i}, {"padding", std::string(arguments.value("size", 0U), 'p')}}}});
        say({{"return", result}, {"id", request.at("id")}});
        if (command == "x-events") passed_.reset();  // whoever holds the other end sees that all is said
    }

    void echo() {
        char buffer[4096];
        const auto got = ::read(guest_.get(), buffer, sizeof buffer);
        if (got <= 0) return guest_.reset();
        write_all(guest_.get(), {buffer, static_cast<std::size_t>(got)});
    }

    const std::string mode_;
    UniqueFd qmp_listener_;
    UniqueFd guest_listener_;
    UniqueFd qmp_;
    UniqueFd guest_;
    UniqueFd passed_;
    std::string buffered_;
    bool guest_reads_ = true;
};

// Before main(), which belongs to the tests.
[[gnu::constructor]] void perhaps_be_qemu(int argc, char** argv) {
    const char* mode = ::getenv(kFakeQemu);
    if (argc < 3 || argv[1][0] != '/') return;
    // Meant to be QEMU in any case: the tests, run from a test, would run themselves again.
    if (!mode) ::_exit(92);
    if (std::string_view{mode} == "fail") {
        for (int i = 1; i <= 30; ++i) std::fprintf(stderr, "fake-qemu: line %d\n", i);
        std::fprintf(stderr, "fake-qemu: cannot set up the \xff machine");
        std::fflush(stderr);
        ::_exit(3);
    }
    FakeQemu{mode, argv[1], argv[2]}.run();
}

}  // namespace

std::string this_program() {
    return std::filesystem::read_symlink("/proc/self/exe");
}

}  // namespace dormouse::vmm
