// SPDX-License-Identifier: Apache-2.0
// The operation object, for the codecs of this folder that have one inside.
#pragma once

#include "hostd/schema/operations.h"
#include "hostd/schema/reader.h"

namespace dormouse::schema {

Json encode(const Operation& operation);
Operation decode_operation(ObjectReader& in);

}  // namespace dormouse::schema
