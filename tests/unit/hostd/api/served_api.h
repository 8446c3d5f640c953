// SPDX-License-Identifier: Apache-2.0
// An ApiServer on a real socket, with a core thread and a fake domain.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_gateway.h"
#include "hostd/api/api_server.h"
#include "hostd/schema/schema.h"
#include "hostd/wsio/http_client.h"

namespace dormouse::api {

class ServedApi : public testing::Test {
  protected:
    using HeaderList = std::vector<std::pair<std::string, std::string>>;

    void SetUp() override {
        auto server = ApiServer::start(loop_, gateway, {}, limits());
        ASSERT_TRUE(server) << server.error().message;
        server_ = std::move(*server);
        port_ = server_->port();
        core_ = std::jthread{[this] { loop_.run(); }};
    }

    void TearDown() override { stop(); }

    virtual LimitsConfig limits() const { return {}; }

    void stop() {
        if (!core_.joinable()) return;
        // Runs to its end on the core thread, as it would in the daemon.
        loop_.post([this] { spawn(shut_down(this)); });
        core_.join();
    }

    std::string url(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }

    wsio::ClientResponse send(wsio::ClientRequest request) {
        auto response = wsio::http_request(request);
        EXPECT_TRUE(response) << request.url << ": " << (response ? "" : response.error().message);
        return response ? std::move(*response) : wsio::ClientResponse{};
    }

    // With the token of the administrator, and as JSON when there is a body.
    wsio::ClientResponse ask(const std::string& method, const std::string& path, const std::string& body = {},
                             HeaderList headers = {}) {
        headers.emplace_back("Authorization", std::string{"Bearer "} + kAdminToken);
        return send({.method = method, .url = url(path), .headers = std::move(headers), .body = body});
    }

    // "conflict: message (hint)" of an error that has the status of its code.
    static std::string error_of(const wsio::ClientResponse& response) {
        const auto body = schema::parse<schema::ErrorBody>(response.body);
        if (!body) return "no error: " + std::to_string(response.status) + " " + response.body;
        EXPECT_EQ(wsio::find_header(response.headers, "content-type"), "application/json");
        if (response.status != 405) {
            EXPECT_EQ(response.status, schema::http_status(body->error.code));
        }
        const auto& error = body->error;
        const auto text = std::string{errc_name(error.code)} + ": " + error.message;
        return error.hint.empty() ? text : text + " (" + error.hint + ")";
    }

    // The one command that was carried out.
    template <class C>
    C only_command() {
        const auto commands = gateway.commands();
        EXPECT_EQ(commands.size(), 1u);
        const auto* command = commands.empty() ? nullptr : std::get_if<C>(&commands.back());
        EXPECT_NE(command, nullptr);
        if (!command) throw std::runtime_error{"another command, or none"};
        return *command;
    }

    FakeGateway gateway;

    EventLoop& loop() { return loop_; }
    std::uint16_t port() const { return port_; }

  private:
    static Task<void> shut_down(ServedApi* self) {
        self->server_->stop();
        co_await self->server_->finished();
        self->server_.reset();
        self->loop_.stop();
    }

    SystemClock clock_;
    EventLoop loop_{clock_};
    std::unique_ptr<ApiServer> server_;
    std::uint16_t port_ = 0;
    std::jthread core_;
};

}  // namespace dormouse::api
