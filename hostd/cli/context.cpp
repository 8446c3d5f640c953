// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/context.h"

#include <cstdlib>
#include <ostream>

#include "hostd/base/file.h"

namespace dormouse::cli {

namespace {

constexpr std::size_t kLongestTokenFile = 4096;
constexpr std::size_t kLongestUrl = 256;
constexpr std::string_view kSpace = " \t\r\n";

std::string environment(const char* name) {
    const char* value = ::getenv(name);
    return value ? value : "";
}

std::string trimmed(const std::string& text) {
    const auto begin = text.find_first_not_of(kSpace);
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string without_slash(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

}  // namespace

namespace {

// The daemon may have been started with another address than we would give it.
std::string local_url(const Config& config) {
    if (environment("DORMOUSE_LISTEN").empty()) {
        if (const auto text = read_file(config.daemon_url(), kLongestUrl);
            text && text->starts_with("http://"))
            return trimmed(*text);
    }
    return config.url();
}

}  // namespace

Result<Connection> connection_from_environment() {
    DORMOUSE_TRY_ASSIGN(auto config, load_config());
    Connection connection{.config = std::move(config)};
    connection.url = local_url(connection.config);
    if (const auto url = without_slash(environment("DORMOUSE_URL")); !url.empty()) {
        connection.is_local = url == connection.url;
        connection.url = url;
    }
    if (auto token = trimmed(environment("DORMOUSE_TOKEN")); !token.empty()) {
        connection.token = Secret{std::move(token)};
    } else if (!connection.is_local) {
        connection.no_token = "DORMOUSE_URL is set, but DORMOUSE_TOKEN is not";
    } else if (auto text = read_file(connection.config.admin_token(), kLongestTokenFile)) {
        connection.token = Secret{trimmed(*text)};
    } else {
        connection.no_token = text.error().message;
    }
    return connection;
}

Context::Context(Connection connection, Streams& streams, Settings settings)
    : connection_(std::move(connection)),
      streams_(streams),
      settings_(std::move(settings)),
      client_(connection_.url, connection_.token) {}

void Context::print(std::string_view text) {
    streams_.out << text;
}

void Context::print_line(std::string_view text) {
    streams_.out << text << '\n';
}

void Context::note(std::string_view line) {
    if (streams_.err_is_terminal) streams_.err << line << '\n';
}

void Context::complain(const Error& error) {
    cli::complain(streams_, error);
}

void complain(Streams& streams, const Error& error) {
    streams.out.flush();
    streams.err << "dormouse: " << plain(error.message) << '\n';
    if (!error.hint.empty()) streams.err << "  " << plain(error.hint) << '\n';
}

Context::Verdict Context::judge(Error error) {
    if (error.code == Errc::Unauthenticated && !connection_.token) {
        error.message = "there is no token to call the daemon with: " + connection_.no_token;
        error.hint = "set DORMOUSE_TOKEN, or run as the user who started the daemon";
    }
    // The daemon itself can say Unavailable, too.
    if (error.code == Errc::Unavailable && !client_.health()) {
        error.hint = connection_.is_local ? "start it: ./dormouse up" : "is DORMOUSE_URL right?";
        return {std::move(error), kUnreachable};
    }
    const auto code = exit_code_of(error.code);
    return {std::move(error), code};
}

std::string Context::page_link(const std::string& desktop) const {
    auto link = fmt::format("{}/desktops/{}", connection_.url, desktop);
    if (connection_.token) link += "#token=" + connection_.token->reveal_for_transport();
    return link;
}

}  // namespace dormouse::cli
