// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hostd/api/query.h"
#include "hostd/schema/picture.h"

namespace dormouse::api {

// How a picture is wanted, from the query of a request: the fields of
// schema::PictureOptions, with region=x,y,width,height. What is wrong is noted;
// the caller calls finish().
schema::PictureOptions read_picture_query(QueryReader& query);

}  // namespace dormouse::api
