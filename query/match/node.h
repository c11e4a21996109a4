// The tree behind a Filter: logical nodes over conditions on paths.
//
// Built by query/match/parser.h, immutable afterwards; the planner reads it. Evaluation does not
// allocate.
//
// Invariants
//   N1  MatchesBound gives the same as Matches on a document whose field CommonField() has the
//   bound value. N2  Views in nodes point into the filter's source.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bson/path.h"
#include "base/bson/view.h"
#include "query/expr/expression.h"
#include "query/match/predicate.h"

namespace evenkeel::query {

// What a match leaves behind besides its result.
struct MatchDetails {
  bool want_position = false;
  int64_t position = match::kNoPosition;  // in the array that an update's positional operator means
  absl::Status error;  // the first failure of an expression; the result is false then
};

enum class MatchKind : uint8_t { kAnd, kOr, kNor, kPath, kExpr, kDocument, kConstant };

class MatchNode {
 public:
  explicit MatchNode(MatchKind kind) : kind_(kind) {}
  virtual ~MatchNode() = default;

  virtual bool Matches(bson::View document, MatchDetails& details) const = 0;
  // Requires a CommonField.
  virtual bool MatchesBound(bson::Value first, MatchDetails& details) const = 0;
  // The top-level field that everything below is about; empty when there is none or more than one.
  virtual std::string_view CommonField() const = 0;
  MatchKind kind() const { return kind_; }

 private:
  MatchKind kind_;
};

using MatchNodePtr = std::unique_ptr<MatchNode>;

// One condition on one path, or its negation.
class PathNode final : public MatchNode {
 public:
  PathNode(bson::Path path, PredicatePtr predicate, bool negated)
      : MatchNode(MatchKind::kPath),
        path_(std::move(path)),
        predicate_(std::move(predicate)),
        negated_(negated) {}
  bool Matches(bson::View document, MatchDetails& details) const override;
  bool MatchesBound(bson::Value first, MatchDetails& details) const override;
  std::string_view CommonField() const override { return path_.part(0); }

  const bson::Path& path() const { return path_; }
  const Predicate& predicate() const { return *predicate_; }
  bool negated() const { return negated_; }

 private:
  bson::Path path_;
  PredicatePtr predicate_;
  bool negated_;
};

// $and, $or, $nor.
class LogicalNode final : public MatchNode {
 public:
  LogicalNode(MatchKind kind, std::vector<MatchNodePtr> children);
  bool Matches(bson::View document, MatchDetails& details) const override;
  bool MatchesBound(bson::Value first, MatchDetails& details) const override;
  std::string_view CommonField() const override { return common_field_; }
  const std::vector<MatchNodePtr>& children() const { return children_; }
  // Hands the children to another node; this one must not be used afterwards.
  std::vector<MatchNodePtr> TakeChildren() { return std::move(children_); }

 private:
  template <typename Test>
  bool Combine(MatchDetails& details, Test test) const;
  bool MatchesInOnePass(bson::View document, MatchDetails& details) const;

  std::vector<MatchNodePtr> children_;
  std::string_view common_field_;
  // The children's fields, each once, when one pass over the document can find them all; and each
  // child's place in it.
  std::vector<std::string_view> fields_;
  std::vector<uint8_t> field_of_child_;
};

// $expr.
class ExprNode final : public MatchNode {
 public:
  ExprNode(ExpressionPtr expression, const QueryContext& context)
      : MatchNode(MatchKind::kExpr), expression_(std::move(expression)), evaluation_(context) {}
  bool Matches(bson::View document, MatchDetails& details) const override;
  bool MatchesBound(bson::Value, MatchDetails&) const override { return false; }
  std::string_view CommonField() const override { return {}; }
  const Expression& expression() const { return *expression_; }

 private:
  ExpressionPtr expression_;
  mutable Evaluation evaluation_;  // scratch memory; a filter is used by one thread at a time
};

// A condition on the whole document that no index helps with: $jsonSchema, $sampleRate.
class DocumentNode : public MatchNode {
 public:
  DocumentNode() : MatchNode(MatchKind::kDocument) {}
  bool MatchesBound(bson::Value, MatchDetails&) const override { return false; }
  std::string_view CommonField() const override { return {}; }
};

class ConstantNode final : public MatchNode {
 public:
  explicit ConstantNode(bool result) : MatchNode(MatchKind::kConstant), result_(result) {}
  bool Matches(bson::View, MatchDetails&) const override { return result_; }
  bool MatchesBound(bson::Value, MatchDetails&) const override { return result_; }
  std::string_view CommonField() const override { return {}; }
  bool result() const { return result_; }

 private:
  bool result_;
};

// The node as $and, $or or $nor; null for the other kinds.
inline const LogicalNode* AsLogical(const MatchNode& node) {
  const bool logical = node.kind() == MatchKind::kAnd || node.kind() == MatchKind::kOr ||
                       node.kind() == MatchKind::kNor;
  return logical ? static_cast<const LogicalNode*>(&node) : nullptr;
}

}  // namespace evenkeel::query
