// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_server.h"

#include <libwebsockets.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "hostd/base/check.h"
#include "hostd/base/log.h"
#include "hostd/wsio/body_stream.h"
#include "hostd/wsio/http_connection.h"
#include "hostd/wsio/listener.h"
#include "hostd/wsio/loop_poster.h"

namespace dormouse::wsio {

namespace {

// Bytes given to one lws_write. What the socket does not take of it at once is
// copied by libwebsockets.
constexpr std::size_t kWriteChunk = 64 << 10;
// How many more than HttpLimits::connections get a 503 before we just close.
constexpr std::size_t kRefusedAtOnce = 64;
constexpr auto kFlushAtStop = std::chrono::seconds{1};

struct DestroyContext {
    void operator()(lws_context* context) const noexcept { lws_context_destroy(context); }
};
using Context = std::unique_ptr<lws_context, DestroyContext>;

// libwebsockets logs for the whole process. What goes wrong with a connection is
// the client's doing as a rule, so it is for debugging only.
void emit_lws_log(int, const char* line) {
    std::string_view text{line};
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    log::debug("lws", {{"text", text}});
}

}  // namespace

class HttpServer::Impl {
  public:
    Impl(HttpServerOptions options, HttpHandler handler, UniqueFd listener)
        : options_(std::move(options)),
          handler_(std::move(handler)),
          acceptor_(std::move(listener)),
          port_(local_port(acceptor_.listener())) {}

    Result<> start_thread();
    void stop();
    std::uint16_t port() const { return port_; }

  private:
    struct Client {
        std::uint64_t id;
        lws* wsi;
        HttpConnection http;
        Responder::Watch watch{};  // of the request in work
        bool reading = true;
        bool shut_down = false;
        bool chunk_on_its_way = false;  // libwebsockets holds the rest of one
    };
    using Slot = Client*;  // what libwebsockets keeps for each connection

    static int on_http_event(lws* wsi, lws_callback_reasons reason, void* user, void* in, std::size_t size);
    static int on_listener_event(lws* wsi, lws_callback_reasons reason, void* user, void* in,
                                 std::size_t size);
    static int guarded(lws* wsi, auto&& body) noexcept;

    // All on the net thread.
    void run(std::promise<Result<>> started);
    Result<Context> make_context();
    int handle(lws* wsi, lws_callback_reasons reason, Slot* slot, std::string_view bytes);
    int accept_waiting();
    int add_client(lws* wsi, Slot& slot);
    int write_some(Client& client);
    int update(Client& client);
    void dispatch(std::uint64_t id, std::uint64_t number, HttpRequest request);
    // An answer on its way to this thread: it may be dropped there.
    struct Parcel {
        explicit Parcel(HttpResponse content) : response(std::move(content)) {}
        ~Parcel() {
            if (response.stream && !delivered) response.stream->close();
        }
        HttpResponse response;
        bool delivered = false;
    };
    void answer(std::uint64_t id, std::uint64_t number, Parcel& parcel);
    void on_stream_data(std::uint64_t id);
    void begin_stop();
    bool may_end() const;

    const HttpServerOptions options_;
    const HttpHandler handler_;
    Acceptor acceptor_;
    const std::uint16_t port_;
    const SystemClock clock_;
    const std::shared_ptr<LoopPoster> poster_ = std::make_shared<LoopPoster>();
    std::once_flag stopped_;
    std::thread thread_;

    // The rest belongs to the net thread.
    lws_context* context_ = nullptr;
    lws_vhost* vhost_ = nullptr;
    std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
    std::uint64_t next_client_ = 1;
    std::optional<MonotonicTime> stop_by_;
    lws_sorted_usec_list_t stop_timer_{};
    std::vector<unsigned char> chunk_ = std::vector<unsigned char>(LWS_PRE + kWriteChunk);
};

int HttpServer::Impl::guarded(lws* wsi, auto&& body) noexcept {
    auto* self = static_cast<Impl*>(lws_context_user(lws_get_context(wsi)));
    try {
        return body(*self);
    } catch (const std::exception& error) {
        log::error("http.unexpected", {{"what", error.what()}});
    } catch (...) {
        log::error("http.unexpected");
    }
    return -1;  // closes the connection
}

int HttpServer::Impl::on_http_event(lws* wsi, lws_callback_reasons reason, void* user, void* in,
                                    std::size_t size) {
    return guarded(wsi, [&](Impl& self) {
        return self.handle(wsi, reason, static_cast<Slot*>(user),
                           {static_cast<const char*>(in), in ? size : 0});
    });
}

int HttpServer::Impl::on_listener_event(lws* wsi, lws_callback_reasons reason, void*, void*, std::size_t) {
    if (reason != LWS_CALLBACK_RAW_RX_FILE) return 0;
    return guarded(wsi, [](Impl& self) { return self.accept_waiting(); });
}

int HttpServer::Impl::handle(lws* wsi, lws_callback_reasons reason, Slot* slot, std::string_view bytes) {
    if (reason == LWS_CALLBACK_EVENT_WAIT_CANCELLED) {
        poster_->run_posted();
        return 0;
    }
    if (reason == LWS_CALLBACK_RAW_ADOPT) return add_client(wsi, *slot);
    if (slot == nullptr || *slot == nullptr) return 0;
    Client& client = **slot;
    switch (reason) {
        case LWS_CALLBACK_RAW_RX:
            client.http.receive(bytes);
            return update(client);
        case LWS_CALLBACK_RAW_WRITEABLE:
            return write_some(client);
        case LWS_CALLBACK_TIMER:
            client.http.on_deadline();
            return update(client);
        case LWS_CALLBACK_RAW_CLOSE: {
            *slot = nullptr;
            const auto watch = client.watch;
            client.http.disconnected();
            clients_.erase(client.id);
            watch.disconnect();
            return 0;
        }
        default:
            return 0;
    }
}

int HttpServer::Impl::accept_waiting() {
    while (auto fd = acceptor_.accept()) {
        if (stop_by_ || clients_.size() >= options_.limits.connections + kRefusedAtOnce) continue;
        lws_sock_file_fd_type socket{};
        socket.sockfd = fd.release();  // libwebsockets closes it, also when it fails
        lws_adopt_descriptor_vhost(vhost_, LWS_ADOPT_SOCKET, socket, "http", nullptr);
    }
    return 0;
}

int HttpServer::Impl::add_client(lws* wsi, Slot& slot) {
    const auto id = next_client_++;
    auto on_request = [this, id](HttpRequest request, std::uint64_t number) {
        dispatch(id, number, std::move(request));
    };
    auto client = std::make_unique<Client>(Client{
        .id = id,
        .wsi = wsi,
        .http = HttpConnection{options_.limits, clock_, remote_text(lws_get_socket_fd(wsi)), on_request}});
    slot = client.get();
    clients_.emplace(id, std::move(client));
    if (clients_.size() > options_.limits.connections)
        slot->http.refuse({503, "there are too many connections"});
    return update(*slot);
}

int HttpServer::Impl::write_some(Client& client) {
    if (lws_partial_buffered(client.wsi)) return 0;
    if (std::exchange(client.chunk_on_its_way, false)) client.http.on_written();
    const auto count = client.http.take_output(std::span{chunk_}.subspan(LWS_PRE));
    if (count > 0) {
        if (lws_write(client.wsi, chunk_.data() + LWS_PRE, count, LWS_WRITE_RAW) < static_cast<int>(count))
            return -1;
        client.chunk_on_its_way = lws_partial_buffered(client.wsi) != 0;
        if (!client.chunk_on_its_way) client.http.on_written();
    }
    return update(client);
}

// Asks libwebsockets for what the connection waits for now; -1 closes it.
int HttpServer::Impl::update(Client& client) {
    if (client.http.closed()) return -1;
    if (client.http.has_output()) lws_callback_on_writable(client.wsi);
    // libwebsockets spins when it holds unsent bytes and there is something to
    // read, so HttpConnection does not read while it sends.
    if (const bool want = client.http.wants_input(); want != client.reading) {
        client.reading = want;
        lws_rx_flow_control(client.wsi, want ? 1 : 0);
    }
    // Closing with unread input would reset the connection and take the answer
    // away from a client that is still sending: so it goes first.
    if (client.http.half_close() && !std::exchange(client.shut_down, true))
        ::shutdown(lws_get_socket_fd(client.wsi), SHUT_WR);
    // Never cancelled: LWS_SET_TIMER_USEC_CANCEL makes 4.1.6 call back at once and
    // for ever. A timer that is left over finds nothing due.
    if (const auto due = client.http.deadline()) {
        const auto left = std::chrono::ceil<std::chrono::microseconds>(*due - clock_.now());
        lws_set_timer_usecs(client.wsi, std::max<lws_usec_t>(left.count(), 1));
    }
    return 0;
}

void HttpServer::Impl::dispatch(std::uint64_t id, std::uint64_t number, HttpRequest request) {
    // The task runs only while the loop does, and so only while `this` is there.
    Responder responder{[this, poster = poster_, id, number](HttpResponse response) {
        auto parcel = std::make_shared<Parcel>(std::move(response));
        poster->post([this, id, number, parcel] { answer(id, number, *parcel); });
    }};
    clients_.at(id)->watch = responder.watch();
    if (stop_by_) return responder.respond(fault_response({503, "the server is stopping"}));
    try {
        handler_(std::move(request), responder);
    } catch (const std::exception& error) {
        log::error("http.handler_threw", {{"what", error.what()}});
        responder.respond(fault_response({500, "an unexpected error"}));
    }
}

void HttpServer::Impl::answer(std::uint64_t id, std::uint64_t number, Parcel& parcel) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    parcel.delivered = true;
    found->second->http.answer(number, parcel.response);
    if (found->second->http.streaming()) {
        if (stop_by_) found->second->http.end_stream();
        parcel.response.stream->attach(
            [this, poster = poster_, id] { poster->post([this, id] { on_stream_data(id); }); });
    }
    update(*found->second);  // an answer never closes by itself
}

void HttpServer::Impl::on_stream_data(std::uint64_t id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    found->second->http.on_stream_data();
    update(*found->second);
}

Result<Context> HttpServer::Impl::make_context() {
    lws_set_log_level(LLL_ERR | LLL_WARN, emit_lws_log);
    static const lws_protocols kProtocols[] = {
        {"http", on_http_event, sizeof(Slot), kWriteChunk, 0, nullptr, kWriteChunk},
        {"listener", on_listener_event, 0, 0, 0, nullptr, 0},
        {nullptr, nullptr, 0, 0, 0, nullptr, 0}};
    lws_context_creation_info info{};
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.protocols = kProtocols;
    info.user = this;
    info.uid = static_cast<uid_t>(-1);
    info.gid = static_cast<gid_t>(-1);
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    info.pt_serv_buf_size = kWriteChunk;
    info.fd_limit_per_thread =
        static_cast<unsigned>(options_.limits.connections + kRefusedAtOnce + 16);  // and its own few
    Context context{lws_create_context(&info)};
    if (!context) return fail(Errc::Internal, "cannot make the libwebsockets context");
    vhost_ = lws_create_vhost(context.get(), &info);
    lws_sock_file_fd_type listener{};
    // A descriptor of its own: libwebsockets closes it with the context.
    listener.filefd = ::dup(acceptor_.listener());
    if (vhost_ == nullptr || listener.filefd < 0 ||
        lws_adopt_descriptor_vhost(vhost_, LWS_ADOPT_RAW_FILE_DESC, listener, "listener", nullptr) == nullptr)
        return fail(Errc::Internal, "cannot give the listening socket to libwebsockets");
    return context;
}

void HttpServer::Impl::run(std::promise<Result<>> started) {
    ::pthread_setname_np(::pthread_self(), "net");
    auto context = make_context();
    if (!context) return started.set_value(fail(context.error()));
    context_ = context->get();
    poster_->open(context_);
    started.set_value({});
    while (!may_end()) {
        if (lws_service(context_, 0) < 0) {
            log::error("http.loop_failed");
            break;
        }
    }
    poster_->close();
    lws_sul_cancel(&stop_timer_);
    context->reset();  // closes the connections, which tells those who wait for answers
}

void HttpServer::Impl::begin_stop() {
    stop_by_ = clock_.now() + kFlushAtStop;
    // Only wakes the loop, which looks at the time itself.
    lws_sul_schedule(
        context_, 0, &stop_timer_, [](lws_sorted_usec_list_t*) {},
        std::chrono::microseconds{kFlushAtStop}.count());
    for (const auto& [id, client] : clients_) {
        client->watch.disconnect();
        client->http.end_stream();
    }
}

bool HttpServer::Impl::may_end() const {
    if (!stop_by_) return false;
    if (clock_.now() >= *stop_by_) return true;
    return std::none_of(clients_.begin(), clients_.end(), [](const auto& entry) {
        return entry.second->http.has_output() || entry.second->chunk_on_its_way;
    });
}

Result<> HttpServer::Impl::start_thread() {
    // Signals are for the thread that reads them on purpose.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::promise<Result<>> started;
    auto outcome = started.get_future();
    thread_ = std::thread{[this, started = std::move(started)]() mutable { run(std::move(started)); }};
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    auto result = outcome.get();
    if (!result) thread_.join();
    return result;
}

void HttpServer::Impl::stop() {
    std::call_once(stopped_, [this] {
        poster_->post([this] { begin_stop(); });
        if (thread_.joinable()) thread_.join();
    });
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() {
    stop();
}
std::uint16_t HttpServer::port() const {
    return impl_->port();
}
void HttpServer::stop() {
    impl_->stop();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options, HttpHandler handler) {
    DORMOUSE_TRY_ASSIGN(auto listener, listen_on(options.address, options.port));
    auto impl = std::make_unique<Impl>(std::move(options), std::move(handler), std::move(listener));
    DORMOUSE_TRY(impl->start_thread());
    return std::unique_ptr<HttpServer>{new HttpServer{std::move(impl)}};
}

}  // namespace dormouse::wsio
