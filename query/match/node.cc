// Implements the nodes of a filter's tree.
#include "query/match/node.h"

#include <algorithm>
#include <array>

#include "base/bson/number.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Value;
using bson::View;

// Fields that one pass over a document looks for at most.
constexpr size_t kOnePassFieldsMax = 8;

}  // namespace

bool PathNode::Matches(View document, MatchDetails& details) const {
  return MatchesBound(document[path_.part(0)], details);
}

bool PathNode::MatchesBound(Value first, MatchDetails& details) const {
  const bool found = match::WalkFrom(first, path_, 1, predicate_->leaf(), match::kNoPosition,
                                     [&](Value value, int64_t position) {
                                       if (!predicate_->Matches(value, details)) return false;
                                       if (position != match::kNoPosition && !negated_)
                                         details.position = position;
                                       return true;
                                     });
  return found != negated_;
}

LogicalNode::LogicalNode(MatchKind kind, std::vector<MatchNodePtr> children)
    : MatchNode(kind), children_(std::move(children)) {
  for (const MatchNodePtr& child : children_) {
    const std::string_view field = child->CommonField();
    if (field.empty()) {
      fields_.clear();
      field_of_child_.clear();
      return;
    }
    auto at = std::find(fields_.begin(), fields_.end(), field);
    if (at == fields_.end()) at = fields_.insert(fields_.end(), field);
    field_of_child_.push_back(static_cast<uint8_t>(at - fields_.begin()));
    if (fields_.size() > kOnePassFieldsMax) break;
  }
  if (fields_.size() == 1) common_field_ = fields_[0];
  if (fields_.size() < 2 || fields_.size() > kOnePassFieldsMax) fields_.clear();
}

template <typename Test>
bool LogicalNode::Combine(MatchDetails& details, Test test) const {
  const bool stop_at = kind() != MatchKind::kAnd;
  for (size_t i = 0; i < children_.size(); ++i) {
    if (test(i) == stop_at) {
      if (kind() != MatchKind::kOr) details.position = match::kNoPosition;
      return kind() == MatchKind::kOr;
    }
  }
  return kind() != MatchKind::kOr;
}

bool LogicalNode::Matches(View document, MatchDetails& details) const {
  if (!fields_.empty()) return MatchesInOnePass(document, details);
  if (!common_field_.empty()) return MatchesBound(document[common_field_], details);
  return Combine(details, [&](size_t i) { return children_[i]->Matches(document, details); });
}

bool LogicalNode::MatchesBound(Value first, MatchDetails& details) const {
  return Combine(details, [&](size_t i) { return children_[i]->MatchesBound(first, details); });
}

bool LogicalNode::MatchesInOnePass(View document, MatchDetails& details) const {
  std::array<Value, kOnePassFieldsMax> values;
  size_t left = fields_.size();
  for (const Element& element : document) {
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (element.key != fields_[i] || !values[i].missing()) continue;
      values[i] = element.value;
      --left;
      break;
    }
    if (left == 0) break;
  }
  return Combine(details, [&](size_t i) {
    return children_[i]->MatchesBound(values[field_of_child_[i]], details);
  });
}

bool ExprNode::Matches(View document, MatchDetails& details) const {
  evaluation_.Begin(document);
  const absl::StatusOr<Value> value = expression_->Evaluate(evaluation_);
  if (!value.ok()) {
    if (details.error.ok()) details.error = value.status();
    return false;
  }
  return bson::Truthy(*value);
}

}  // namespace evenkeel::query
