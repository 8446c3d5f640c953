// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "hostd/base/work_pool.h"

namespace dormouse::db {

// The `store` thread: runs what is posted, in order, one at a time. The stores
// of this folder block on the disk and are used only from here:
//
//   auto row = co_await run_on(store_thread, loop, [&stores, id] { return stores.desktops.find(id); });
//
// Destroying it finishes what was posted, then joins; so it is destroyed before
// the stores and the database. post() is for any thread.
class StoreThread {
  public:
    void post(std::function<void()> job) { pool_.post(std::move(job)); }

  private:
    WorkPool pool_{1};
};

}  // namespace dormouse::db
