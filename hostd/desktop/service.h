// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/audit_store.h"
#include "db/counter_store.h"
#include "db/desktop_store.h"
#include "db/destination_store.h"
#include "db/idempotency_store.h"
#include "db/operation_store.h"
#include "db/store_thread.h"
#include "db/token_store.h"
#include "hostd/desktop/desktop.h"
#include "hostd/desktop/gateway.h"
#include "hostd/desktop/host.h"
#include "hostd/desktop/operations.h"
#include "hostd/desktop/recipe.h"
#include "hostd/desktop/template_store.h"

namespace dormouse::desktop {

// What the service keeps in the database; used on the store thread only.
struct Stores {
    db::DesktopStore desktops;
    db::TokenStore tokens;
    db::AuditStore audit;
    db::DestinationStore destinations;
    db::OperationStore operations;
    db::IdempotencyStore idempotency;
    db::CounterStore counters;
};

// How long an idempotency key is good for.
inline constexpr std::chrono::hours kOnceKept{24};
// How long an operation that has ended is remembered across daemons.
inline constexpr std::chrono::hours kOperationsKept{1};

Result<Stores> open_stores(db::Database& database);

// All desktops of this host, and the only implementation of the Gateway.
// Core thread. `host`, `stores` and `store_thread` must outlive it.
class Service final : public Gateway {
  public:
    Service(Host& host, Stores& stores, db::StoreThread& store_thread, std::string version);
    ~Service() override;

    // Reads the rows, takes over the machines that run, finishes what was in
    // progress when the daemon ended, and ends what belongs to nobody.
    Task<Result<>> recover();

    // For what begins work of its own kind.
    Operations& operations() { return operations_; }

    // Asks all operations to end, and waits until they have. Before close().
    Task<void> end_operations();

    // Lets go of all machines; they go on running.
    void close();

    Task<Result<Caller>> authenticate(std::string bearer) override;
    Task<Result<Answer>> execute(Command command, Caller caller, Cancel cancel) override;
    Task<Result<Claim>> claim(Caller caller, OnceKey once, Cancel cancel) override;
    void settle(const Caller& caller, const OnceKey& once, std::optional<std::string> answer) override;
    Result<std::unique_ptr<EventWatch>> watch_events(const Caller& caller, std::optional<std::uint64_t> after,
                                                     EventSink sink) override;
    VersionInfo version() const override;

    // For what has news of its own.
    EventLog& events() { return events_; }

  private:
    using Found = Result<std::shared_ptr<Desktop>>;
    Found find(const DesktopReference& reference) const;
    Found find_for(const DesktopReference& reference, const Caller& caller) const;

    // What a command is carried out with.
    struct Asked {
        Caller caller;
        Cancel cancel;
        std::shared_ptr<Desktop> desktop;  // where the command names one: it is there, and its state fits
    };

    Task<Result<Answer>> carry_out(Command command, Asked asked);
    // service_desktops.cpp
    Task<Result<Answer>> run(CreateDesktop request, Asked asked);
    Task<Result<Answer>> run(ListDesktops request, Asked asked);
    Task<Result<Answer>> run(GetDesktop request, Asked asked);
    Task<Result<Answer>> run(UpdateDesktop request, Asked asked);
    Task<Result<Answer>> run(DeleteDesktop request, Asked asked);
    Task<Result<Answer>> run(StartDesktop request, Asked asked);
    Task<Result<Answer>> run(StopDesktop request, Asked asked);
    Task<Result<Answer>> run(RestartDesktop request, Asked asked);
    Task<Result<Answer>> run(TakeScreenshot request, Asked asked);
    Task<Result<Answer>> run(Act request, Asked asked);
    Task<Result<Answer>> run(RunProgram request, Asked asked);
    // service_network.cpp
    Task<Result<Answer>> run(ListDestinations request, Asked asked);
    // service_operations.cpp
    Task<Result<Answer>> run(ListOperations request, Asked asked);
    Task<Result<Answer>> run(GetOperation request, Asked asked);
    Task<Result<Answer>> run(CancelOperation request, Asked asked);
    Task<Result<Answer>> run(GetOperationLog request, Asked asked);
    // service_templates.cpp
    Task<Result<Answer>> run(ListTemplates request, Asked asked);
    Task<Result<Answer>> run(GetTemplate request, Asked asked);
    Task<Result<Answer>> run(BuildTemplate request, Asked asked);
    Task<Result<Answer>> run(DeleteTemplate request, Asked asked);
    Task<Result<Answer>> run(GetTemplateLog request, Asked asked);
    // service_tokens.cpp
    Task<Result<Answer>> run(CreateToken request, Asked asked);
    Task<Result<Answer>> run(ListTokens request, Asked asked);
    Task<Result<Answer>> run(DeleteToken request, Asked asked);
    // service_audit.cpp
    Task<Result<Answer>> run(ListAudit request, Asked asked);

    Task<Result<DesktopInfo>> bring_up(std::shared_ptr<Desktop> desktop);
    Task<void> bring_up_as(OperationHandle operation, std::shared_ptr<Desktop> desktop);
    // service_operations.cpp
    Result<OperationInfo> visible_operation(const OperationId& id, const Caller& caller);
    // service_templates.cpp
    Task<void> build_as(OperationHandle operation, Recipe recipe, std::string text);
    Result<> no_build_in_progress();
    std::vector<std::string> desktops_on(const TemplateName& name, const std::string& hash) const;
    std::set<std::string> used_templates() const;  // hashes
    void collect_templates();                      // removes bakes that nobody stands on
    // service_desktops.cpp
    Result<> fit_to_caller(CreateDesktop& request, const Caller& caller) const;
    Task<Result<>> describe(std::shared_ptr<Desktop> desktop, UpdateDesktop request, Caller caller);
    Result<> check_room(const Caller& caller) const;
    Task<Result<db::DesktopRow>> insert_row(CreateDesktop request, Template image, Caller caller);
    std::shared_ptr<Desktop> add(Template image, db::DesktopRow row, State state);
    Task<void> recover_row(db::DesktopRow row);
    Task<Result<>> forget(std::shared_ptr<Desktop> desktop);
    Task<void> end_orphans();
    void on_desktop(const Desktop& desktop, DesktopChange change);

    // service_tokens.cpp
    Task<Result<>> load_tokens();

    // service_operations.cpp
    bool sees_operation(const Caller& caller, const OperationInfo& info) const;
    void on_operation(const OperationInfo& info);
    Task<Result<>> recover_operations();

    // service_events.cpp
    void publish(EventType type, DesktopInfo info);
    bool sees_event(const Caller& caller, const Event& event) const;
    Task<Result<>> recover_events();

    // service_once.cpp
    void finish_once(const std::pair<std::string, std::string>& id);
    Task<Result<>> recover_once();

    // service_audit.cpp
    struct Looks {
        MonotonicTime since{};
        std::int64_t number = 0;  // of their row; of the store thread
        std::int64_t more = 0;    // beyond the first
        WallTime last{};
    };
    void audit_look(db::AuditRow row);
    void append_audit(db::AuditRow row, std::shared_ptr<Looks> looks);
    void flush_looks(Duration age);
    void tidy_up();
    void audit(const Command& command, const Caller& caller, const std::optional<DesktopId>& desktop,
               const Result<Answer>& answer, Duration took);

    template <class Body>
    auto on_store(Body body) {
        return run_on(store_thread_, host_.loop, std::move(body));
    }

    Host& host_;
    Stores& stores_;
    db::StoreThread& store_thread_;
    TemplateStore templates_;
    std::string version_;
    Operations operations_;
    EventLog events_;
    std::set<OperationId> known_operations_;  // that run
    std::map<DesktopId, std::shared_ptr<Desktop>> desktops_;
    std::multiset<std::string> pinned_templates_;                // hashes that desktops are about to stand on
    std::optional<std::map<std::string, db::TokenRow>> tokens_;  // by hash; read at first use
    std::map<std::string, std::shared_ptr<Looks>> looks_;        // by what is the same
    std::optional<EventLoop::TimerId> tidy_timer_;
    // Requests with a key that are in progress, and who waits for them.
    std::map<std::pair<std::string, std::string>, std::vector<Completion<bool>>> once_;
};

}  // namespace dormouse::desktop
