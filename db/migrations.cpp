// SPDX-License-Identifier: Apache-2.0
#include "db/database.h"
#include "dormouse_db_embedded.h"

namespace dormouse::db {

// A function and not a table with static storage: the embedded texts are made in
// another source, in no certain order.
std::span<const Migration> migrations() {
    static const Migration all[] = {
        {1, kMigration0001},
        {2, kMigration0002},
        {3, kMigration0003},
    };
    return all;
}

}  // namespace dormouse::db
