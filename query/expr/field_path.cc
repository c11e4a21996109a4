// Checking and following field paths.
#include "query/expr/field_path.h"

#include "base/status.h"

namespace evenkeel::query::expr {
namespace {

constexpr size_t kPathPartsMax = 200;  // as deep as a command may nest

absl::Status CheckPart(std::string_view part) {
  if (part.empty()) {
    return Error(Location(15998), "FieldPath field names may not be empty strings");
  }
  if (part.front() == '$') {
    return Error(Location(16410), "FieldPath field names may not start with '$', given '{}'", part);
  }
  if (part.find('\0') != std::string_view::npos) {
    return Error(Location(16411), "FieldPath field names may not contain null bytes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFieldPath(std::string_view path) {
  if (path.empty()) {
    return Error(Location(40352), "FieldPath cannot be constructed with empty string");
  }
  if (path.back() == '.') return Error(Location(40353), "FieldPath must not end with a '.'");
  size_t parts = 0;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t dot = std::min(path.find('.', begin), path.size());
    EVENKEEL_RETURN_IF_ERROR(CheckPart(path.substr(begin, dot - begin)));
    if (++parts > kPathPartsMax) {
      return Error(ErrorCode::kOverflow, "FieldPath is too long, the maximum is {} parts",
                   kPathPartsMax);
    }
    begin = dot + 1;
  }
  return absl::OkStatus();
}

absl::Status CheckFieldName(std::string_view name) {
  if (name.find('.') != std::string_view::npos) {
    return Error(Location(16412), "FieldPath field names may not contain '.', given '{}'", name);
  }
  return CheckPart(name);
}

bson::Value FollowPath(bson::Value value, const bson::Path& path, size_t first, EvalArena& arena) {
  for (size_t i = first; i < path.size(); ++i) {
    if (value.Is(bson::Type::kObject)) {
      value = value.AsDocument()[path.part(i)];
      continue;
    }
    if (!value.Is(bson::Type::kArray)) return bson::Value();
    ArenaBuilder found(arena, bson::Type::kArray);
    for (const bson::Element& element : value.AsDocument()) {
      if (!element.value.Is(bson::Type::kObject)) continue;
      const bson::Value inner = FollowPath(element.value, path, i, arena);
      if (!inner.missing()) found.Add(inner);
    }
    return found.Finish();
  }
  return value;
}

}  // namespace evenkeel::query::expr
