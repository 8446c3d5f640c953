// SPDX-License-Identifier: Apache-2.0
// Requests that may come again and are carried out once.
#include "hostd/base/log.h"
#include "hostd/desktop/seal.h"
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

Task<Result<Claim>> Service::claim(Caller caller, OnceKey once, Cancel cancel) {
    const std::pair id{caller.token, once.key};
    const auto now = std::chrono::floor<std::chrono::milliseconds>(host_.loop.clock().wall());
    const auto fingerprint = hash_bytes(once.request);
    db::IdempotencyRow mine{.token = caller.token,
                            .key = once.key,
                            .fingerprint = fingerprint,
                            .made = {},
                            .answer = {},
                            .created_at = now};
    for (;;) {
        const bool in_progress = once_.contains(id);
        if (!in_progress) once_.emplace(id, std::vector<Completion<bool>>{});
        auto claiming = on_store([&stores = stores_, mine] {
            return stores.idempotency.claim(mine, mine.created_at - kOnceKept);
        });
        auto claimed = co_await std::move(claiming);
        if (!claimed) {
            if (!in_progress) finish_once(id);
            co_return fail(claimed.error());
        }
        if (!*claimed && !in_progress) co_return Claim{CarryOut{}};
        if (*claimed && (*claimed)->fingerprint != fingerprint) {
            if (!in_progress) finish_once(id);
            co_return fail(Errc::Conflict, "this idempotency key was used for another request",
                           "take a new key for each new request");
        }
        if (!in_progress) {
            finish_once(id);
            if ((*claimed)->answer) {
                auto answer = unseal(caller.seal, *(*claimed)->answer);
                if (answer) co_return Claim{Replay{std::move(*answer)}};
                log::error("once.unreadable", {{"token", caller.token}});
            } else if ((*claimed)->made) {
                // Of a daemon that ended between making and answering.
                const auto made = find_for(*(*claimed)->made, caller);
                if (made) co_return Claim{AnswerAgain{Answer{(*made)->info()}}};
            }
            // What it made is gone, or it made nothing: it is as new.
            auto removing =
                on_store([&stores = stores_, id] { return stores.idempotency.remove(id.first, id.second); });
            DORMOUSE_CO_TRY(co_await std::move(removing));
            continue;
        }
        const auto running = once_.find(id);
        if (running == once_.end()) continue;  // ended meanwhile
        Completion<bool> turn{host_.loop};
        running->second.push_back(turn);
        const auto watch = cancel.on_cancel([turn]() mutable { turn.complete(false); });
        const bool over = co_await turn;
        cancel.forget(watch);
        if (!over)
            co_return fail(Errc::Conflict, "a request with this idempotency key is in progress",
                           "send it again to get its answer");
    }
}

void Service::finish_once(const std::pair<std::string, std::string>& id) {
    const auto found = once_.find(id);
    if (found == once_.end()) return;
    auto waiting = std::move(found->second);
    once_.erase(found);
    for (auto& one : waiting) one.complete(true);
}

void Service::settle(const Caller& caller, const OnceKey& once, std::optional<std::string> answer) {
    if (answer) answer = seal(caller.seal, *answer);
    // In the order of the store thread, so before any claim that finish_once() lets go on.
    store_thread_.post([&stores = stores_, token = caller.token, key = once.key, answer = std::move(answer)] {
        const auto done = answer ? stores.idempotency.set_answer(token, key, *answer)
                                 : stores.idempotency.remove(token, key);
        if (!done) log::error("once.lost", {{"token", token}, {"why", done.error().message}});
    });
    finish_once({caller.token, once.key});
}

// Of those that were in progress when the daemon ended, the ones whose desktop
// is there have an answer; the others are free.
Task<Result<>> Service::recover_once() {
    auto reading = on_store([&stores = stores_] { return stores.idempotency.unanswered(); });
    DORMOUSE_CO_TRY_ASSIGN(const auto rows, co_await std::move(reading));
    for (const auto& row : rows) {
        if (row.made && find(*row.made)) continue;
        auto removing = on_store([&stores = stores_, token = row.token, key = row.key] {
            return stores.idempotency.remove(token, key);
        });
        DORMOUSE_CO_TRY(co_await std::move(removing));
    }
    co_return Result<>{};
}

}  // namespace dormouse::desktop
