// Dotted paths ("a.b.0.c"), split once, looked up without allocation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::bson {

// A path split at its dots. Keeps its own copy of the text.
class Path {
 public:
  Path() = default;
  explicit Path(std::string_view dotted);

  const std::string& dotted() const { return dotted_; }
  size_t size() const { return parts_.size(); }
  std::string_view part(size_t i) const {
    return std::string_view(dotted_).substr(parts_[i].first, parts_[i].second);
  }

 private:
  std::string dotted_;
  std::vector<std::pair<uint32_t, uint32_t>> parts_;  // offset, length
};

// Follows `path` through nested documents only: an array in the way ends it. Missing if there is no
// such value. This is how shard keys are read.
Value LookupPlain(View document, const Path& path);

// True for a part that addresses an array element: digits without a leading zero.
bool IsArrayIndex(std::string_view part);

}  // namespace evenkeel::bson
