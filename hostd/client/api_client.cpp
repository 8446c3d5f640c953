// SPDX-License-Identifier: Apache-2.0
#include "hostd/client/api_client.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "hostd/wsio/http_client.h"

namespace dormouse::client {

namespace {

constexpr auto kCreateTimeout = std::chrono::minutes{10};
// Beyond the waits that were asked for: a click takes milliseconds, a long text
// some seconds.
constexpr auto kActionTimeout = std::chrono::seconds{30};

std::string without_slash(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

std::string desktop_path(const std::string& desktop) {
    return "/v1/desktops/" + wsio::percent_encode(desktop);
}

std::string template_path(const std::string& name) {
    return "/v1/templates/" + wsio::percent_encode(name);
}

std::string operation_path(const std::string& operation) {
    return "/v1/operations/" + wsio::percent_encode(operation);
}

int to_number(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

Duration time_for(const schema::ActionsRequest& request) {
    Duration total = kActionTimeout;
    for (const auto& action : request.actions) {
        total += kActionTimeout;
        if (action.duration) total += *action.duration;
    }
    return total;
}

}  // namespace

struct ApiClient::Call {
    std::string method;
    std::string path;
    std::string body;
    Duration timeout;
};

struct ApiClient::Answer : wsio::ClientResponse {
    bool ok() const { return status >= 200 && status < 300; }

    // The server's own words where it has some.
    tl::unexpected<Error> error() const {
        auto told = schema::parse<schema::ErrorBody>(body);
        if (told) return fail(std::move(told->error));
        return fail(schema::errc_from_status(status),
                    fmt::format("the server answered with HTTP status {} and no reason", status),
                    "is it Dormouse that listens there?");
    }
};

ApiClient::ApiClient(std::string url, std::optional<Secret> token)
    : url_(without_slash(std::move(url))), token_(std::move(token)) {}

Result<ApiClient::Answer> ApiClient::send(const Call& call) const {
    wsio::ClientRequest request{
        .method = call.method, .url = url_ + call.path, .body = call.body, .timeout = call.timeout};
    if (token_) request.headers.emplace_back("Authorization", "Bearer " + token_->reveal_for_transport());
    if (!call.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    auto response = wsio::http_request(request);
    if (response) return Answer{std::move(*response)};
    auto error = response.error();
    if (error.code == Errc::Unavailable) error.hint = "run `dormouse up`";
    return fail(std::move(error));
}

Result<ApiClient::Answer> ApiClient::send_successfully(const Call& call) const {
    DORMOUSE_TRY_ASSIGN(auto answer, send(call));
    if (!answer.ok()) return answer.error();
    return answer;
}

template <class T>
Result<T> ApiClient::get(const std::string& path) const {
    DORMOUSE_TRY_ASSIGN(const auto answer, send_successfully({"GET", path, "", timeout_}));
    return schema::parse<T>(answer.body);
}

Result<schema::Health> ApiClient::health() const {
    return get<schema::Health>("/healthz");
}
Result<schema::Version> ApiClient::version() const {
    return get<schema::Version>("/v1/version");
}

Result<schema::Desktop> ApiClient::create_desktop(const schema::CreateDesktopRequest& request) const {
    DORMOUSE_TRY_ASSIGN(const auto answer, send_successfully({"POST", "/v1/desktops",
                                                              schema::to_json(request), kCreateTimeout}));
    return schema::parse<schema::Desktop>(answer.body);
}

Result<schema::DesktopList> ApiClient::list_desktops() const {
    return get<schema::DesktopList>("/v1/desktops");
}

Result<schema::Desktop> ApiClient::get_desktop(const std::string& desktop) const {
    return get<schema::Desktop>(desktop_path(desktop));
}

Result<schema::DestinationList> ApiClient::list_destinations(const std::string& desktop) const {
    return get<schema::DestinationList>(desktop_path(desktop) + "/destinations");
}

Result<> ApiClient::delete_desktop(const std::string& desktop) const {
    DORMOUSE_TRY(send_successfully({"DELETE", desktop_path(desktop), "", timeout_}));
    return {};
}

Result<schema::Desktop> ApiClient::change(const std::string& desktop, const char* verb) const {
    DORMOUSE_TRY_ASSIGN(const auto answer,
                        send_successfully({"POST", desktop_path(desktop) + "/" + verb, "", timeout_}));
    return schema::parse<schema::Desktop>(answer.body);
}
Result<schema::Desktop> ApiClient::start_desktop(const std::string& desktop) const {
    return change(desktop, "start");
}
Result<schema::Desktop> ApiClient::stop_desktop(const std::string& desktop) const {
    return change(desktop, "stop");
}
Result<schema::Desktop> ApiClient::restart_desktop(const std::string& desktop) const {
    return change(desktop, "restart");
}

Result<schema::ExecResponse> ApiClient::exec(const std::string& desktop,
                                             const schema::ExecRequest& request) const {
    // The server waits a while for an agent that is slow to kill.
    const Duration timeout = request.timeout + std::chrono::minutes{1};
    DORMOUSE_TRY_ASSIGN(const auto answer, send_successfully({"POST", desktop_path(desktop) + "/exec",
                                                              schema::to_json(request), timeout}));
    return schema::parse<schema::ExecResponse>(answer.body);
}

Result<Screenshot> ApiClient::screenshot(const std::string& desktop) const {
    DORMOUSE_TRY_ASSIGN(auto answer,
                        send_successfully({"GET", desktop_path(desktop) + "/screenshot", "", timeout_}));
    const auto header = [&](std::string_view name) { return wsio::find_header(answer.headers, name); };
    if (header("content-type") != "image/png")
        return fail(Errc::Corrupt, "the server answered with something that is not a PNG picture");
    const int width = to_number(header("x-dormouse-width"));
    const int height = to_number(header("x-dormouse-height"));
    std::string etag{header("etag")};
    return Screenshot{std::move(answer.body), width, height, std::move(etag)};
}

Result<schema::ActionsResponse> ApiClient::act(const std::string& desktop,
                                               const schema::ActionsRequest& request) const {
    DORMOUSE_TRY_ASSIGN(const auto answer, send({"POST", desktop_path(desktop) + "/actions",
                                                 schema::to_json(request), time_for(request)}));
    auto response = schema::parse<schema::ActionsResponse>(answer.body);
    if (answer.ok()) return response;
    // Only a failure while they were carried out says which one it was.
    if (!response || !response->failure || !response->failure->action_index) return answer.error();
    return response;
}

Result<schema::OperationAnswer> ApiClient::build_template(const schema::BuildTemplateRequest& request) const {
    DORMOUSE_TRY_ASSIGN(const auto answer,
                        send_successfully({"POST", "/v1/templates", schema::to_json(request), timeout_}));
    return schema::parse<schema::OperationAnswer>(answer.body);
}
Result<schema::TemplateList> ApiClient::list_templates() const {
    return get<schema::TemplateList>("/v1/templates");
}
Result<schema::Template> ApiClient::get_template(const std::string& name) const {
    return get<schema::Template>(template_path(name));
}
Result<> ApiClient::delete_template(const std::string& name) const {
    DORMOUSE_TRY(send_successfully({"DELETE", template_path(name), "", timeout_}));
    return {};
}
Result<schema::OperationLog> ApiClient::template_log(const std::string& name, std::uint64_t offset) const {
    return get<schema::OperationLog>(fmt::format("{}/log?offset={}", template_path(name), offset));
}

Result<schema::Operation> ApiClient::get_operation(const std::string& operation) const {
    return get<schema::Operation>(operation_path(operation));
}
Result<schema::Operation> ApiClient::cancel_operation(const std::string& operation) const {
    DORMOUSE_TRY_ASSIGN(const auto answer,
                        send_successfully({"POST", operation_path(operation) + "/cancel", "", timeout_}));
    return schema::parse<schema::Operation>(answer.body);
}
Result<schema::OperationLog> ApiClient::operation_log(const std::string& operation,
                                                      std::uint64_t offset) const {
    return get<schema::OperationLog>(fmt::format("{}/log?offset={}", operation_path(operation), offset));
}

Result<schema::NewToken> ApiClient::create_token(const schema::CreateTokenRequest& request) const {
    DORMOUSE_TRY_ASSIGN(const auto answer,
                        send_successfully({"POST", "/v1/tokens", schema::to_json(request), timeout_}));
    return schema::parse<schema::NewToken>(answer.body);
}

Result<schema::TokenList> ApiClient::list_tokens() const {
    return get<schema::TokenList>("/v1/tokens");
}

Result<> ApiClient::delete_token(const std::string& token) const {
    DORMOUSE_TRY(send_successfully({"DELETE", "/v1/tokens/" + wsio::percent_encode(token), "", timeout_}));
    return {};
}

}  // namespace dormouse::client
