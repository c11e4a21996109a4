// Hash maps and sets keyed by strings that are looked up with std::string_view, without building a
// std::string.
//
// The distribution's absl::string_view is not std::string_view, so absl's own transparent hash does
// not fit; these do.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

#include <string>
#include <string_view>

namespace evenkeel::base {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const {
    return absl::Hash<absl::string_view>()(absl::string_view(text.data(), text.size()));
  }
};

struct StringEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};

// Look up with find(std::string_view) or contains; operator[] and try_emplace take a std::string.
template <typename T>
using StringMap = absl::flat_hash_map<std::string, T, StringHash, StringEqual>;
using StringSet = absl::flat_hash_set<std::string, StringHash, StringEqual>;

}  // namespace evenkeel::base
