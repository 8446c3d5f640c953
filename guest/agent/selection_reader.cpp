// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/selection_reader.h"

#include "guest/agent/selection_owner.h"
#include "guest/protocol/messages.h"

namespace dormouse::agent {

namespace {

constexpr auto kReadTimeout = std::chrono::seconds{2};

Task<SelectionReader::Text> await_text(Completion<SelectionReader::Text> done) {
    co_return co_await done;
}

}  // namespace

SelectionReader::~SelectionReader() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
        finish(i, fail(Errc::Unavailable, "the X server went away"));
}

Task<SelectionReader::Text> SelectionReader::read(xcb_atom_t selection) {
    return start(selection, x_.atom(Atom::Utf8String), false);
}

Task<SelectionReader::Text> SelectionReader::read_as(xcb_atom_t selection, xcb_atom_t target) {
    return start(selection, target, true);
}

Task<SelectionReader::Text> SelectionReader::start(xcb_atom_t selection, xcb_atom_t target, bool any_type) {
    Completion<Text> done{loop_};
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i]) continue;
        const auto timer = loop_.after(kReadTimeout, [this, i] {
            finish(i, fail(Errc::Timeout, "the owner of the selection does not answer"));
        });
        slots_[i].emplace(Slot{done, selection, target, timer, false, false, any_type, {}});
        convert(i);
        return await_text(done);
    }
    done.complete(fail(Errc::Unavailable, "the clipboard is being read too often at once"));
    return await_text(done);
}

void SelectionReader::convert(std::size_t index) {
    const auto property = x_.transfer_atom(index);
    xcb_delete_property(x_.get(), x_.window(), property);
    xcb_convert_selection(x_.get(), x_.window(), slots_[index]->selection, slots_[index]->target, property,
                          XCB_CURRENT_TIME);
    x_.flush();
}

void SelectionReader::finish(std::size_t index, Text text) {
    if (!slots_[index]) return;
    auto slot = std::move(*slots_[index]);
    slots_[index].reset();
    loop_.cancel_timer(slot.timer);
    slot.done.complete(std::move(text));
}

void SelectionReader::on_event(const xcb_generic_event_t& event) {
    // A notify is sent by the owner, who is a client: the high bit is set.
    if ((event.response_type & 0x7f) == XCB_SELECTION_NOTIFY) {
        on_notify(reinterpret_cast<const xcb_selection_notify_event_t&>(event));
    } else if (event.response_type == XCB_PROPERTY_NOTIFY) {
        const auto& notify = reinterpret_cast<const xcb_property_notify_event_t&>(event);
        if (notify.window != x_.window() || notify.state != XCB_PROPERTY_NEW_VALUE) return;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i] && slots_[i]->in_pieces && notify.atom == x_.transfer_atom(i)) take_property(i);
        }
    }
}

void SelectionReader::on_notify(const xcb_selection_notify_event_t& notify) {
    if (notify.requestor != x_.window()) return;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        auto& slot = slots_[i];
        if (!slot || slot->in_pieces || slot->selection != notify.selection || slot->target != notify.target)
            continue;
        if (notify.property == x_.transfer_atom(i)) {
            take_property(i);
            return;
        }
        if (notify.property != XCB_NONE) continue;
        if (slot->any_type || slot->target == XCB_ATOM_STRING) {
            finish(i, fail(Errc::NotFound, "there is no text in the selection"));
        } else {
            // Old programs know Latin-1 only.
            slot->target = XCB_ATOM_STRING;
            slot->latin1 = true;
            convert(i);
        }
        return;
    }
}

void SelectionReader::take_property(std::size_t index) {
    const auto name = x_.transfer_atom(index);
    // Deleting it, which the request does when it has read all, tells the owner to go on.
    const auto property = x_.property(x_.ask_property(x_.window(), name, guest::kMaxText, true));
    if (!slots_[index]) return;
    auto& slot = *slots_[index];
    if (property.type == x_.atom(Atom::Incr) && !slot.in_pieces) {
        slot.in_pieces = true;
        return;
    }
    if (!property.whole || slot.text.size() + property.bytes.size() > guest::kMaxText) {
        xcb_delete_property(x_.get(), x_.window(), name);
        finish(index, fail(Errc::TooLarge, "the text in the selection is too large"));
        return;
    }
    if (!property.bytes.empty() && property.format != 8 && !slot.any_type) {
        finish(index, fail(Errc::NotFound, "there is no text in the selection"));
        return;
    }
    slot.text += property.bytes;
    if (slot.in_pieces && !property.bytes.empty()) return;
    auto text = slot.latin1 ? from_latin1(slot.text) : std::move(slot.text);
    finish(index, std::move(text));
}

}  // namespace dormouse::agent
