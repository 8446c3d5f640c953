// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_protocol.h"

#include <gtest/gtest.h>

#include "vmm/json_fields.h"

namespace dormouse::vmm {
namespace {

TEST(KeeperProtocol, ReadsBackAnExitRecord) {
    ExitRecord record;
    record.pid = 4711;
    record.status.signal = 9;
    record.stderr_tail = {"one", "two \xff"};
    record.ended_at_ms = 1'700'000'000'123;
    record.requested = true;
    record.shutdown_reason = "host-qmp-quit";
    const auto text = dump_json(to_json(record));
    EXPECT_NE(text.find("signal 9 (Killed)"), std::string::npos);
    const auto back = parse_exit_record(parse_json(text));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->pid, 4711);
    EXPECT_EQ(back->to_text(), "signal 9 (Killed)");
    EXPECT_EQ(back->stderr_tail.size(), 2U);
    EXPECT_EQ(back->ended_at_ms, record.ended_at_ms);
    EXPECT_TRUE(back->requested);
    EXPECT_EQ(back->shutdown_reason, "host-qmp-quit");
}

TEST(KeeperProtocol, RefusesARecordThatIsNone) {
    for (const char* text : {"", "[]", "{}", "{\"pid\": \"1\"}", "{\"pid\": 1.5}"})
        EXPECT_EQ(parse_exit_record(parse_json(text)).error().code, Errc::Corrupt) << text;
}

TEST(KeeperProtocol, ReadsBackALaunchFile) {
    LaunchFile file;
    file.id = "d-1";
    file.identity = "uuid";
    file.argv = {"qemu", "-name", "a b"};
    file.env = {{"A", "1"}};
    file.run_folder = "/run/x";
    file.desktop_folder = "/var/x";
    file.qmp_socket = "/run/x/qmp.sock";
    file.timeout_ms = 5;
    const auto back = parse_launch_file(dump_json(to_json(file)));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->argv, file.argv);
    EXPECT_EQ(back->env, file.env);
    EXPECT_EQ(back->qmp_socket, file.qmp_socket);
    EXPECT_TRUE(back->guest_socket.empty());
    EXPECT_EQ(back->timeout_ms, 5);
    EXPECT_FALSE(parse_launch_file("{\"argv\": [1]}"));
    EXPECT_FALSE(parse_launch_file("{\"argv\": [\"x\"]}"));
    EXPECT_FALSE(parse_launch_file("nonsense"));
}

TEST(KeeperProtocol, RefusesAKeeperOfAnotherProtocol) {
    KeeperHello hello;
    hello.protocol = kKeeperProtocol;
    hello.keeper_pid = 10;
    hello.qemu_pid = 11;
    EXPECT_TRUE(parse_hello(to_json(hello)));
    hello.protocol = kKeeperProtocol + 1;
    EXPECT_EQ(parse_hello(to_json(hello)).error().code, Errc::Conflict);
    hello.protocol = kKeeperProtocol;
    hello.qemu_pid = 1;
    EXPECT_EQ(parse_hello(to_json(hello)).error().code, Errc::Corrupt);
}

}  // namespace
}  // namespace dormouse::vmm
