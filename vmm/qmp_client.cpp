// SPDX-License-Identifier: Apache-2.0
#include "vmm/qmp_client.h"

#include <utility>

#include "hostd/base/random.h"
#include "vmm/json_fields.h"
#include "vmm/keeper_protocol.h"

namespace dormouse::vmm {

using nlohmann::json;

namespace {

// QEMU's error classes (qapi/error.json). Nearly all errors are GenericError,
// where only the text tells what happened.
Errc code_of(const std::string& error_class) {
    if (error_class == "DeviceNotFound") return Errc::NotFound;
    if (error_class == "DeviceNotActive") return Errc::Conflict;
    if (error_class == "KVMMissingCap") return Errc::Unavailable;
    if (error_class == "CommandNotFound") return Errc::Internal;
    return Errc::Io;
}

}  // namespace

Result<QmpMessage> parse_qmp_message(std::string_view line) {
    auto object = parse_json(line);
    if (!object.is_object()) return fail(Errc::Corrupt, "QEMU sent a line that is not a JSON object");
    QmpMessage message;
    message.id = text_field(object, "id");
    if (object.contains("return")) {
        message.kind = QmpMessage::Kind::Return;
        message.value = std::move(object["return"]);
    } else if (object.contains("error")) {
        message.kind = QmpMessage::Kind::Error;
        message.name = text_field(object["error"], "class");
        message.text = text_field(object["error"], "desc");
    } else if (field(object, "event").is_string()) {
        message.kind = QmpMessage::Kind::Event;
        message.name = text_field(object, "event");
        if (object.contains("data")) message.value = std::move(object["data"]);
    } else if (object.contains("QMP")) {
        message.kind = QmpMessage::Kind::Greeting;
        message.value = std::move(object["QMP"]);
    }
    return message;
}

QmpClient::QmpClient(EventLoop& loop, Send send, EventHandler on_event)
    : loop_(loop),
      send_(std::move(send)),
      on_event_(std::move(on_event)),
      framer_(kMaxQmpLine),
      prefix_(random_hex(6) + "-") {}

QmpClient::~QmpClient() {
    close(Error{Errc::Interrupted, "the connection to QEMU was given up", {}, 0});
}

void QmpClient::on_bytes(std::string_view bytes) {
    framer_.feed(bytes);
    while (auto line = framer_.next()) on_line(*line);
}

bool QmpClient::on_line(std::string_view line) {
    auto message = parse_qmp_message(line);
    // A line that is no JSON answers nothing: its command runs into its time-out.
    return message && on_message(std::move(*message));
}

bool QmpClient::on_message(QmpMessage message) {
    switch (message.kind) {
        case QmpMessage::Kind::Greeting:
            greeting_ = std::move(message.value);
            if (greeting_waiter_) greeting_waiter_->complete(*greeting_);
            return false;
        case QmpMessage::Kind::Event:
            if (!closed_ && on_event_) on_event_(std::move(message.name), std::move(message.value));
            return false;
        case QmpMessage::Kind::Return:
            return finish(message.id, std::move(message.value));
        case QmpMessage::Kind::Error: {
            const auto found = pending_.find(message.id);
            const auto command = found == pending_.end() ? std::string{} : found->second.command;
            return finish(message.id, fail(code_of(message.name),
                                           fmt::format("QEMU refused {}: {}", command, message.text)));
        }
        case QmpMessage::Kind::Unknown:
            return false;
    }
    return false;
}

bool QmpClient::finish(const std::string& id, Result<json> result) {
    auto node = pending_.extract(id);
    if (node.empty()) return false;  // came too late, or belongs to another client of this QEMU
    loop_.cancel_timer(node.mapped().timer);
    node.mapped().done.complete(std::move(result));
    return true;
}

Completion<Result<json>> QmpClient::begin(std::string command, json arguments, UniqueFd fd,
                                          Duration timeout) {
    Completion<Result<json>> done{loop_};
    if (closed_) {
        done.complete(fail(Errc::Unavailable, closed_->message, closed_->hint));
        return done;
    }
    const auto id = prefix_ + std::to_string(next_++);
    json request{{"execute", command}, {"id", id}};
    if (!arguments.empty()) request["arguments"] = std::move(arguments);
    // Registered first: a transport in a test answers from inside send_().
    const auto timer = loop_.after(timeout, [this, id, command] {
        finish(id, fail(Errc::Timeout, fmt::format("QEMU did not answer {} in time", command)));
    });
    pending_.emplace(id, Pending{std::move(command), done, timer});
    if (auto sent = send_(dump_json(request) + "\n", std::move(fd)); !sent) finish(id, fail(sent.error()));
    return done;
}

// Neither of these two touches the client after its co_await: it may be gone by then.
Task<Result<json>> QmpClient::execute(std::string command, json arguments, Duration timeout) {
    const auto done = begin(std::move(command), std::move(arguments), UniqueFd{}, timeout);
    co_return co_await done;
}

Task<Result<json>> QmpClient::execute_with_fd(std::string command, json arguments, UniqueFd fd,
                                              Duration timeout) {
    const auto done = begin(std::move(command), std::move(arguments), std::move(fd), timeout);
    co_return co_await done;
}

Task<Result<json>> QmpClient::negotiate(Duration timeout) {
    if (!greeting_ && !closed_) {
        Completion<Result<json>> waiter{loop_};
        greeting_waiter_ = waiter;
        auto& loop = loop_;
        const auto timer = loop.after(timeout, [waiter]() mutable {
            waiter.complete(fail(Errc::Timeout, "QEMU did not greet in time"));
        });
        const auto greeted = co_await waiter;
        loop.cancel_timer(timer);
        if (!greeted) co_return fail(greeted.error());  // perhaps the client is gone
        greeting_waiter_.reset();
    }
    auto greeting = greeting_.value_or(json::object());
    const auto answer = co_await execute("qmp_capabilities", json::object(), timeout);
    if (!answer) co_return fail(answer.error());
    co_return greeting;
}

void QmpClient::close(Error reason) {
    if (!closed_) closed_ = reason;
    fail_pending(reason);
    if (greeting_waiter_) greeting_waiter_->complete(fail(reason));
}

void QmpClient::fail_pending(const Error& reason) {
    for (auto& [id, pending] : std::exchange(pending_, {})) {
        loop_.cancel_timer(pending.timer);
        auto done = pending.done;
        done.complete(fail(reason));
    }
}

}  // namespace dormouse::vmm
