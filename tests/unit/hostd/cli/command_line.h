// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hostd/base/random.h"
#include "hostd/cli/app.h"
#include "hostd/schema/schema.h"
#include "hostd/wsio/http_server.h"

namespace dormouse::cli {

inline schema::Desktop sample_desktop(std::string name = "research", std::string state = "running") {
    schema::Desktop desktop;
    desktop.id = "d-1a2b3c4d5e";
    desktop.name = std::move(name);
    desktop.image = "desktop";
    desktop.state = std::move(state);
    desktop.ready = desktop.state == "running";
    desktop.created_at = WallTime{std::chrono::seconds{1'700'000'000 - 7200}};
    desktop.started_at = WallTime{std::chrono::seconds{1'700'000'000 - 180}};
    desktop.screen = {1280, 800};
    desktop.memory_mib = 2048;
    desktop.cpus = 2;
    desktop.accelerator = "tcg";
    return desktop;
}

// A real HTTP server. Answers from a list, the last of which stays; remembers
// what it was asked as "METHOD path body".
class FakeDaemon {
  public:
    FakeDaemon() {
        auto started =
            wsio::HttpServer::start({}, [this](wsio::HttpRequest request, const wsio::Responder& responder) {
                std::lock_guard lock{mutex_};
                asked_.push_back(request.method + " " + request.path +
                                 (request.body.empty() ? "" : " " + request.body));
                token_ = std::string{wsio::find_header(request.headers, "authorization")};
                responder.respond(answers_.empty() ? wsio::HttpResponse::json(500, "{}") : answers_.front());
                if (answers_.size() > 1) answers_.erase(answers_.begin());
            });
        server_ = std::move(*started);
    }

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
    void answers(wsio::HttpResponse response) {
        std::lock_guard lock{mutex_};
        answers_.push_back(std::move(response));
    }
    void answers(int status, std::string json) { answers(wsio::HttpResponse::json(status, std::move(json))); }
    void fails(Error error) {
        const int status = schema::http_status(error.code);
        answers(status, schema::to_json(schema::ErrorBody{std::move(error), std::nullopt}));
    }
    std::vector<std::string> asked() {
        std::lock_guard lock{mutex_};
        return asked_;
    }
    std::string token() {
        std::lock_guard lock{mutex_};
        return token_;
    }

  private:
    std::mutex mutex_;
    std::vector<wsio::HttpResponse> answers_;  // guarded by mutex_
    std::vector<std::string> asked_;           // guarded by mutex_
    std::string token_;                        // guarded by mutex_
    std::unique_ptr<wsio::HttpServer> server_;
};

// The command line as a function: words in, code and text out.
struct CommandLineRun {
    std::string url = "http://127.0.0.1:1";  // nobody listens there
    std::optional<Secret> token = Secret{"dm_secret"};
    bool out_is_terminal = false;
    // Pauses last nothing and move the clock; where a real process is waited for
    // they are short, and time stands still.
    bool waits_for_process = false;
    std::string input;
    std::filesystem::path home = std::filesystem::temp_directory_path() / ("dormouse-cli-" + random_hex(8));

    std::string out;
    std::string err;
    ManualClock clock;

    CommandLineRun() = default;
    explicit CommandLineRun(const FakeDaemon& daemon) : url(daemon.url()) {}
    CommandLineRun(const CommandLineRun&) = delete;
    CommandLineRun& operator=(const CommandLineRun&) = delete;
    ~CommandLineRun() {
        std::error_code ignored;
        std::filesystem::remove_all(home, ignored);
    }

    int operator()(const std::vector<std::string>& words) {
        std::istringstream in{input};
        std::ostringstream out_stream;
        std::ostringstream err_stream;
        Streams streams{.in = in, .out = out_stream, .err = err_stream, .out_is_terminal = out_is_terminal};
        const World world{.connect = [this]() -> Result<Connection> { return connection(); },
                          .clock = clock,
                          .pause = [this](Duration time) { pause(time); }};
        const int code = run(words, streams, world);
        out = out_stream.str();
        err = err_stream.str();
        return code;
    }

  private:
    void pause(Duration time) {
        if (waits_for_process)
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        else
            clock.advance(time);
    }
    Connection connection() const {
        Config config;
        config.home = home;
        config.run = home / "run";
        config.templates = home / "templates";
        return {.config = config, .url = url, .token = token, .no_token = "no token file"};
    }
};

}  // namespace dormouse::cli
