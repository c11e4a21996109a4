// What the groups of match operators share: their table rows, and the parser they call back.
//
// A group file ends with an array of MatchOp rows and hands it to table.cc; see table.h for the
// list of groups.
//
// Invariants
//   O1  A row without parse functions is a known operator that is not supported; using it is an
//   error that says so. O2  Operands in conditions point into the filter's source.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "base/status.h"
#include "query/context.h"
#include "query/match/node.h"
#include "query/match/predicate.h"

namespace evenkeel::query::match {

// What the operators behind one path say, before it is known whether they go through arrays (a
// path's) or look at one value ($elemMatch's).
struct Condition {
  enum class Kind : uint8_t { kPredicate, kAll, kAny, kNot, kConstant };
  Kind kind = Kind::kAll;
  PredicatePtr predicate;           // kPredicate
  std::vector<Condition> children;  // kAll, kAny; one for kNot
  bool constant = true;             // kConstant

  static Condition Of(PredicatePtr predicate);
  static Condition Not(Condition inner);
  static Condition Always(bool result);
};

class Parser;

// Where an operator may stand.
enum class Place : uint8_t {
  kTop,    // {$op: …} beside field names
  kField,  // {field: {$op: …}}
};

// One use of an operator behind a field.
struct FieldUse {
  std::string_view name;  // the operator as written
  bson::Value operand;
  bson::View siblings;  // the object of operators that it stands in
};

struct MatchOp {
  std::string_view name;
  Place place;
  // Either may be null. A result without a node or condition (kAll without children) adds nothing.
  absl::StatusOr<MatchNodePtr> (*parse_top)(Parser& parser, bson::Value operand) = nullptr;
  absl::StatusOr<Condition> (*parse_field)(Parser& parser, const FieldUse& use) = nullptr;
  std::string_view spec;   // page of the manual
  std::string_view tests;  // feature of the conformance cases
};

// Parses one filter. Lives as long as the parsing does.
class Parser {
 public:
  explicit Parser(const QueryContext& context) : context_(context) {}

  const QueryContext& context() const { return context_; }
  // A filter document: field conditions and top-level operators, all of which must hold.
  // Errors: BadValue for unknown operators, and each operator's own.
  absl::StatusOr<MatchNodePtr> ParseFilter(bson::View filter);
  // The same for documents inside the one that is queried: $expr may not stand there.
  absl::StatusOr<MatchNodePtr> ParseNestedFilter(bson::View filter);
  bool is_nested() const { return nested_; }
  // An object of operators behind a field ({$gt: 1, $lt: 5}): all must hold.
  absl::StatusOr<Condition> ParseOperators(bson::View operators);
  // Equality with `operand`, or a search for it when it is a regular expression.
  absl::StatusOr<Condition> ParseImplicit(bson::Value operand);

 private:
  absl::StatusOr<MatchNodePtr> ParseTopLevel(const bson::Element& element);
  absl::StatusOr<MatchNodePtr> ParseField(const bson::Element& element);

  const QueryContext& context_;
  bool nested_ = false;
};

// True for {$gt: …}: an object whose first field is an operator, not a DBRef's.
bool IsOperatorObject(bson::Value value);
// The node for a condition behind a path.
MatchNodePtr MakeNode(std::string_view path, Condition condition);
// The predicate for a condition on one value.
PredicatePtr MakePredicate(Condition condition);
// A node that holds when all of `children` do; the child itself when there is one.
MatchNodePtr MakeAnd(std::vector<MatchNodePtr> children);

// BadValue with fmt's formatting.
template <typename... Args>
absl::Status Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCode::kBadValue, format, std::forward<Args>(args)...);
}

// True when rows are sorted by name, start with '$' and have their pages set.
constexpr bool RowsAreInOrder(std::span<const MatchOp> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].name.empty() || rows[i].name[0] != '$' || rows[i].spec.empty()) return false;
    if (i > 0 && !(rows[i - 1].name < rows[i].name)) return false;
  }
  return true;
}

}  // namespace evenkeel::query::match
