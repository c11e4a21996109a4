// What the groups of update operators share: table rows, and the parse that they add modifiers to.
//
// A group file ends with an array of UpdateOp rows and hands it to table.cc; see table.h for the
// list of groups.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <span>
#include <string_view>
#include <vector>

#include "base/bson/path.h"
#include "base/bson/view.h"
#include "base/status.h"
#include "query/context.h"
#include "query/update/modifier.h"
#include "query/update/tree.h"

namespace evenkeel::query::update {

// The two paths of a $rename.
struct Rename {
  bson::Path from;
  bson::Path to;
};

// The update that is being parsed. Operands point into the update's own copy.
struct Parse {
  const QueryContext& query;
  Tree& tree;
  std::vector<Rename>& renames;  // ApplyContext::moved follows it
};

struct UpdateOp {
  std::string_view name;
  // Parses one field of the operator's object and adds its modifiers to the tree. Null: known, not
  // supported.
  absl::Status (*parse)(Parse& parse, const bson::Element& field) = nullptr;
  std::string_view spec;   // page of the manual
  std::string_view tests;  // feature of the conformance cases
};

// True when rows are sorted by name, start with '$' and have their pages set.
constexpr bool RowsAreInOrder(std::span<const UpdateOp> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name.empty() || rows[i].name[0] != '$' || rows[i].spec.empty()) return false;
    if (i > 0 && !(rows[i - 1].name < rows[i].name)) return false;
  }
  return true;
}

// BadValue with fmt's formatting.
template <typename... Args>
absl::Status Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCode::kBadValue, format, std::forward<Args>(args)...);
}

// Adds a modifier of type T, made from the field's name and the further arguments.
template <typename T, typename... Args>
absl::Status AddModifier(Parse& parse, std::string_view path, Args&&... args) {
  return parse.tree.Add(std::make_unique<T>(std::string(path), std::forward<Args>(args)...));
}

}  // namespace evenkeel::query::update
