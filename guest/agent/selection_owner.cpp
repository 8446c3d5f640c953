// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/selection_owner.h"

#include <algorithm>
#include <array>
#include <optional>

#include "hostd/base/log.h"

namespace dormouse::agent {

namespace {

// One piece fits in a small request and a small reply of any server.
constexpr std::size_t kDefaultPiece = 256 * 1024;
constexpr std::size_t kMaxTransfers = 16;
constexpr auto kTransferTimeout = std::chrono::seconds{10};

// Server times wrap around every 49 days.
bool before(xcb_timestamp_t a, xcb_timestamp_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace

std::optional<std::string> to_latin1(std::string_view utf8) {
    std::string out;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto byte = static_cast<unsigned char>(utf8[i]);
        if (byte < 0x80) {
            out += utf8[i];
        } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < utf8.size()) {
            out += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3f));
        } else {
            return std::nullopt;
        }
    }
    return out;
}

std::string from_latin1(std::string_view latin1) {
    std::string out;
    for (const char c : latin1) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            out += c;
        } else {
            out += static_cast<char>(0xc0 | byte >> 6);
            out += static_cast<char>(0x80 | (byte & 0x3f));
        }
    }
    return out;
}

SelectionOwner::SelectionOwner(EventLoop& loop, XConnection& connection)
    : loop_(loop),
      x_(connection),
      piece_bytes_(std::min(kDefaultPiece, connection.max_request_bytes() - 1024)) {}

SelectionOwner::~SelectionOwner() {
    for (const auto& transfer : transfers_) loop_.cancel_timer(transfer.timer);
}

Result<> SelectionOwner::own(xcb_atom_t selection, std::string text) {
    return own(selection, SelectionContent{std::move(text), {}});
}

Result<> SelectionOwner::own(xcb_atom_t selection, SelectionContent content) {
    DORMOUSE_TRY_ASSIGN(const auto time, x_.server_time());
    xcb_set_selection_owner(x_.get(), x_.window(), selection, time);
    const auto reply = x_.wait<xcb_get_selection_owner_reply_t>(xcb_get_selection_owner(x_.get(), selection));
    if (!reply || reply->owner != x_.window()) {
        owned_.erase(selection);
        return fail(Errc::Conflict, "another program keeps the clipboard");
    }
    Owned owned;
    owned.since = time;
    if (content.text) owned.text = std::make_shared<const std::string>(std::move(*content.text));
    for (auto& form : content.forms)
        owned.forms[form.target] = std::make_shared<const std::string>(std::move(form.bytes));
    owned_[selection] = std::move(owned);
    return {};
}

void SelectionOwner::give_up(xcb_atom_t selection) {
    const auto found = owned_.find(selection);
    if (found == owned_.end()) return;
    xcb_set_selection_owner(x_.get(), XCB_NONE, selection, found->second.since);
    x_.flush();
    owned_.erase(found);
}

SelectionContent SelectionOwner::content(xcb_atom_t selection) const {
    SelectionContent content;
    const auto found = owned_.find(selection);
    if (found == owned_.end()) return content;
    if (found->second.text) content.text = *found->second.text;
    for (const auto& [target, bytes] : found->second.forms) content.forms.push_back({target, *bytes});
    return content;
}

const std::string* SelectionOwner::text(xcb_atom_t selection) const {
    const auto found = owned_.find(selection);
    return found == owned_.end() ? nullptr : found->second.text.get();
}

void SelectionOwner::on_event(const xcb_generic_event_t& event) {
    // The server itself sends these three; what a client made up has the high
    // bit set and so matches none.
    if (event.response_type == XCB_SELECTION_REQUEST) {
        on_request(reinterpret_cast<const xcb_selection_request_event_t&>(event));
    } else if (event.response_type == XCB_SELECTION_CLEAR) {
        on_clear(reinterpret_cast<const xcb_selection_clear_event_t&>(event).selection);
    } else if (event.response_type == XCB_PROPERTY_NOTIFY) {
        on_property(reinterpret_cast<const xcb_property_notify_event_t&>(event));
    }
}

// The event may be about an earlier claim of ours, and times are too coarse to
// tell: so the server is asked.
void SelectionOwner::on_clear(xcb_atom_t selection) {
    if (owned_.count(selection) == 0) return;
    const auto reply = x_.wait<xcb_get_selection_owner_reply_t>(xcb_get_selection_owner(x_.get(), selection));
    if (!reply || reply->owner != x_.window()) owned_.erase(selection);
}

void SelectionOwner::on_request(const xcb_selection_request_event_t& request) {
    // Clients of before ICCCM give no property.
    const auto property = request.property == XCB_NONE ? request.target : request.property;
    const auto found = owned_.find(request.selection);
    const bool ours = found != owned_.end() && request.owner == x_.window() &&
                      (request.time == XCB_CURRENT_TIME || !before(request.time, found->second.since));
    const bool answered =
        ours && request.requestor != x_.window() && answer(found->second, request, property);

    // All events are 32 bytes on the wire; the struct is shorter.
    union {
        xcb_selection_notify_event_t event;
        std::array<char, 32> bytes;
    } notify{};
    notify.event.response_type = XCB_SELECTION_NOTIFY;
    notify.event.time = request.time;
    notify.event.requestor = request.requestor;
    notify.event.selection = request.selection;
    notify.event.target = request.target;
    notify.event.property = answered ? property : XCB_NONE;
    xcb_send_event(x_.get(), 0, request.requestor, XCB_EVENT_MASK_NO_EVENT, notify.bytes.data());
    x_.flush();
}

bool SelectionOwner::answer(const Owned& owned, const xcb_selection_request_event_t& request,
                            xcb_atom_t property) {
    const auto target = request.target;
    if (target == x_.atom(Atom::Targets)) {
        send_targets(owned, request.requestor, property);
        return true;
    }
    if (target == x_.atom(Atom::Timestamp)) {
        xcb_change_property(x_.get(), XCB_PROP_MODE_REPLACE, request.requestor, property, XCB_ATOM_INTEGER,
                            32, 1, &owned.since);
        return true;
    }
    if (const auto form = owned.forms.find(target); form != owned.forms.end())
        return deliver(request, property, target, form->second);
    if (!owned.text) return false;
    if (target == x_.atom(Atom::Utf8String) || target == x_.atom(Atom::TextPlainUtf8)) {
        return deliver(request, property, target, owned.text);
    }
    if (target != XCB_ATOM_STRING && target != x_.atom(Atom::Text)) return false;
    if (auto latin1 = to_latin1(*owned.text)) {
        return deliver(request, property, XCB_ATOM_STRING,
                       std::make_shared<const std::string>(std::move(*latin1)));
    }
    if (target == XCB_ATOM_STRING) return false;
    return deliver(request, property, x_.atom(Atom::Utf8String), owned.text);
}

void SelectionOwner::send_targets(const Owned& owned, xcb_window_t requestor, xcb_atom_t property) {
    std::vector<xcb_atom_t> targets{x_.atom(Atom::Targets), x_.atom(Atom::Timestamp)};
    for (const auto& [target, bytes] : owned.forms) targets.push_back(target);
    if (owned.text) {
        for (const auto name : {Atom::Utf8String, Atom::TextPlainUtf8, Atom::Text})
            targets.push_back(x_.atom(name));
        if (to_latin1(*owned.text)) targets.push_back(XCB_ATOM_STRING);
    }
    xcb_change_property(x_.get(), XCB_PROP_MODE_REPLACE, requestor, property, XCB_ATOM_ATOM, 32,
                        static_cast<std::uint32_t>(targets.size()), targets.data());
}

bool SelectionOwner::deliver(const xcb_selection_request_event_t& request, xcb_atom_t property,
                             xcb_atom_t type, std::shared_ptr<const std::string> text) {
    if (text->size() <= piece_bytes_) {
        xcb_change_property(x_.get(), XCB_PROP_MODE_REPLACE, request.requestor, property, type, 8,
                            static_cast<std::uint32_t>(text->size()), text->data());
        fetched(request.selection, request.requestor);
        return true;
    }
    if (transfers_.size() >= kMaxTransfers) return false;
    const std::uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
    xcb_change_window_attributes(x_.get(), request.requestor, XCB_CW_EVENT_MASK, &events);
    const auto size = static_cast<std::uint32_t>(text->size());
    xcb_change_property(x_.get(), XCB_PROP_MODE_REPLACE, request.requestor, property, x_.atom(Atom::Incr), 32,
                        1, &size);
    transfers_.push_front({request.selection, request.requestor, property, type, std::move(text), 0, 0});
    const auto transfer = transfers_.begin();
    transfer->timer = loop_.after(kTransferTimeout, [this, transfer] {
        log::debug("agent.transfer_abandoned");
        end_transfer(transfer);
    });
    return true;
}

void SelectionOwner::on_property(const xcb_property_notify_event_t& notify) {
    if (notify.state != XCB_PROPERTY_DELETE) return;
    const auto transfer = std::find_if(transfers_.begin(), transfers_.end(), [&](const Transfer& one) {
        return one.requestor == notify.window && one.property == notify.atom;
    });
    if (transfer == transfers_.end()) return;
    const auto piece = std::string_view{*transfer->text}.substr(transfer->sent, piece_bytes_);
    xcb_change_property(x_.get(), XCB_PROP_MODE_REPLACE, transfer->requestor, transfer->property,
                        transfer->type, 8, static_cast<std::uint32_t>(piece.size()), piece.data());
    x_.flush();
    transfer->sent += piece.size();
    if (!piece.empty()) return;
    // The empty piece is the sign that all has come.
    const auto selection = transfer->selection;
    const auto requestor = transfer->requestor;
    end_transfer(transfer);
    fetched(selection, requestor);
}

void SelectionOwner::end_transfer(std::list<Transfer>::iterator transfer) {
    loop_.cancel_timer(transfer->timer);
    const auto requestor = transfer->requestor;
    transfers_.erase(transfer);
    const bool another = std::any_of(transfers_.begin(), transfers_.end(),
                                     [&](const Transfer& one) { return one.requestor == requestor; });
    if (another) return;
    const std::uint32_t nothing = XCB_EVENT_MASK_NO_EVENT;
    xcb_change_window_attributes(x_.get(), requestor, XCB_CW_EVENT_MASK, &nothing);
    x_.flush();
}

void SelectionOwner::fetched(xcb_atom_t selection, xcb_window_t requestor) const {
    if (on_fetched_) on_fetched_({selection, requestor});
}

}  // namespace dormouse::agent
