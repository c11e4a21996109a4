// The values of a distinct command: each once, in comparison order.
#pragma once

#include <absl/status/statusor.h>

#include <set>

#include "base/bson/compare.h"
#include "base/bson/document.h"
#include "base/bson/path.h"

namespace evenkeel::router::read {

class DistinctValues {
 public:
  // `collation` null: strings differ by bytes.
  explicit DistinctValues(const bson::StringComparator* collation = nullptr)
      : values_(Less{collation}) {}
  void Add(bson::Value value);
  // Adds what `path` leads to: arrays on the way and at the end are taken apart.
  void AddFrom(bson::View document, const bson::Path& path);
  // {values: […]}. Errors: 17217 when they are too many for one document.
  absl::StatusOr<bson::Document> Reply() const;

 private:
  struct Less {
    using is_transparent = void;
    const bson::StringComparator* collation;
    static bson::Value Of(const bson::OwnedValue& value) { return value.value(); }
    static bson::Value Of(bson::Value value) { return value; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return bson::Compare(Of(a), Of(b), collation) < 0;
    }
  };
  void Walk(bson::Value value, const bson::Path& path, size_t part);

  std::set<bson::OwnedValue, Less> values_;
  size_t size_bytes_ = 0;
};

}  // namespace evenkeel::router::read
