// Documents whose `_id`s have hashes of a test's choice, found by trying numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "base/bson/hash.h"
#include "storage/table.h"

namespace evenkeel::tests {

// A document {_id: number} and the hash of that number.
struct HashedId {
  bson::Document document;
  int64_t hash = 0;
};

inline HashedId HashedIdOf(int32_t id) {
  bson::Builder builder;
  builder.Append("_id", id);
  HashedId out{builder.Finish()};
  out.hash = bson::HashValue(out.document["_id"]);
  return out;
}

// The first ones with hashes in the span: about one number in 4,096 for each bucket in it.
inline std::vector<HashedId> IdsWithHashes(const storage::HashSpan& hashes, size_t count) {
  std::vector<HashedId> out;
  for (int32_t id = 0; out.size() < count; ++id) {
    const int64_t hash =
        bson::HashValue(bson::Value(bson::Type::kInt32, reinterpret_cast<const char*>(&id)));
    if (hashes.Contains(hash)) out.push_back(HashedIdOf(id));
  }
  return out;
}

inline constexpr int64_t kBucketWidth = int64_t{1} << 52;
// Two buckets in the middle of the space.
inline constexpr storage::HashSpan kDenseHashes{-kBucketWidth, kBucketWidth - 1};

// Many documents in two buckets, one in each of many others; in the order of hashes.
inline std::vector<HashedId> ClusteredIds(size_t dense = 40, int32_t others = 200) {
  std::vector<HashedId> ids = IdsWithHashes(kDenseHashes, dense);
  for (int32_t id = 0; id < others; ++id) {
    const HashedId other = HashedIdOf(id);
    if (!kDenseHashes.Contains(other.hash)) ids.push_back(other);
  }
  std::sort(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
  return ids;
}

}  // namespace evenkeel::tests
