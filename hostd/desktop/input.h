// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/desktop/actions.h"
#include "hostd/desktop/coordinates.h"
#include "hostd/desktop/key_names.h"

namespace dormouse::desktop {

// The pauses between what is sent. They are needed because the guest may be an
// emulated machine on a busy host.
namespace pacing {
using std::chrono::milliseconds;
// Without a pause Chromium under emulation got 381 of 1,000 keys; with 1 to 5 ms
// between the edges it got all. The upper end, since a lost key costs more.
inline constexpr Duration kKeyEdge = milliseconds{5};
// X programs read the pointer's position when they handle the press; the motion
// must have got there, and what reacts to hovering must have had its turn.
inline constexpr Duration kMoveToPress = milliseconds{20};
inline constexpr Duration kButtonHold = milliseconds{30};
// Long enough to be two clicks, far below the shortest double-click time (250 ms).
inline constexpr Duration kBetweenClicks = milliseconds{60};
// Longer than any double-click time (Chromium takes 500 ms under X).
inline constexpr Duration kBetweenRepeats = milliseconds{600};
// Keyboard and tablet are two devices, which the guest reads one after the other:
// from a key that is held for a click to that click, and from it to the release.
inline constexpr Duration kHeldToGesture = milliseconds{50};
inline constexpr Duration kWheelEdge = milliseconds{8};
// A drag starts when the pointer has left the place of the press by some pixels
// while the button is down; then source and target talk to each other for each
// move. GTK and Chromium miss drags that are over sooner than they answer.
inline constexpr int kDragSteps = 20;
inline constexpr Duration kDragStep = milliseconds{12};
// At a corner of a path a program draws what it was told so far; Chromium puts
// together all moves between two frames, and would cut the corner. A path of
// many points is a curve, which has none.
inline constexpr Duration kDragCorner = milliseconds{100};
inline constexpr std::size_t kMostCorners = 20;
inline constexpr Duration kDragGrip = milliseconds{120};     // from press to first move
inline constexpr Duration kDragRelease = milliseconds{200};  // from last move to release
// virtio-input's queue has 64 entries, and drops a report that does not fit; the
// guest's X server has a queue as long. Tried on a busy host under emulation: of
// 100 clicks in a row 9 were lost, others landed elsewhere. So after so many
// entries it is asked whether they have been taken.
inline constexpr int kMostUnsynced = 30;
inline constexpr int kEdgeEntries = 2;  // with the report's end
inline constexpr int kMoveEntries = 3;
// How much longer all pauses of a drag are where the guest is emulated.
inline constexpr int kEmulatedDragPace = 3;
// Releasing everything, where nobody can be asked: a few keys at a time.
inline constexpr std::size_t kReleaseGroup = 8;
inline constexpr Duration kReleaseGroupPause = milliseconds{20};
}  // namespace pacing

// Where a pixel's centre is on QEMU's axes, which run over 0..0x7fff whatever
// the screen's size: (2 * pixel + 1) * 16384 / pixels.
int axis_value(int pixel, int pixels);

// The keyboard, mouse and wheel of one desktop, through QMP's input-send-event.
//
// Remembers what is down, from before the press was sent until a release was
// accepted, so that release_all() also covers a press whose answer got lost.
// Lives on the core thread for as long as the desktop runs. One caller at a
// time: whoever runs actions on a desktop takes turns (see action_engine.h).
// The device must outlive the tasks that it gives. When `cancel` is cancelled
// they end soon with Errc::Interrupted; errors of `send` are passed on. In both
// cases keys and buttons may be down: call release_all().
class InputDevice {
  public:
    // Sends the events of one report; the argument is the value of `events`.
    using Send = std::function<Task<Result<>>(nlohmann::json events)>;

    // Ends when the guest has taken what was sent before, as far as that can be
    // known (the pointer is at `position`, if it was moved), and soon in any case.
    using Sync = std::function<Task<void>(std::optional<Point> position)>;

    InputDevice(EventLoop& loop, Send send, Sync sync = {});

    // For a guest that is emulated: programs take several times as long to answer
    // a drag, so each of its pauses is so many times as long.
    void set_drag_pace(int factor) { drag_pace_ = factor; }
    InputDevice(const InputDevice&) = delete;
    InputDevice& operator=(const InputDevice&) = delete;

    // At once; with the left button kept down by press_left() in steps, as a drag is.
    Task<Result<>> move(Point to, ScreenSize screen, Cancel cancel);
    Task<Result<>> click(Button button, int count, Cancel cancel);
    // Goes to the first of `points`, and with the button down to all others.
    Task<Result<>> drag(std::vector<Point> points, ScreenSize screen, Cancel cancel);
    // Up and Down only: QEMU's tablet has no other wheel.
    Task<Result<>> scroll(ScrollDirection direction, int amount, Cancel cancel);
    Task<Result<>> press_chord(Chord chord, Cancel cancel);  // presses and releases
    Task<Result<>> hold(Chord chord, Cancel cancel);         // presses; for let_go()
    Task<Result<>> let_go(Chord chord, Cancel cancel);
    // The left button as a gesture of its own: it is kept down until release_left().
    Task<Result<>> press_left(Cancel cancel);
    Task<Result<>> release_left(Cancel cancel);
    // Types characters that us_keystroke() knows; Shift stays down between two
    // that need it.
    Task<Result<>> type(std::string characters, Cancel cancel);

    // Single edges. One report each.
    Task<Result<>> set_key(QKeyCode key, bool down);
    Task<Result<>> set_button(Button button, bool down);

    // Releases what is (or may be) down: buttons first, then keys, the last
    // pressed first. Tries all of it, and twice, whatever fails; gives the last
    // failure when something stayed down.
    Task<Result<>> release_all();
    // The same for all but a left button that press_left() keeps down.
    Task<Result<>> release_all_but_kept();

    // For a desktop whose past is not known (adopted after the daemon was
    // killed): releases every key and button that there is. A guest ignores the
    // release of a key that is not down.
    Task<Result<>> release_everything_unknown();

    // What is or may be down: "ctrl", "button:left", in the order of pressing.
    const std::vector<std::string>& down() const { return down_; }
    bool keeps_left() const { return keeps_left_; }

    // Where the pointer was sent last; nothing before the first time.
    std::optional<Point> position() const { return position_; }

  private:
    Task<Result<>> set_edge(std::string what, bool down);
    Task<Result<>> jump(Point to, ScreenSize screen);
    Task<Result<>> go_along(std::vector<Point> points, ScreenSize screen, Cancel cancel);
    Task<Result<>> release(std::set<std::string> but);
    Task<Result<>> pause(Duration time, Cancel cancel);
    Task<void> count_entries(int entries);

    EventLoop& loop_;
    Send send_;
    Sync sync_;
    int drag_pace_ = 1;
    int unsynced_ = 0;               // entries of virtio-input's queue since the last sync
    std::optional<Point> moved_to_;  // since then
    std::vector<std::string> down_;
    bool keeps_left_ = false;
    std::optional<Point> position_;
};

}  // namespace dormouse::desktop
