// Documents with one field changed along a dotted path, as $unwind and $setField-like stages need.
#pragma once

#include "base/bson/document.h"
#include "base/bson/path.h"
#include "base/bson/view.h"

namespace evenkeel::query {

// A copy of `document` whose field at `path` is `value`, in its place or appended; a missing value
// takes it away. Anything on the way that is no object is replaced by one when a value is set, and
// left alone when it is taken away.
bson::Document WithField(bson::View document, const bson::Path& path, bson::Value value);

}  // namespace evenkeel::query
