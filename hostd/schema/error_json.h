// SPDX-License-Identifier: Apache-2.0
// The error object, for the codecs of this folder that have one inside.
#pragma once

#include "hostd/schema/error.h"
#include "hostd/schema/reader.h"

namespace dormouse::schema {

Json encode(const ErrorBody& body);  // what "error" holds
ErrorBody decode_error(ObjectReader& in);

}  // namespace dormouse::schema
