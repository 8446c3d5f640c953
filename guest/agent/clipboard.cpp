// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/clipboard.h"

#include <algorithm>
#include <cstring>

#include "guest/agent/window_info.h"

namespace dormouse::agent {

namespace {

// A clipboard manager may fetch the text before the window does for which it is
// meant. So after a fetch by somebody else that one gets a little more time.
constexpr auto kGrace = std::chrono::milliseconds{300};

tl::unexpected<Error> no_server() {
    return fail(Errc::Unavailable, "the desktop's X server is not there");
}

constexpr std::size_t kMostTargets = 64;

std::vector<xcb_atom_t> atoms_in(const std::string& bytes) {
    std::vector<xcb_atom_t> atoms(std::min(bytes.size() / sizeof(xcb_atom_t), kMostTargets));
    std::memcpy(atoms.data(), bytes.data(), atoms.size() * sizeof(xcb_atom_t));
    return atoms;
}

xcb_atom_t atom_of(const XConnection& x, Selection which) {
    return which == Selection::Primary ? xcb_atom_t{XCB_ATOM_PRIMARY} : x.atom(Atom::Clipboard);
}

}  // namespace

std::shared_ptr<Clipboard> Clipboard::create(EventLoop& loop, std::shared_ptr<XSession> session) {
    std::shared_ptr<Clipboard> clipboard{new Clipboard{loop, std::move(session)}};
    auto connected = [weak = std::weak_ptr<Clipboard>{clipboard}] {
        if (const auto self = weak.lock()) self->connected();
    };
    clipboard->session_->set_on_connected(connected);
    connected();
    return clipboard;
}

void Clipboard::connected() {
    auto* owner = session_->owner();
    if (!owner) return;
    owner->set_on_fetched([weak = weak_from_this()](const SelectionOwner::Fetch& fetch) {
        if (const auto self = weak.lock()) self->fetched(fetch);
    });
}

void Clipboard::fetched(const SelectionOwner::Fetch& fetch) {
    const auto* x = session_->connection();
    if (!paste_ || !x) return;
    ++paste_->result.requests;
    paste_->result.fetched = true;
    if (x->same_client(fetch.requestor, paste_->active)) {
        paste_->result.by_active_window = true;
        settle(paste_->number);
    } else {
        loop_.after(kGrace, [weak = weak_from_this(), number = paste_->number] {
            if (const auto self = weak.lock()) self->settle(number);
        });
    }
}

void Clipboard::settle(std::uint64_t number) {
    if (!paste_ || paste_->number != number) return;
    paste_->settled = true;
    wake_waiters();
}

void Clipboard::wake_waiters() {
    if (!paste_) return;
    for (auto& waiter : std::exchange(paste_->waiters, {})) waiter.complete(true);
}

Task<Result<std::string>> Clipboard::get(Selection which) {
    return get_task(shared_from_this(), which);
}

Task<Result<std::string>> Clipboard::get_task(Self self, Selection which) {
    auto* x = self->session_->connection();
    auto* owner = self->session_->owner();
    auto* reader = self->session_->reader();
    if (!x || !owner || !reader) co_return no_server();
    const auto selection = atom_of(*x, which);
    if (const auto* own = owner->text(selection)) co_return *own;
    auto text = co_await reader->read(selection);
    if (!text && (text.error().code == Errc::NotFound || text.error().code == Errc::Timeout))
        co_return std::string{};
    co_return text;
}

Result<> Clipboard::set(std::string text, const std::vector<Selection>& which) {
    for (const auto selection : which) {
        auto* owner = session_->owner();
        if (!owner) return no_server();
        DORMOUSE_TRY(owner->own(atom_of(*session_->connection(), selection), text));
    }
    // What was just set is what shall stay.
    if (paste_) wake_waiters();
    paste_.reset();
    return {};
}

// What is on the clipboard, in the forms that are worth keeping. What its owner
// does not give soon is lost: the clipboard is about to become somebody else's.
Task<SelectionContent> Clipboard::save_task(Self self, Selection which) {
    SelectionContent content;
    auto* x = self->session_->connection();
    auto* reader = self->session_->reader();
    auto* owner = self->session_->owner();
    if (!x || !reader || !owner) co_return content;
    const auto selection = atom_of(*x, which);
    if (owner->owns(selection)) co_return owner->content(selection);
    const std::vector<xcb_atom_t> known{x->atom(Atom::ImagePng), x->atom(Atom::TextHtml),
                                        x->atom(Atom::TextUriList), x->atom(Atom::GnomeCopiedFiles)};
    auto listing = reader->read_as(selection, x->atom(Atom::Targets));
    const auto offered = co_await std::move(listing);
    for (const auto target : offered ? atoms_in(*offered) : std::vector<xcb_atom_t>{}) {
        if (std::find(known.begin(), known.end(), target) == known.end()) continue;
        reader = self->session_->reader();
        if (!reader) co_return content;
        auto reading = reader->read_as(selection, target);
        auto bytes = co_await std::move(reading);
        if (bytes) content.forms.push_back({target, std::move(*bytes)});
    }
    auto text = co_await get_task(self, which);
    if (text && !text->empty()) content.text = std::move(*text);
    co_return content;
}

Task<Result<Clipboard::PasteStart>> Clipboard::paste_text(std::string text) {
    return paste_task(shared_from_this(), std::move(text));
}

Task<Result<Clipboard::PasteStart>> Clipboard::paste_task(Self self, std::string text) {
    Paste paste;
    // A paste that was never put back: what was there before it still counts.
    if (self->paste_) paste.saved = self->paste_->saved;
    if (paste.saved.count(Selection::Clipboard) == 0) {
        auto saved = co_await save_task(self, Selection::Clipboard);
        paste.saved[Selection::Clipboard] = std::move(saved);
    }
    co_return self->begin_paste(std::move(text), std::move(paste));
}

Result<Clipboard::PasteStart> Clipboard::begin_paste(std::string text, Paste paste) {
    auto* x = session_->connection();
    auto* owner = session_->owner();
    if (!x || !owner) return no_server();
    PasteStart start;
    if (const auto active = read_active_window(*x)) {
        paste.active = active->window;
        start.window_class = active->window_class;
        start.terminal = is_terminal_class(active->window_class);
    }
    DORMOUSE_TRY(owner->own(x->atom(Atom::Clipboard), text));
    if (start.terminal) {
        // Not worth a wait: selecting something else with the mouse replaces it too.
        paste.saved.emplace(Selection::Primary, SelectionContent{});
        DORMOUSE_TRY(owner->own(XCB_ATOM_PRIMARY, std::move(text)));
    }
    if (paste_) wake_waiters();
    paste.number = next_paste_++;
    paste_ = std::move(paste);
    return start;
}

Task<Result<Clipboard::PasteResult>> Clipboard::paste_wait(Duration timeout) {
    return wait_task(shared_from_this(), timeout);
}

Task<Result<Clipboard::PasteResult>> Clipboard::wait_task(Self self, Duration timeout) {
    if (!self->paste_) co_return fail(Errc::Conflict, "paste_text was not called before");
    if (!self->paste_->settled) {
        Completion<bool> woken{self->loop_};
        self->paste_->waiters.push_back(woken);
        const auto timer = self->loop_.after(timeout, [woken]() mutable { woken.complete(false); });
        co_await woken;
        self->loop_.cancel_timer(timer);
    }
    if (!self->paste_) co_return PasteResult{};
    co_return self->paste_->result;
}

Result<bool> Clipboard::paste_restore() {
    if (!paste_) return fail(Errc::Conflict, "paste_text was not called before");
    wake_waiters();
    const auto paste = *std::exchange(paste_, std::nullopt);
    bool restored = true;
    for (const auto& [which, saved] : paste.saved) {
        auto* x = session_->connection();
        auto* owner = session_->owner();
        if (!x || !owner) return no_server();
        const auto selection = atom_of(*x, which);
        if (!owner->owns(selection)) {
            if (which == Selection::Clipboard) restored = false;
        } else if (!saved.empty()) {
            DORMOUSE_TRY(owner->own(selection, saved));
        } else {
            owner->give_up(selection);
        }
    }
    return restored;
}

}  // namespace dormouse::agent
