// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/api_server.h"

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "hostd/api/event_streams.h"
#include "hostd/api/once.h"
#include "hostd/api/rate_limiter.h"
#include "hostd/api/request_checks.h"
#include "hostd/api/responses.h"
#include "hostd/api/router.h"
#include "hostd/base/log.h"
#include "hostd/schema/json.h"

namespace dormouse::api {

// What the requests in progress share. It outlives the server while they last.
class ApiServer::Core {
  public:
    Core(EventLoop& event_loop, desktop::Gateway& domain, const LimitsConfig& limits)
        : loop(event_loop),
          gateway(domain),
          limiter_(event_loop.clock(), limits),
          streams_(
              event_loop, domain, limits, [this] { opened(); }, [this] { closed(); }),
          idle_(event_loop) {}

    EventLoop& loop;
    desktop::Gateway& gateway;

    // Any thread, when a request arrives: those that wait for the loop count too.
    void opened() { ++open_; }
    // Core thread, as what follows.
    void closed() {
        if (--open_ == 0 && stopped_) idle_.complete(true);
    }
    void stop() {
        stopped_ = true;
        if (open_ == 0) idle_.complete(true);
    }
    Completion<bool> idle() const { return idle_; }

    static void receive(std::shared_ptr<Core> core, wsio::HttpRequest request, wsio::Responder responder);

  private:
    struct Job;
    static Task<void> serve(std::shared_ptr<Job> job);
    static Task<wsio::HttpResponse> answer(std::shared_ptr<Job> job);
    static Task<wsio::HttpResponse> answer(std::shared_ptr<Job> job, desktop::Caller caller);
    static Task<wsio::HttpResponse> carry_out(std::shared_ptr<Job> job, desktop::Caller caller);
    static Task<wsio::HttpResponse> carry_out_once(std::shared_ptr<Job> job, desktop::Caller caller,
                                                   desktop::OnceKey once);

    RateLimiter limiter_;
    EventStreams streams_;
    std::atomic<int> open_{0};
    bool stopped_ = false;
    Completion<bool> idle_;
};

// One request on its way through the core thread.
struct ApiServer::Core::Job {
    std::shared_ptr<Core> core;
    RouteMatch match;
    wsio::HttpRequest request;
    std::string token;
    wsio::Responder responder;
    Cancel cancel;
};

namespace {

// Runs at the end of its scope, also when an exception ends it.
class AtEnd {
  public:
    explicit AtEnd(std::function<void()> body) : body_(std::move(body)) {}
    ~AtEnd() { body_(); }
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;

  private:
    std::function<void()> body_;
};

// What is our fault is for the operator too.
wsio::HttpResponse failure(const Error& error, const wsio::HttpRequest& request) {
    auto response = error_response(error);
    if (response.status == 500)
        log::error("api.failed", {{"method", request.method},
                                  {"path", request.path},
                                  {"code", errc_name(error.code)},
                                  {"message", error.message}});
    return response;
}

// The token, when nothing about the request itself is wrong.
Result<std::string> check_request(const wsio::HttpRequest& request) {
    DORMOUSE_TRY_ASSIGN(auto token, bearer_token(request));
    DORMOUSE_TRY(check_origin(request));
    DORMOUSE_TRY(check_content_type(request));
    return token;
}

wsio::HttpResponse no_such_path(const wsio::HttpRequest& request) {
    return error_response({Errc::NotFound, fmt::format("there is nothing at {}", schema::shown(request.path)),
                           "docs/api/openapi.yaml lists what there is", 0});
}

}  // namespace

// Net thread.
void ApiServer::Core::receive(std::shared_ptr<Core> core, wsio::HttpRequest request,
                              wsio::Responder responder) {
    auto found = find_route(request.method, request.path);
    if (std::holds_alternative<NoSuchPath>(found)) return responder.respond(no_such_path(request));
    if (const auto* other = std::get_if<OtherMethods>(&found))
        return responder.respond(method_not_allowed(request.method, request.path, other->allow));

    auto& match = std::get<RouteMatch>(found);
    if (const auto* open = std::get_if<OpenRoute>(&match.route->handler))
        return responder.respond(open->answer(request, match.parameters));
    auto token = check_request(request);
    if (!token) return responder.respond(error_response(token.error()));

    core->opened();
    auto& loop = core->loop;
    auto job = std::make_shared<Job>(Job{std::move(core), std::move(match), std::move(request),
                                         std::move(*token), std::move(responder), Cancel{}});
    job->responder.on_disconnect([&loop, weak = std::weak_ptr{job}] {
        loop.post([weak] {
            if (const auto gone = weak.lock()) gone->cancel.cancel();
        });
    });
    loop.post([job = std::move(job)]() mutable { spawn(serve(std::move(job))); });
}

Task<void> ApiServer::Core::serve(std::shared_ptr<Job> job) {
    try {
        auto response = co_await answer(job);
        job->responder.respond(std::move(response));
    } catch (const std::exception& exception) {
        const Error error{Errc::Internal, "something went wrong inside", "the daemon's log says more", 0};
        log::error("api.exception",
                   {{"path", job->request.path}, {"what", std::string_view{exception.what()}}});
        job->responder.respond(error_response(error));
    }
    job->core->closed();
}

Task<wsio::HttpResponse> ApiServer::Core::answer(std::shared_ptr<Job> job) {
    auto& gateway = job->core->gateway;
    // A client that has gone while it waited wants nothing any more.
    if (job->responder.disconnected()) co_return wsio::HttpResponse{};

    auto caller = co_await gateway.authenticate(job->token);
    if (!caller) {
        const bool unknown = caller.error().code == Errc::Unauthenticated;
        co_return failure(unknown ? unknown_token() : caller.error(), job->request);
    }
    auto& limiter = job->core->limiter_;
    const auto token = caller->token;
    if (const auto refusal = limiter.enter(token)) {
        auto response = error_response(
            {Errc::RateLimited, refusal->message, "wait as long as Retry-After says, then try again", 0});
        response.headers.emplace_back("Retry-After", fmt::to_string(refusal->retry_after.count()));
        co_return response;
    }
    const AtEnd leaving{[&limiter, token] { limiter.leave(token); }};
    auto answering = answer(job, std::move(*caller));
    co_return co_await std::move(answering);
}

Task<wsio::HttpResponse> ApiServer::Core::answer(std::shared_ptr<Job> job, desktop::Caller caller) {
    const auto& handler = job->match.route->handler;
    if (const auto* about = std::get_if<AboutRoute>(&handler))
        co_return about->answer(job->core->gateway.version());
    if (std::holds_alternative<EventsRoute>(handler)) {
        auto stream = job->core->streams_.open(caller, job->request);
        if (!stream) co_return failure(stream.error(), job->request);
        co_return std::move(*stream);
    }
    std::optional<desktop::OnceKey> once;
    if (std::get<CommandRoute>(handler).takes_once_key) {
        auto given = once_key(job->request);
        if (!given) co_return failure(given.error(), job->request);
        once = std::move(*given);
    }
    if (once) {
        auto carrying = carry_out_once(job, std::move(caller), std::move(*once));
        co_return co_await std::move(carrying);
    }
    auto carrying = carry_out(job, std::move(caller));
    co_return co_await std::move(carrying);
}

Task<wsio::HttpResponse> ApiServer::Core::carry_out(std::shared_ptr<Job> job, desktop::Caller caller) {
    const auto& route = std::get<CommandRoute>(job->match.route->handler);
    auto command = route.command(job->request, job->match.parameters);
    if (!command) co_return failure(command.error(), job->request);
    auto executing = job->core->gateway.execute(std::move(*command), std::move(caller), job->cancel);
    auto outcome = co_await std::move(executing);
    if (!outcome) co_return failure(outcome.error(), job->request);
    co_return route.answer(*outcome, job->request);
}

// Only what was done is kept: a request that failed may be tried again.
Task<wsio::HttpResponse> ApiServer::Core::carry_out_once(std::shared_ptr<Job> job, desktop::Caller caller,
                                                         desktop::OnceKey once) {
    auto& gateway = job->core->gateway;
    auto claiming = gateway.claim(caller, once, job->cancel);
    auto claim = co_await std::move(claiming);
    if (!claim) co_return failure(claim.error(), job->request);
    if (const auto* replay = std::get_if<desktop::Replay>(&*claim)) {
        auto response = unpack_answer(replay->answer);
        if (!response) co_return failure(response.error(), job->request);
        co_return std::move(*response);
    }
    if (const auto* again = std::get_if<desktop::AnswerAgain>(&*claim)) {
        const auto& route = std::get<CommandRoute>(job->match.route->handler);
        auto response = route.answer(again->answer, job->request);
        response.headers.emplace_back("Idempotency-Replayed", "true");
        co_return response;
    }
    caller.once = once;
    std::optional<std::string> answer;
    const AtEnd settling{[&] { gateway.settle(caller, once, std::move(answer)); }};
    auto carrying = carry_out(job, caller);
    auto response = co_await std::move(carrying);
    if (response.status >= 200 && response.status < 300) answer = pack_answer(response);
    co_return response;
}

Result<std::unique_ptr<ApiServer>> ApiServer::start(EventLoop& core, desktop::Gateway& gateway,
                                                    wsio::HttpServerOptions options,
                                                    const LimitsConfig& limits) {
    auto shared = std::make_shared<Core>(core, gateway, limits);
    DORMOUSE_TRY_ASSIGN(auto server,
                        wsio::HttpServer::start(std::move(options), [shared](auto request, auto responder) {
                            Core::receive(shared, std::move(request), std::move(responder));
                        }));
    return std::unique_ptr<ApiServer>{new ApiServer{std::move(shared), std::move(server)}};
}

ApiServer::ApiServer(std::shared_ptr<Core> core, std::unique_ptr<wsio::HttpServer> server)
    : core_(std::move(core)), server_(std::move(server)) {}

ApiServer::~ApiServer() {
    stop();
}

void ApiServer::stop() {
    server_->stop();
    core_->stop();
}

Task<void> ApiServer::finished() {
    co_await core_->idle();
}

}  // namespace dormouse::api
