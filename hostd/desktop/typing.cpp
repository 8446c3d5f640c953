// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/typing.h"

#include <optional>
#include <utility>

#include "hostd/base/log.h"
#include "hostd/desktop/key_names.h"

namespace dormouse::desktop {

namespace {

// Coroutines get all they use by value.

tl::unexpected<Error> cancelled() {
    return fail(Errc::Interrupted, "the action was cancelled");
}

Task<Result<>> pause(TypingPorts ports, Duration time, Cancel cancel) {
    const bool whole = co_await sleep_unless_cancelled(*ports.loop, time, cancel);
    if (!whole) co_return cancelled();
    co_return Result<>{};
}

// Between begin() and restore(): presses the shortcut, waits for the effect.
Task<Result<>> paste_from_clipboard(TypingPorts ports, std::string shortcut, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await pause(ports, kClipboardNews, cancel));
    DORMOUSE_CO_TRY_ASSIGN(auto chords, parse_keys(shortcut));
    co_await ports.paste.before_shortcut();
    const auto before = ports.generation();
    for (const auto& chord : chords) DORMOUSE_CO_TRY(co_await ports.input->press_chord(chord, cancel));
    DORMOUSE_CO_TRY_ASSIGN(const bool fetched, co_await ports.paste.wait_fetched(kPasteTimeout, cancel));
    if (cancel.cancelled()) co_return cancelled();
    if (!fetched)
        co_return fail(Errc::Timeout,
                       fmt::format("nothing took the pasted text within {} s after {}",
                                   std::chrono::floor<std::chrono::seconds>(kPasteTimeout).count(), shortcut),
                       "click into the field first, so that it has the focus; take a screenshot to see");
    DORMOUSE_CO_TRY(co_await pause(ports, kPasteSettle, cancel));
    co_await ports.shown(before, cancel);
    co_return Result<>{};
}

Task<Result<>> paste(TypingPorts ports, std::string text, Cancel cancel) {
    auto shortcut = co_await ports.paste.begin(std::move(text));
    Result<> pasted = tl::make_unexpected(shortcut ? Error{} : shortcut.error());
    if (shortcut) pasted = co_await paste_from_clipboard(ports, *shortcut, cancel);
    // The shortcut goes up first: a key that is down must not wait for the agent.
    if (!pasted) {
        const auto released = co_await ports.input->release_all_but_kept();
        if (!released) log::warn("input.stuck", {{"why", released.error().message}});
    }
    if (!shortcut) co_return fail_in("cannot put the text on the clipboard", shortcut.error());
    co_return pasted;
}

// What the clipboard held is worth a try.
Task<void> restore(TypingPorts ports) {
    const auto restored = co_await ports.paste.restore();
    if (!restored) log::warn("clipboard.not_restored", {{"why", restored.error().message}});
}

// All but the clipboard's end; `pasted_any` tells whether that is needed.
Task<Result<>> type_runs(TypingPorts ports, std::vector<TextRun> runs, std::shared_ptr<bool> pasted_any,
                         Cancel cancel) {
    bool pasting = true;                       // until it was seen to do nothing
    std::optional<std::uint64_t> before_keys;  // that have not been seen to show
    for (const auto& run : runs) {
        if (cancel.cancelled()) co_return cancelled();
        const bool by_keys = run.how == TextRun::How::Keys || (run.keys_too && !pasting);
        if (by_keys) {
            before_keys = ports.generation();
            DORMOUSE_CO_TRY(co_await ports.input->type(run.text, cancel));
            continue;
        }
        if (before_keys) co_await ports.shown(*std::exchange(before_keys, std::nullopt), cancel);
        *pasted_any = true;
        auto pasted = co_await paste(ports, run.text, cancel);
        if (pasted) continue;
        const auto code = pasted.error().code;
        if (!run.keys_too || (code != Errc::Timeout && code != Errc::Unavailable)) co_return pasted;
        log::info("type.by_keys", {{"why", pasted.error().message}});
        pasting = false;
        // A program that wakes up now must not find the text that is about to be typed.
        co_await restore(ports);
        *pasted_any = false;
        DORMOUSE_CO_TRY(co_await ports.input->type(run.text, cancel));
    }
    co_return Result<>{};
}

}  // namespace

Task<Result<>> type_text(TypingPorts ports, std::vector<TextRun> runs, Cancel cancel) {
    // One end for all pastes: a program that is behind must not find in between
    // what the clipboard held before.
    auto pasted_any = std::make_shared<bool>(false);
    auto typed = co_await type_runs(ports, std::move(runs), pasted_any, cancel);
    if (!*pasted_any) co_return typed;
    // A key that is down must not wait for the agent.
    if (!typed) {
        const auto released = co_await ports.input->release_all_but_kept();
        if (!released) log::warn("input.stuck", {{"why", released.error().message}});
    }
    // The text is in, or will not get in.
    co_await restore(ports);
    co_return typed;
}

}  // namespace dormouse::desktop
