// Implements the application of an update's tree to a document.
//
// Walks down to the fields that the tree names, collects their new values, and builds a document or
// array again only where one of its values has changed.
#include <algorithm>
#include <charconv>
#include <string>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "base/bson/path.h"
#include "base/status.h"
#include "query/match/type_names.h"
#include "query/update/tree.h"

namespace evenkeel::query::update {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

// Nulls that one update may put between an array's end and a new element, as in MongoDB.
constexpr size_t kArrayPaddingMax = 1'500'000;

bool SamePlace(Value a, Value b) { return a.type() == b.type() && a.data() == b.data(); }

std::optional<size_t> ArrayIndex(std::string_view part) {
  size_t index = 0;
  if (!bson::IsArrayIndex(part)) return std::nullopt;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return index;
}

}  // namespace

class Tree::Applier {
 public:
  Applier(const Tree& tree, ApplyContext& context) : tree_(tree), context_(context) {}

  // The new value of a place with the nodes that meet there; `old` itself when unchanged, missing
  // to remove it.
  absl::StatusOr<Value> ApplyTo(const NodeSet& nodes, Value old) {
    if (!IsActive(nodes)) return old;
    for (const Node* node : nodes) {
      if (!node->modifier) continue;
      if (nodes.size() > 1) {
        return Error(ErrorCode::kConflictingUpdateOperators, "Update created a conflict at '{}'",
                     node->modifier->path());
      }
      return ApplyModifier(*node->modifier, old);
    }
    if (std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return n->IsArrayNode(); })) {
      return ApplyToElements(nodes, old);
    }
    EVENKEEL_ASSIGN_OR_RETURN(const Children children, ChildrenOf(nodes));
    if (old.missing()) return Create(children);
    if (old.Is(Type::kObject)) return ApplyToObject(children, old);
    if (old.Is(Type::kArray)) return ApplyToPositions(children, old);
    return ApplyToBlocked(nodes, old);
  }

 private:
  absl::StatusOr<Value> ApplyModifier(const Modifier& modifier, Value old) {
    EVENKEEL_ASSIGN_OR_RETURN(const Value value, modifier.Apply(old, context_));
    if (!old.missing() && !value.missing() && bson::Identical(old, value)) return old;
    return value;
  }

  // Calls `visit` with every active modifier at or below `node` until it returns true.
  template <typename Visit>
  bool AnyModifier(const Node& node, const Visit& visit) const {
    if (node.modifier) return node.modifier->IsActive(context_) && visit(*node.modifier);
    for (const auto& [part, child] : node.fields) {
      if (AnyModifier(*child, visit)) return true;
    }
    if (node.positional && AnyModifier(*node.positional, visit)) return true;
    if (node.all && AnyModifier(*node.all, visit)) return true;
    for (const auto& [filter, child] : node.filtered) {
      if (AnyModifier(*child, visit)) return true;
    }
    return false;
  }

  bool IsActive(const NodeSet& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      return AnyModifier(*node, [](const Modifier&) { return true; });
    });
  }

  // The fields below the nodes, the positional operator resolved.
  absl::StatusOr<Children> ChildrenOf(const NodeSet& nodes) {
    Children children;
    for (const Node* node : nodes) {
      for (const auto& [part, child] : node->fields) AddChild(part, child.get(), &children);
      if (!node->positional) continue;
      if (context_.position < 0) {
        return Error(ErrorCode::kBadValue,
                     "The positional operator did not find the match needed from the query.");
      }
      if (position_text_.empty()) position_text_ = std::to_string(context_.position);
      AddChild(position_text_, node->positional.get(), &children);
    }
    return children;
  }

  static void AddChild(std::string_view part, const Node* node, Children* children) {
    auto at = std::lower_bound(
        children->begin(), children->end(), part,
        [](const auto& entry, std::string_view p) { return ComparePathParts(entry.first, p) < 0; });
    if (at == children->end() || at->first != part) at = children->insert(at, {part, {}});
    at->second.push_back(node);
  }

  absl::StatusOr<Value> Create(const Children& children) {
    const Value empty(Type::kObject, View().data());
    EVENKEEL_ASSIGN_OR_RETURN(const Value made, ApplyToObject(children, empty));
    return SamePlace(made, empty) ? Value() : made;
  }

  absl::StatusOr<Value> ApplyToObject(const Children& children, Value old) {
    absl::InlinedVector<Value, 4> values(children.size());
    absl::InlinedVector<bool, 4> found(children.size());
    bool changed = false;
    size_t left = children.size();
    for (const Element& element : old.AsDocument()) {
      const size_t i = IndexOf(children, element.key);
      if (i == children.size() || found[i]) continue;
      EVENKEEL_ASSIGN_OR_RETURN(values[i], ApplyTo(children[i].second, element.value));
      changed |= !SamePlace(values[i], element.value);
      found[i] = true;
      if (--left == 0) break;
    }
    for (size_t i = 0; i < children.size(); ++i) {
      if (found[i]) continue;
      EVENKEEL_ASSIGN_OR_RETURN(values[i], ApplyTo(children[i].second, Value()));
      changed |= !values[i].missing();
    }
    if (!changed) return old;
    ArenaBuilder builder(context_.arena, Type::kObject);
    for (const Element& element : old.AsDocument()) {
      const size_t i = IndexOf(children, element.key);
      builder.Append(element.key, i == children.size() ? element.value : values[i]);
    }
    for (size_t i = 0; i < children.size(); ++i) {
      if (!found[i]) builder.Append(children[i].first, values[i]);
    }
    return builder.Finish();
  }

  static size_t IndexOf(const Children& children, std::string_view key) {
    size_t i = 0;
    while (i < children.size() && children[i].first != key) ++i;
    return i;
  }

  // Array elements by position. A removed one becomes null.
  absl::StatusOr<Value> ApplyToPositions(const Children& children, Value old) {
    std::vector<Value> elements;
    for (const Element& element : old.AsDocument()) elements.push_back(element.value);
    const size_t size = elements.size();
    bool changed = false;
    for (const auto& [part, nodes] : children) {
      const std::optional<size_t> index = ArrayIndex(part);
      if (!index) {
        EVENKEEL_RETURN_IF_ERROR(CheckBlocked(nodes, part, old));
        continue;
      }
      const Value before = *index < elements.size() ? elements[*index] : Value();
      EVENKEEL_ASSIGN_OR_RETURN(const Value after, ApplyTo(nodes, before));
      if (SamePlace(before, after)) continue;
      if (*index >= elements.size()) {
        if (*index > size + kArrayPaddingMax) {
          return Error(ErrorCode::kBadValue,
                       "can't backfill more than {} elements: the index is {}", kArrayPaddingMax,
                       *index);
        }
        elements.resize(*index + 1, NullValue());
      }
      elements[*index] = after.missing() ? NullValue() : after;
      changed = true;
    }
    return changed ? MakeArray(elements) : old;
  }

  Value MakeArray(const std::vector<Value>& elements) {
    ArenaBuilder builder(context_.arena, Type::kArray);
    for (const Value element : elements) builder.Add(element);
    return builder.Finish();
  }

  // $[] and $[identifier].
  absl::StatusOr<Value> ApplyToElements(const NodeSet& nodes, Value old) {
    if (!old.Is(Type::kArray)) {
      if (old.missing()) {
        return Error(ErrorCode::kBadValue,
                     "The path must exist in the document in order to apply array updates.");
      }
      return Error(ErrorCode::kBadValue, "Cannot apply array updates to non-array element: {}",
                   bson::ToDisplay(old));
    }
    std::vector<Value> elements;
    bool changed = false;
    for (const Element& element : old.AsDocument()) {
      const NodeSet below = NodesForElement(nodes, element);
      Value value = element.value;
      if (!below.empty()) {
        EVENKEEL_ASSIGN_OR_RETURN(value, ApplyTo(below, element.value));
        changed |= !SamePlace(value, element.value);
      }
      elements.push_back(value);
    }
    return changed ? MakeArray(elements) : old;
  }

  NodeSet NodesForElement(const NodeSet& nodes, const Element& element) const {
    NodeSet below;
    for (const Node* node : nodes) {
      if (node->all) below.push_back(node->all.get());
      for (const auto& [filter, child] : node->filtered) {
        if (tree_.array_filters_[filter].filter.MatchesValue(element.value))
          below.push_back(child.get());
      }
      for (const auto& [part, child] : node->fields) {
        if (part == element.key) below.push_back(child.get());
      }
      if (node->positional && context_.position >= 0 &&
          std::to_string(context_.position) == element.key) {
        below.push_back(node->positional.get());
      }
    }
    return below;
  }

  // A path that leads through a value without fields.
  absl::StatusOr<Value> ApplyToBlocked(const NodeSet& nodes, Value old) {
    EVENKEEL_RETURN_IF_ERROR(CheckBlocked(nodes, "", old));
    return old;
  }

  absl::Status CheckBlocked(const NodeSet& nodes, std::string_view part, Value at) {
    std::string_view path;
    const bool refused = std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
      return AnyModifier(*node, [&](const Modifier& modifier) {
        path = modifier.path();
        return !modifier.AllowsBlockedPath();
      });
    });
    if (!refused) return absl::OkStatus();
    return Error(
        ErrorCode::kPathNotViable, "Cannot use the path '{}'{}{}{} to traverse the element {}",
        path, part.empty() ? "" : " (part '", part, part.empty() ? "" : "')", bson::ToDisplay(at));
  }

  const Tree& tree_;
  ApplyContext& context_;
  std::string position_text_;
};

absl::StatusOr<Value> Tree::Apply(ApplyContext& context) const {
  Applier applier(*this, context);
  const Value document(Type::kObject, context.document.data());
  NodeSet root;
  root.push_back(&root_);
  return applier.ApplyTo(root, document);
}

}  // namespace evenkeel::query::update
