// Parts as documents, and what they contain.
#include "catalog/part.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"

namespace evenkeel::catalog {

bool Part::Contains(bson::View document) const {
  const auto hash = key.HashOf(document);
  if (!hash.ok()) return true;
  return std::any_of(spans.begin(), spans.end(),
                     [&](const storage::HashSpan& span) { return span.Contains(*hash); });
}

bson::Document Part::ToBson() const {
  bson::Builder out;
  out.Append("key", key.pattern()).OpenArray("spans");
  bson::ArrayAppender ends(out);
  for (const storage::HashSpan& span : spans) {
    ends.Add(span.first);
    ends.Add(span.last);
  }
  out.Close();
  return out.Finish();
}

absl::StatusOr<Part> Part::FromBson(bson::View document) {
  const bson::Value pattern = document["key"], spans = document["spans"];
  if (!pattern.Is(bson::Type::kObject) || !spans.Is(bson::Type::kArray)) {
    return MakeError(ErrorCode::kInvalidOptions, "a part of a collection needs key and spans");
  }
  Part part;
  EVENKEEL_ASSIGN_OR_RETURN(part.key, ShardKeyPattern::Parse(pattern.AsDocument()));
  std::vector<int64_t> ends;
  for (const auto& [index, end] : spans.AsDocument()) {
    if (!end.Is(bson::Type::kInt64)) {
      return Error(ErrorCode::kInvalidOptions, "spans.{} of a part is no hash", index);
    }
    ends.push_back(end.AsInt64());
  }
  if (ends.size() % 2 != 0) {
    return MakeError(ErrorCode::kInvalidOptions, "the last span of a part has no end");
  }
  for (size_t i = 0; i < ends.size(); i += 2) part.spans.push_back({ends[i], ends[i + 1]});
  return part;
}

}  // namespace evenkeel::catalog
