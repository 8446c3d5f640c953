// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guest/agent/x_session.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/task.h"

namespace dormouse::agent {

enum class Selection { Clipboard, Primary };

// What the host does with the desktop's clipboard: read it, set it, and paste a
// text through it and put back what was there. All errors are Errc::Unavailable
// (no X server) unless said otherwise. The loop's thread.
class Clipboard : public std::enable_shared_from_this<Clipboard> {
  public:
    struct PasteStart {
        bool terminal = false;  // Shift+Insert pastes, not Ctrl+V
        std::string window_class;
    };
    struct PasteResult {
        bool fetched = false;
        bool by_active_window = false;
        int requests = 0;
    };

    static std::shared_ptr<Clipboard> create(EventLoop& loop, std::shared_ptr<XSession> session);

    // "" when there is none, or its owner does not answer. TooLarge.
    Task<Result<std::string>> get(Selection which);
    Result<> set(std::string text, const std::vector<Selection>& which);

    // Only CLIPBOARD is taken where Ctrl+V pastes: an entry whose PRIMARY is
    // taken drops its selected text, which the paste is to replace.
    Task<Result<PasteStart>> paste_text(std::string text);

    // Errc::Conflict without a paste_text before.
    Task<Result<PasteResult>> paste_wait(Duration timeout);

    // False: somebody else has copied something since; that stays. Conflict as above.
    Result<bool> paste_restore();

  private:
    struct Paste {
        std::map<Selection, SelectionContent> saved;  // of the selections that were taken
        xcb_window_t active = XCB_NONE;
        std::uint64_t number = 0;
        PasteResult result;
        bool settled = false;  // nothing more is worth waiting for
        std::vector<Completion<bool>> waiters;
    };

    Clipboard(EventLoop& loop, std::shared_ptr<XSession> session)
        : loop_(loop), session_(std::move(session)) {}
    void connected();
    void fetched(const SelectionOwner::Fetch& fetch);
    void settle(std::uint64_t number);
    void wake_waiters();

    using Self = std::shared_ptr<Clipboard>;
    static Task<Result<std::string>> get_task(Self self, Selection which);
    static Task<SelectionContent> save_task(Self self, Selection which);
    static Task<Result<PasteStart>> paste_task(Self self, std::string text);
    static Task<Result<PasteResult>> wait_task(Self self, Duration timeout);
    Result<PasteStart> begin_paste(std::string text, Paste paste);

    EventLoop& loop_;
    std::shared_ptr<XSession> session_;
    std::optional<Paste> paste_;
    std::uint64_t next_paste_ = 1;
};

}  // namespace dormouse::agent
