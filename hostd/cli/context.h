// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "hostd/base/clock.h"
#include "hostd/base/config.h"
#include "hostd/base/result.h"
#include "hostd/base/secret.h"
#include "hostd/cli/exit_code.h"
#include "hostd/cli/text.h"
#include "hostd/client/api_client.h"

namespace dormouse::cli {

// Where words come from and go to.
struct Streams {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    bool colour = false;  // on standard output
};

// Which daemon, and as whom.
struct Connection {
    Config config;
    std::string url;
    bool is_local = true;  // the daemon of this state folder; false where DORMOUSE_URL says another one
    std::optional<Secret> token;
    std::string no_token;  // why there is none
};

// From config and the environment: DORMOUSE_URL and DORMOUSE_TOKEN win over the
// configured address and the state folder's token file. That file's token is
// for no other daemon than its own.
Result<Connection> connection_from_environment();

struct Settings {
    bool json = false;
    std::string program = "./dormouse";  // how this program was called, for examples
    const Clock& clock;
    std::function<void(Duration)> pause;  // any thread
};

// What every verb is given. Lives as long as the command.
class Context {
  public:
    Context(Connection connection, Streams& streams, Settings settings);

    const Config& config() const { return connection_.config; }
    const Connection& connection() const { return connection_; }
    client::ApiClient& client() { return client_; }
    Streams& streams() { return streams_; }
    const Clock& clock() const { return settings_.clock; }
    void pause(Duration time) const { settings_.pause(time); }
    bool json() const { return settings_.json; }
    // "./dormouse start main": what a person can type.
    std::string command(std::string_view rest) const { return fmt::format("{} {}", settings_.program, rest); }

    void print(std::string_view text);  // to standard output, as it is
    void print_line(std::string_view text);
    void note(std::string_view line);   // for somebody who watches: to standard error, if that is a terminal
    void complain(const Error& error);  // "dormouse: MESSAGE" and the hint, to standard error

    // What `error` means for whoever called us, with a hint of ours where we know
    // more than the one who made it. May ask the daemon whether it is there.
    struct Verdict {
        Error error;
        ExitCode code;
    };
    Verdict judge(Error error);

    // The page that shows a desktop, with the token that opens it.
    std::string page_link(const std::string& desktop) const;

  private:
    const Connection connection_;
    Streams& streams_;
    const Settings settings_;
    client::ApiClient client_;
};

void complain(Streams& streams, const Error& error);

}  // namespace dormouse::cli
