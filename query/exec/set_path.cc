// Rebuilding a document along one path.
#include "query/exec/set_path.h"

#include "base/bson/builder.h"

namespace evenkeel::query {
namespace {

// Appends the fields of `document` with the part of the path from `at` on changed.
void Rewrite(bson::View document, const bson::Path& path, size_t at, bson::Value value,
             bson::Builder& builder) {
  const std::string_view part = path.part(at);
  const bool last = at + 1 == path.size();
  bool found = false;
  for (const auto& [key, old] : document) {
    if (found || key != part) {
      builder.Append(key, old);
      continue;
    }
    found = true;
    if (last) {
      builder.Append(key, value);
    } else if (old.Is(bson::Type::kObject) || !value.missing()) {
      const bson::View inner = old.Is(bson::Type::kObject) ? old.AsDocument() : bson::View();
      builder.OpenDocument(key);
      Rewrite(inner, path, at + 1, value, builder);
      builder.Close();
    } else {
      builder.Append(key, old);
    }
  }
  if (found || value.missing()) return;
  if (last) {
    builder.Append(part, value);
    return;
  }
  builder.OpenDocument(part);
  Rewrite(bson::View(), path, at + 1, value, builder);
  builder.Close();
}

}  // namespace

bson::Document WithField(bson::View document, const bson::Path& path, bson::Value value) {
  bson::Builder builder;
  Rewrite(document, path, 0, value, builder);
  return builder.Finish();
}

}  // namespace evenkeel::query
