// SPDX-License-Identifier: Apache-2.0
#include "hostd/client/api_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "hostd/base/random.h"
#include "hostd/client/event_reader.h"
#include "hostd/schema/time.h"
#include "hostd/wsio/http_client.h"

namespace dormouse::client {

namespace {

constexpr auto kCreateTimeout = std::chrono::minutes{10};
constexpr int kCreateTries = 3;
// Beyond the waits that were asked for: a click takes milliseconds, a long text
// some seconds.
constexpr auto kActionTimeout = std::chrono::seconds{30};
constexpr auto kKeyTime =
    std::chrono::milliseconds{25};  // with Shift down and up, and asking whether it came
constexpr auto kRepeatTime = std::chrono::milliseconds{700};
constexpr auto kLongestCall = std::chrono::minutes{10};

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

// "?name=value&...", or nothing.
class QueryText {
  public:
    void add(std::string_view name, const std::optional<std::string>& value) {
        if (!value) return;
        text_ += fmt::format("{}{}={}", text_.empty() ? "?" : "&", name, wsio::percent_encode(*value));
    }
    const std::string& str() const { return text_; }

  private:
    std::string text_;
};

// Without what is as it is when left out.
std::string query_of(const schema::PictureOptions& options) {
    QueryText query;
    if (options.format != schema::PictureFormat::Png)
        query.add("format", std::string{schema::format_name(options.format)});
    if (const auto& region = options.region)
        query.add("region", fmt::format("{},{},{},{}", region->x, region->y, region->width, region->height));
    if (options.scale != 1) query.add("scale", fmt::to_string(options.scale));
    if (options.max_width != 0) query.add("max_width", fmt::to_string(options.max_width));
    if (options.max_height != 0) query.add("max_height", fmt::to_string(options.max_height));
    if (options.quality != 0) query.add("quality", fmt::to_string(options.quality));
    if (options.max_bytes != 0) query.add("max_bytes", fmt::to_string(options.max_bytes));
    if (options.cursor) query.add("cursor", "true");
    return query.str();
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
        const int repeat = action.repeat.value_or(1);
        total += kRepeatTime * repeat;
        if (action.text) total += kKeyTime * action.text->size() * static_cast<std::size_t>(repeat);
    }
    // More the server does not take.
    return std::min(total,
                    Duration{kLongestCall} + kActionTimeout * static_cast<int>(request.actions.size()));
}

}  // namespace

struct ApiClient::Call {
    std::string method;
    std::string path;
    std::string body;
    Duration timeout;
    std::string once_key{};
    std::function<bool(std::string_view)> on_body{};
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
    if (!call.once_key.empty()) request.headers.emplace_back("Idempotency-Key", call.once_key);
    request.on_body = call.on_body;
    auto response = wsio::http_request(request);
    if (response) return Answer{std::move(*response)};
    auto error = response.error();
    if (error.code == Errc::Unavailable) error.hint = "run ./dormouse up";
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
    const Call call{"POST", "/v1/desktops", schema::to_json(request), kCreateTimeout, random_uuid()};
    for (int tries = 1;; ++tries) {
        const auto answer = send_successfully(call);
        if (answer) return schema::parse<schema::Desktop>(answer->body);
        // Lost on its way: what was done is remembered under the key.
        if (answer.error().code != Errc::Interrupted || tries == kCreateTries) return fail(answer.error());
    }
}

Result<schema::DesktopList> ApiClient::list_desktops(const DesktopQuery& query) const {
    schema::DesktopList all;
    for (std::optional<std::string> cursor;; cursor = all.next_cursor) {
        QueryText text;
        for (const auto& label : query.labels) text.add("label", label);
        for (const auto& state : query.states) text.add("state", state);
        text.add("template", query.image);
        text.add("cursor", cursor);
        DORMOUSE_TRY_ASSIGN(auto page, get<schema::DesktopList>("/v1/desktops" + text.str()));
        std::move(page.desktops.begin(), page.desktops.end(), std::back_inserter(all.desktops));
        all.next_cursor = std::move(page.next_cursor);
        if (!all.next_cursor) return all;
    }
}

Result<schema::Desktop> ApiClient::update_desktop(const std::string& desktop,
                                                  const schema::UpdateDesktopRequest& request) const {
    DORMOUSE_TRY_ASSIGN(const auto answer, send_successfully({"PATCH", desktop_path(desktop),
                                                              schema::to_json(request), timeout_}));
    return schema::parse<schema::Desktop>(answer.body);
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

Result<Screenshot> ApiClient::screenshot(const std::string& desktop,
                                         const schema::PictureOptions& options) const {
    const auto path = desktop_path(desktop) + "/screenshot" + query_of(options);
    DORMOUSE_TRY_ASSIGN(auto answer, send_successfully({"GET", path, "", timeout_}));
    const auto header = [&](std::string_view name) { return wsio::find_header(answer.headers, name); };
    const auto wanted = fmt::format("image/{}", schema::format_name(options.format));
    if (header("content-type") != wanted)
        return fail(Errc::Corrupt, fmt::format("the server answered with something that is not {}", wanted));
    const int width = to_number(header("x-dormouse-width"));
    const int height = to_number(header("x-dormouse-height"));
    std::string etag{header("etag")};
    return Screenshot{std::move(answer.body), wanted, width, height, std::move(etag)};
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

Result<schema::OperationList> ApiClient::list_operations() const {
    return get<schema::OperationList>("/v1/operations");
}

Result<schema::Operation> ApiClient::get_operation(const std::string& operation, Duration wait) const {
    const std::chrono::duration<double> seconds = wait;
    const auto path = fmt::format("{}?wait={:.3f}", operation_path(operation), seconds.count());
    DORMOUSE_TRY_ASSIGN(const auto answer, send_successfully({"GET", path, "", timeout_ + wait}));
    return schema::parse<schema::Operation>(answer.body);
}

Result<schema::OperationLog> ApiClient::get_operation_log(const std::string& operation,
                                                          std::uint64_t offset) const {
    return get<schema::OperationLog>(fmt::format("{}/log?offset={}", operation_path(operation), offset));
}

Result<schema::Operation> ApiClient::cancel_operation(const std::string& operation) const {
    DORMOUSE_TRY_ASSIGN(const auto answer,
                        send_successfully({"POST", operation_path(operation) + "/cancel", "", timeout_}));
    return schema::parse<schema::Operation>(answer.body);
}

Result<> ApiClient::watch_events(std::optional<std::uint64_t> after,
                                 const std::function<bool(const schema::Event&)>& take) const {
    EventReader reader;
    Result<> problem;
    bool stopped = false;
    const auto on_event = [&](const ServerSentEvent& event) {
        auto parsed = schema::parse<schema::Event>(event.data);
        if (!parsed) {
            problem = fail(parsed.error());
            return false;
        }
        stopped = !take(*parsed);
        return !stopped;
    };
    QueryText text;
    if (after) text.add("after", std::to_string(*after));
    const Call call{.method = "GET",
                    .path = "/v1/events" + text.str(),
                    .body = "",
                    // The server says something every 15 seconds.
                    .timeout = std::chrono::seconds{45},
                    .once_key = {},
                    .on_body = [&](std::string_view bytes) {
                        const auto read = reader.feed(bytes, on_event);
                        if (!read) problem = fail(read.error());
                        return !stopped && problem.has_value();
                    }};
    DORMOUSE_TRY(send_successfully(call));
    if (!problem) return problem;
    if (stopped) return {};
    return fail(Errc::Interrupted, "the server ended the stream of events");
}

Result<schema::AuditPage> ApiClient::list_audit(const AuditQuery& query) const {
    QueryText text;
    text.add("desktop", query.desktop);
    text.add("token", query.token);
    text.add("command", query.command);
    text.add("outcome", query.outcome);
    if (query.since) text.add("since", schema::format_time(*query.since));
    if (query.until) text.add("until", schema::format_time(*query.until));
    text.add("limit", std::to_string(query.limit));
    text.add("cursor", query.cursor);
    return get<schema::AuditPage>("/v1/audit" + text.str());
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
