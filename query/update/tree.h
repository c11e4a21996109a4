// The paths of an update as a tree, with the modifiers at its leaves, and its application to
// documents.
//
// Paths are split into fields, array positions and the positional operators $, $[] and
// $[identifier]. Fields that exist keep their place, new ones are appended by name (numbers by
// value). Nothing is built where nothing changes.
//
// Invariants
//   T1  No leaf lies at or below another's path: Add refuses it. What meets only in one array
//   element is refused by Apply. T2  Fields of a node are sorted by ComparePathParts.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/view.h"
#include "query/match/filter.h"
#include "query/update/modifier.h"

namespace evenkeel::query::update {

// Numbers by value, other parts by bytes.
int ComparePathParts(std::string_view a, std::string_view b);

// A filter of arrayFilters with its identifier.
struct ArrayFilter {
  std::string identifier;
  Filter filter;
  bool used = false;
};

class Tree {
 public:
  explicit Tree(std::vector<ArrayFilter> array_filters)
      : array_filters_(std::move(array_filters)) {}

  // Adds a modifier at its path. Errors: ConflictingUpdateOperators (40), EmptyFieldName (56),
  // DollarPrefixedFieldName (52), BadValue for positional operators in wrong places or without
  // their array filter.
  absl::Status Add(ModifierPtr modifier);
  // FailedToParse for an array filter that no path uses.
  absl::Status CheckArrayFiltersUsed() const;
  // True when some path holds the operator `$`, which needs the position that the filter matched.
  bool NeedsPosition() const { return needs_position_; }
  bool empty() const { return root_.fields.empty(); }

  // The updated document, `context.document` itself when nothing changes. Lives in the arena.
  // Errors: PathNotViable (28), BadValue, and the modifiers' own.
  absl::StatusOr<bson::Value> Apply(ApplyContext& context) const;

 private:
  struct Node;
  using NodePtr = std::unique_ptr<Node>;
  // One place of the tree: inner, with children, or a leaf with a modifier.
  struct Node {
    ModifierPtr modifier;
    std::vector<std::pair<std::string, NodePtr>> fields;
    NodePtr positional;                                // $
    NodePtr all;                                       // $[]
    std::vector<std::pair<size_t, NodePtr>> filtered;  // $[identifier], by the filter's index

    bool IsArrayNode() const { return all != nullptr || !filtered.empty(); }
    bool IsEmpty() const { return !modifier && fields.empty() && !positional && !IsArrayNode(); }
  };
  // Several nodes that meet at one place: through $, and through array filters that match the same
  // element.
  using NodeSet = absl::InlinedVector<const Node*, 2>;
  using Children = absl::InlinedVector<std::pair<std::string_view, NodeSet>, 4>;
  class Applier;

  absl::StatusOr<Node*> ChildFor(Node& node, std::string_view part, std::string_view path);
  absl::StatusOr<size_t> FilterIndex(std::string_view identifier, std::string_view path);

  Node root_;
  std::vector<ArrayFilter> array_filters_;
  bool needs_position_ = false;
};

}  // namespace evenkeel::query::update
