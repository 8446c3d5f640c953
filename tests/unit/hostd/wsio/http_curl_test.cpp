// SPDX-License-Identifier: Apache-2.0
// The server against a client that we did not write: /usr/bin/curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hostd/base/file.h"
#include "hostd/base/process.h"
#include "hostd/wsio/http_server.h"

namespace dormouse::wsio {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Curl : public testing::Test {
  protected:
    Curl() {
        auto started = HttpServer::start({}, [](const HttpRequest& request, const Responder& responder) {
            if (request.path == "/picture")
                return responder.respond(HttpResponse::text(200, "image/png", std::string(3 << 20, 'p')));
            std::size_t sum = 0;
            for (const char c : request.body) sum += static_cast<unsigned char>(c);
            responder.respond(HttpResponse::text(
                200, "text/plain",
                request.method + " " + std::to_string(request.body.size()) + " " + std::to_string(sum)));
        });
        server_ = std::move(*started);
        file_ = std::filesystem::temp_directory_path() / ("dormouse-curl-" + std::to_string(::getpid()));
        EXPECT_TRUE(write_file_atomic(file_, std::string(3 << 20, 'z')));
        EXPECT_TRUE(write_file_atomic(file_.string() + ".big", std::string(5 << 20, 'z')));
    }
    ~Curl() override {
        std::filesystem::remove(file_);
        std::filesystem::remove(file_.string() + ".big");
    }

    std::string url(const std::string& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(server_->port()) + path;
    }
    std::string curl(const std::string& arguments, const std::string& path = "/") const {
        const auto run = run_command(
            {.argv = {"sh", "-c", "curl -sS --noproxy '*' -m 20 " + arguments + " " + url(path)}});
        return run ? run->output : run.error().message;
    }

    std::unique_ptr<HttpServer> server_;
    std::filesystem::path file_;
};

TEST_F(Curl, GetsAnAnswerWithSecurityHeadersAndWithoutABanner) {
    const auto out = curl("-i");
    EXPECT_THAT(out, HasSubstr("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(out, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(out, HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_THAT(out, Not(HasSubstr("Server:")));
    EXPECT_THAT(out, EndsWith("GET 0 0"));
}

TEST_F(Curl, UploadsAFileAfter100Continue) {
    const auto out = curl("-v -T " + file_.string());
    EXPECT_THAT(out, HasSubstr("Expect: 100-continue"));
    EXPECT_THAT(out, HasSubstr("HTTP/1.1 100 Continue"));
    EXPECT_THAT(out, HasSubstr("PUT 3145728 " + std::to_string((3 << 20) * std::size_t{'z'})));
}

TEST_F(Curl, UploadsAStreamInChunks) {
    EXPECT_THAT(curl("-T - < " + file_.string()),
                HasSubstr("PUT 3145728 " + std::to_string((3 << 20) * std::size_t{'z'})));
    EXPECT_EQ(curl("-H 'Transfer-Encoding: chunked' -d abc"), "POST 3 294");
}

TEST_F(Curl, SeesThatABodyIsTooLargeHoweverItIsSent) {
    const auto big = file_.string() + ".big";
    EXPECT_THAT(curl("-i -T " + big), HasSubstr("HTTP/1.1 413 "));
    EXPECT_THAT(curl("-i -T - < " + big), HasSubstr("HTTP/1.1 413 "));
    EXPECT_THAT(curl("-i -H Expect: --data-binary @" + big), HasSubstr("\"code\":\"too_large\""));
}

TEST_F(Curl, DownloadsAPictureAndItsHead) {
    EXPECT_EQ(curl("", "/picture"), std::string(3 << 20, 'p').substr(0, RunOptions{}.keep_output));
    const auto size = curl("-o /dev/null -w '%{size_download} %{http_code}'", "/picture");
    EXPECT_EQ(size, "3145728 200");
    EXPECT_THAT(curl("-I", "/picture"), HasSubstr("Content-Length: 3145728\r\n"));
}

TEST_F(Curl, SpeaksHttp10) {
    EXPECT_THAT(curl("-0 -i -d abc"), HasSubstr("HTTP/1.0 200 OK"));
}

TEST_F(Curl, UsesOneConnectionForManyRequests) {
    const auto out = curl("-v -d abc " + url("/2") + " " + url("/3"));
    EXPECT_THAT(out, HasSubstr("Re-using existing connection"));
    EXPECT_THAT(out, Not(HasSubstr("Closing connection 1")));
}

}  // namespace
}  // namespace dormouse::wsio
