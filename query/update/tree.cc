// Implements building the tree of an update's paths. Its application is in tree_apply.cc.
#include "query/update/tree.h"

#include <algorithm>
#include <utility>

#include "base/bson/path.h"
#include "base/status.h"

namespace evenkeel::query::update {
namespace {

// "x" of "$[x]"; empty for "$[]".
std::string_view IdentifierOf(std::string_view part) { return part.substr(2, part.size() - 3); }

bool IsArrayOperator(std::string_view part) {
  return part.starts_with("$[") && part.ends_with(']');
}

absl::Status Conflict(std::string_view path, std::string_view at) {
  return Error(ErrorCode::kConflictingUpdateOperators,
               "Updating the path '{}' would create a conflict at '{}'", path, at);
}

}  // namespace

int ComparePathParts(std::string_view a, std::string_view b) {
  if (bson::IsArrayIndex(a) && bson::IsArrayIndex(b) && a.size() != b.size()) {
    return a.size() < b.size() ? -1 : 1;
  }
  return a.compare(b);
}

absl::StatusOr<size_t> Tree::FilterIndex(std::string_view identifier, std::string_view path) {
  for (size_t i = 0; i < array_filters_.size(); ++i) {
    if (array_filters_[i].identifier != identifier) continue;
    array_filters_[i].used = true;
    return i;
  }
  return Error(ErrorCode::kBadValue, "No array filter found for identifier '{}' in path '{}'",
               identifier, path);
}

// The child of `node` for `part`, made when there is none.
absl::StatusOr<Tree::Node*> Tree::ChildFor(Node& node, std::string_view part,
                                           std::string_view path) {
  NodePtr* child = nullptr;
  if (part == "$") {
    if (node.IsArrayNode()) return Conflict(path, path);
    needs_position_ = true;
    child = &node.positional;
  } else if (IsArrayOperator(part)) {
    if (!node.fields.empty() || node.positional) return Conflict(path, path);
    if (part == "$[]") {
      child = &node.all;
    } else {
      EVENKEEL_ASSIGN_OR_RETURN(const size_t filter, FilterIndex(IdentifierOf(part), path));
      auto at = std::find_if(node.filtered.begin(), node.filtered.end(),
                             [&](const auto& entry) { return entry.first == filter; });
      if (at == node.filtered.end()) at = node.filtered.insert(at, {filter, nullptr});
      child = &at->second;
    }
  } else {
    if (node.IsArrayNode()) return Conflict(path, path);
    auto at = std::lower_bound(
        node.fields.begin(), node.fields.end(), part,
        [](const auto& entry, std::string_view p) { return ComparePathParts(entry.first, p) < 0; });
    if (at == node.fields.end() || at->first != part) {
      at = node.fields.insert(at, {std::string(part), nullptr});
    }
    child = &at->second;
  }
  if (!*child) *child = std::make_unique<Node>();
  return child->get();
}

absl::Status Tree::Add(ModifierPtr modifier) {
  const bson::Path path(modifier->path());
  Node* node = &root_;
  bool has_positional = false;
  for (size_t i = 0; i < path.size(); ++i) {
    const std::string_view part = path.part(i);
    if (part.empty()) {
      return Error(ErrorCode::kEmptyFieldName,
                   "The update path '{}' contains an empty field name, which is not allowed.",
                   path.dotted());
    }
    const bool positional = part == "$" || IsArrayOperator(part);
    if (positional && i == 0) {
      return Error(ErrorCode::kBadValue,
                   "Cannot have array filter identifier (i.e. '$[<id>]') or positional operator in "
                   "the first position in path '{}'",
                   path.dotted());
    }
    if (i == 0 && part[0] == '$' && modifier->Creates()) {
      return Error(
          ErrorCode::kDollarPrefixedFieldName,
          "The dollar ($) prefixed field '{}' in '{}' is not allowed in the context of an update",
          part, path.dotted());
    }
    if (part == "$" && std::exchange(has_positional, true)) {
      return Error(ErrorCode::kBadValue,
                   "Too many positional (i.e. '$') elements found in path '{}'", path.dotted());
    }
    if (node->modifier) {
      return Conflict(path.dotted(), node->modifier->path());
    }
    EVENKEEL_ASSIGN_OR_RETURN(node, ChildFor(*node, part, path.dotted()));
  }
  if (!node->IsEmpty()) return Conflict(path.dotted(), path.dotted());
  node->modifier = std::move(modifier);
  return absl::OkStatus();
}

absl::Status Tree::CheckArrayFiltersUsed() const {
  for (const ArrayFilter& filter : array_filters_) {
    if (!filter.used) {
      return Error(ErrorCode::kFailedToParse,
                   "The array filter for identifier '{}' was not used in the update",
                   filter.identifier);
    }
  }
  return absl::OkStatus();
}

}  // namespace evenkeel::query::update
