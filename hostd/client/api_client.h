// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"
#include "hostd/base/secret.h"
#include "hostd/schema/schema.h"

namespace dormouse::client {

struct Screenshot {
    std::string bytes;       // a file
    std::string media_type;  // "image/png"
    int width = 0;           // pixels of the picture
    int height = 0;
    std::string etag;
};

// Which desktops; what is empty does not matter.
struct DesktopQuery {
    std::vector<std::string> labels;  // "key" or "key=value", all of them
    std::vector<std::string> states;  // one of them
    std::optional<std::string> image;
};

// Which entries of the audit log; what is absent does not matter.
struct AuditQuery {
    std::optional<std::string> desktop;
    std::optional<std::string> token;
    std::optional<std::string> command;
    std::optional<std::string> outcome;
    std::optional<WallTime> since;
    std::optional<WallTime> until;
    int limit = 100;
    std::optional<std::string> cursor;
};

// The HTTP API as functions. Each is one request that blocks until its answer;
// any thread. Desktops and tokens are named as the server names them, a desktop
// by id or name.
//
// What the server refuses comes back as its Error (code, message, hint). Of our
// own: Unavailable (nobody listens: the hint says to run ./dormouse up), Timeout,
// Interrupted (the connection was lost; what was done is not known), Corrupt
// (what answered is not Dormouse).
class ApiClient {
  public:
    // `url` as in "http://127.0.0.1:8760". Connects to nothing yet.
    explicit ApiClient(std::string url, std::optional<Secret> token = std::nullopt);

    // For all but create_desktop() and act(), which have times of their own.
    void set_timeout(Duration timeout) { timeout_ = timeout; }

    Result<schema::Health> health() const;  // needs no token
    Result<schema::Version> version() const;

    // Answers when the desktop can be used; up to ten minutes. Where the answer is
    // lost, it asks for it again under the same idempotency key: no second desktop.
    Result<schema::Desktop> create_desktop(const schema::CreateDesktopRequest& request) const;
    // All of them, page by page.
    Result<schema::DesktopList> list_desktops(const DesktopQuery& query = {}) const;
    Result<schema::Desktop> update_desktop(const std::string& desktop,
                                           const schema::UpdateDesktopRequest& request) const;
    Result<schema::Desktop> get_desktop(const std::string& desktop) const;
    Result<schema::DestinationList> list_destinations(const std::string& desktop) const;
    Result<> delete_desktop(const std::string& desktop) const;

    // These answer when it has begun: look at `state` with get_desktop().
    Result<schema::Desktop> start_desktop(const std::string& desktop) const;
    Result<schema::Desktop> stop_desktop(const std::string& desktop) const;
    Result<schema::Desktop> restart_desktop(const std::string& desktop) const;

    Result<Screenshot> screenshot(const std::string& desktop,
                                  const schema::PictureOptions& options = {}) const;

    // When one of the actions fails in the middle this is a success all the same,
    // with the results of those before it and `failure`. An Error means that none
    // was carried out, or that we cannot know.
    Result<schema::ActionsResponse> act(const std::string& desktop,
                                        const schema::ActionsRequest& request) const;

    // Answers when the program has ended.
    Result<schema::ExecResponse> exec(const std::string& desktop, const schema::ExecRequest& request) const;

    // Answers as soon as the recipe has been understood: follow the operation.
    Result<schema::OperationAnswer> build_template(const schema::BuildTemplateRequest& request) const;
    Result<schema::TemplateList> list_templates() const;
    Result<schema::Template> get_template(const std::string& name) const;
    Result<> delete_template(const std::string& name) const;
    Result<schema::OperationLog> template_log(const std::string& name, std::uint64_t offset) const;

    Result<schema::OperationList> list_operations() const;
    Result<schema::Operation> get_operation(const std::string& operation, Duration wait = {}) const;
    Result<schema::OperationLog> get_operation_log(const std::string& operation, std::uint64_t offset) const;
    Result<schema::Operation> cancel_operation(const std::string& operation) const;

    // Gives `take` what happens, as it happens, until it returns false or the
    // connection ends: then Errc::Interrupted. `after` is the last event that was seen.
    Result<> watch_events(std::optional<std::uint64_t> after,
                          const std::function<bool(const schema::Event&)>& take) const;

    Result<schema::AuditPage> list_audit(const AuditQuery& query) const;

    Result<schema::NewToken> create_token(const schema::CreateTokenRequest& request) const;
    Result<schema::TokenList> list_tokens() const;
    Result<> delete_token(const std::string& token) const;

  private:
    struct Call;
    struct Answer;
    Result<Answer> send(const Call& call) const;               // any status
    Result<Answer> send_successfully(const Call& call) const;  // an error status is an Error
    template <class T>
    Result<T> get(const std::string& path) const;
    Result<schema::Desktop> change(const std::string& desktop, const char* verb) const;

    const std::string url_;
    const std::optional<Secret> token_;
    Duration timeout_ = std::chrono::seconds{30};
};

}  // namespace dormouse::client
