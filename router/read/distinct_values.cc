// Collects distinct values.
#include "router/read/distinct_values.h"

#include <charconv>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::router::read {
namespace {

// Room for keys of the array and fields around it.
constexpr size_t kValueOverheadBytes = 12;

}  // namespace

void DistinctValues::Add(bson::Value value) {
  if (values_.find(value) != values_.end()) return;
  size_bytes_ += value.SizeBytes() + kValueOverheadBytes;
  values_.emplace(value);
}

void DistinctValues::AddFrom(bson::View document, const bson::Path& path) {
  Walk(bson::Value(bson::Type::kObject, document.data()), path, 0);
}

void DistinctValues::Walk(bson::Value value, const bson::Path& path, size_t part) {
  if (part == path.size()) {
    if (!value.Is(bson::Type::kArray)) {
      if (!value.missing()) Add(value);
      return;
    }
    for (const auto& element : value.AsDocument()) Add(element.value);
    return;
  }
  if (value.Is(bson::Type::kObject)) {
    Walk(value.AsDocument()[path.part(part)], path, part + 1);
    return;
  }
  if (!value.Is(bson::Type::kArray)) return;
  if (bson::IsArrayIndex(path.part(part))) {
    Walk(value.AsDocument()[path.part(part)], path, part + 1);
  }
  for (const auto& element : value.AsDocument()) {
    if (element.value.Is(bson::Type::kObject)) Walk(element.value, path, part);
  }
}

absl::StatusOr<bson::Document> DistinctValues::Reply() const {
  if (size_bytes_ > static_cast<size_t>(limits::kDocumentBytesMax)) {
    return MakeError(Location(17217), "distinct too big, 16mb cap");
  }
  bson::Builder reply;
  reply.OpenArray("values");
  bson::ArrayAppender array(reply);
  for (const bson::OwnedValue& value : values_) array.Add(value);
  reply.Close();
  return reply.Finish();
}

}  // namespace evenkeel::router::read
