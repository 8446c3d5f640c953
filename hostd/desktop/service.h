// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/audit_store.h"
#include "db/desktop_store.h"
#include "db/destination_store.h"
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
};
Result<Stores> open_stores(db::Database& database);

// All desktops of this host, and the only implementation of the Gateway.
// Core thread. `host`, `stores` and `store_thread` must outlive it.
class Service final : public Gateway {
  public:
    Service(Host& host, Stores& stores, db::StoreThread& store_thread, std::string version);

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
    VersionInfo version() const override;

  private:
    using Found = Result<std::shared_ptr<Desktop>>;
    Found find(const DesktopReference& reference) const;

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
    Task<Result<Answer>> run(DeleteDesktop request, Asked asked);
    Task<Result<Answer>> run(StartDesktop request, Asked asked);
    Task<Result<Answer>> run(StopDesktop request, Asked asked);
    Task<Result<Answer>> run(RestartDesktop request, Asked asked);
    Task<Result<Answer>> run(TakeScreenshot request, Asked asked);
    Task<Result<Answer>> run(Act request, Asked asked);
    Task<Result<Answer>> run(RunProgram request, Asked asked);
    // service_network.cpp
    Task<Result<Answer>> run(SetNetwork request, Asked asked);
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

    Task<Result<DesktopInfo>> bring_up(std::shared_ptr<Desktop> desktop);
    Task<void> bring_up_as(OperationHandle operation, std::shared_ptr<Desktop> desktop);
    Result<OperationInfo> visible_operation(const OperationId& id, const Caller& caller);
    Task<Result<db::DesktopRow>> insert_row(CreateDesktop request, Template image);
    Task<void> build_as(OperationHandle operation, Recipe recipe, std::string text);
    Result<> no_build_in_progress();
    std::vector<std::string> desktops_on(const TemplateName& name, const std::string& hash) const;
    std::set<std::string> used_templates() const;  // hashes
    void collect_templates();                      // removes bakes that nobody stands on
    std::shared_ptr<Desktop> add(Template image, db::DesktopRow row, State state);
    Task<void> recover_row(db::DesktopRow row);
    Task<Result<>> forget(std::shared_ptr<Desktop> desktop);
    Task<void> end_orphans();
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
    std::map<DesktopId, std::shared_ptr<Desktop>> desktops_;
    std::multiset<std::string> pinned_templates_;  // hashes that desktops are about to stand on
};

}  // namespace dormouse::desktop
