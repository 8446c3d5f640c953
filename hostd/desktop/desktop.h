// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/desktop_store.h"
#include "db/destination_store.h"
#include "display/screen.h"
#include "hostd/base/async_mutex.h"
#include "hostd/desktop/action_engine.h"
#include "hostd/desktop/commands.h"
#include "hostd/desktop/host.h"
#include "hostd/desktop/input.h"
#include "hostd/desktop/machine_plan.h"
#include "hostd/desktop/template_store.h"
#include "vmm/machine.h"
#include "vmm/net/netd_link.h"

namespace dormouse::desktop {

// What a listener is told of.
enum class DesktopChange { State, Details };

// One desktop: its state, its machine while it runs, its screen and input.
//
// Owns its folder and its run folder, and the connection to its machine. The
// machine itself outlives this object: a restarted daemon adopts it. Core
// thread only. Operations in progress keep the object alive. Destroying it
// disconnects; close() does so at once.
class Desktop : public std::enable_shared_from_this<Desktop> {
  public:
    // Writes a row durably; state changes are saved before what they announce begins.
    using Save = std::function<Task<Result<>>(db::DesktopRow)>;
    // Called after a change that info() shows, once it is saved where it is kept.
    using Listener = std::function<void(const Desktop&, DesktopChange)>;
    using SaveDestinations = std::function<Task<Result<>>(db::DestinationReport)>;

    Desktop(Host& host, Template image, db::DesktopRow row, State state, Save save,
            SaveDestinations save_destinations);
    Desktop(const Desktop&) = delete;
    Desktop& operator=(const Desktop&) = delete;

    const DesktopId& id() const { return row_.id; }
    const DesktopName& name() const { return row_.name; }
    const TemplateName& template_name() const { return row_.image; }
    const std::string& created_by() const { return row_.created_by; }
    const std::string& template_hash() const { return row_.template_hash; }
    const Labels& labels() const { return row_.labels; }
    State state() const { return state_; }
    DesktopInfo info() const;

    void set_listener(Listener listener) { listener_ = std::move(listener); }

    // Held by who changes name and labels, from reading them to describe().
    AsyncMutex& describing() { return describe_mutex_; }
    // These have been saved.
    void describe(DesktopName name, Labels labels, WallTime now);

    // From the template's memory image to a running desktop whose agent has
    // answered. On an error call remove(): some of it may be there.
    Task<Result<>> create();

    // Each moves the state, answers, and does the rest by itself; where there is
    // nothing to do it just answers.
    Task<Result<>> start();
    Task<Result<>> stop();  // the guest is asked first, see kPowerOffTimeout
    Task<Result<>> restart();

    // Ends the machine at once and removes every file and socket. Then only the
    // row is left.
    Task<Result<>> remove();

    // After a restart of the daemon: finds out what became of the machine, takes
    // it over where it runs, and goes on with what was in progress.
    Task<void> adopt();

    // Remembers the mode and, where the machine runs, puts it into force before it
    // answers: what is connected and no longer allowed is cut off.
    Task<Result<>> set_network(net::Mode mode);
    net::Mode network_mode() const;
    // Brings the table of destinations up to date, as far as the machine answers.
    Task<void> collect_destinations();

    Task<Result<Picture>> screenshot(PictureOptions options);
    Task<ActAnswer> act(std::vector<Action> actions, ActOptions options, Cancel cancel);
    Task<Result<ProgramResult>> run_program(RunProgram request);

    // Lets go of the machine, which goes on running. Nothing works afterwards.
    void close();

  private:
    std::filesystem::path folder() const { return host_.config.desktops() / row_.id.str(); }
    std::filesystem::path disk() const { return folder() / "disk.qcow2"; }

    Task<Result<>> move_to(State next, std::optional<std::string> reason = {});
    Task<void> fail_with(std::string reason);
    void tell(DesktopChange change) const;
    void set_ready(bool ready);
    void set_pause_reason(std::optional<std::string> reason);

    // desktop_lifecycle.cpp
    Task<Result<>> make_disk();
    LaunchPlan launch_plan(CommandLine command) const;
    Task<Result<>> launch(StartFrom from);
    Task<Result<>> wake_from_template();
    Task<void> run_start();
    Task<void> run_stop(bool start_again);
    Task<void> finish_start();
    Task<Result<>> wait_drawn(std::shared_ptr<vmm::Machine> machine);
    void report_lost(const Result<>& moved) const;
    Task<void> power_off();
    Task<void> adopt_running();
    Task<void> adopt_ended();
    void drop_machine();
    void take_machine(std::shared_ptr<vmm::Machine> machine);
    void on_exit(const vmm::ExitRecord& record);
    void on_event(const std::string& name, const nlohmann::json& data);
    void remember_exit(const vmm::ExitRecord& record);
    Task<void> settle_exit(vmm::ExitRecord record);
    void retry_when_disk_has_space();

    // desktop_network.cpp
    void open_network();
    void close_network();

    // desktop_acting.cpp
    Task<Result<>> need_screen();
    ActionPorts ports();
    bool is_emulated() const { return host_.accelerator.accelerator == vmm::Accelerator::Tcg; }
    Task<Result<>> wait_reaction(Cancel cancel);
    Task<void> wait_shown(std::uint64_t before, Cancel cancel);
    // The screen before the actions of a call.
    struct Before {
        std::shared_ptr<const display::Snapshot> snapshot;  // null where nobody wants it
        std::uint64_t generation = 0;
    };
    Task<Result<Aftermath>> look_after(ActOptions options, Before before, Cancel cancel);
    Task<Result<Settling>> settle(Before before, Cancel cancel);
    void limit_button_hold();
    Task<void> end_button_hold(std::uint64_t number);

    Host& host_;
    Template image_;
    db::DesktopRow row_;
    State state_;
    Save save_;
    Listener listener_;
    SaveDestinations save_destinations_;
    std::optional<std::string> pause_reason_;  // "the host's disk is full": QEMU has stopped the guest
    std::optional<ExitInfo> exit_;

    std::shared_ptr<vmm::Machine> machine_;
    std::shared_ptr<net::NetdLink> network_;  // while there is a machine
    bool ready_ = false;                      // the agent has answered since the machine started
    bool replacing_ = false;                  // on_exit() is expected: stop, remove or a failed start ends it
    display::Screen screen_;
    std::shared_ptr<InputDevice> input_;
    // What may have moved the focus, and has not been seen to take effect.
    struct Awaited {
        std::uint64_t generation = 0;  // of the screen, before it
        MonotonicTime since{};
    };
    std::optional<Awaited> awaited_;
    std::uint64_t button_hold_ = 0;  // moves with each call that acts
    AsyncMutex machine_mutex_;       // held while the machine is started or ended
    AsyncMutex screen_mutex_;        // held while the screen is being attached
    AsyncMutex describe_mutex_;      // see describing()
    AsyncMutex input_mutex_;         // held while somebody's actions run
    bool closed_ = false;
};

}  // namespace dormouse::desktop
