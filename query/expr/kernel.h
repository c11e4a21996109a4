// What every operator of expressions shares: table rows, argument parsing, null rules, type
// helpers.
//
// A group file ends with an array of ExprOp rows; table.cc joins the groups. Parse functions build
// nodes once per query; eval functions work on evaluated arguments and are called for each
// document.
//
// Invariants
//   K1  An eval function keeps nothing; its result points into its arguments, the arena, the state
//   or constants. K2  A row without `parse` is a known operator that is not supported; using it is
//   an error that says so.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/number.h"
#include "base/bson/view.h"
#include "base/status.h"
#include "query/expr/expression.h"
#include "query/match/type_names.h"

namespace evenkeel::query::expr {

// MongoDB's number for an unknown operator in an expression or accumulator.
inline constexpr ErrorCode kInvalidPipelineOperator = Location(168);

// How many arguments an operator takes.
struct Arity {
  int min = 0;
  int max = -1;  // -1: any number

  static constexpr Arity Exactly(int n) { return {n, n}; }
  static constexpr Arity AtLeast(int n) { return {n, -1}; }
  static constexpr Arity Between(int low, int high) { return {low, high}; }
};

// What a null, undefined or missing argument does.
enum class Nulls : uint8_t {
  kPass,       // eval sees it
  kPropagate,  // the result is null and eval is not called
};

// An operator's own state, made once per query by its `prepare` function (a compiled pattern, a set
// of constants).
class OpState {
 public:
  virtual ~OpState() = default;
};

struct ExprOp;

// One application of an operator to evaluated arguments.
struct Call {
  const ExprOp& op;
  std::span<const bson::Value> args;
  Evaluation& evaluation;
  const OpState* state;                        // null when the operator has none
  std::span<const ExpressionPtr> expressions;  // null: a named argument that was not given

  EvalArena& arena() const { return evaluation.arena(); }
  // True when the query names this argument, even if it has no value for this document.
  bool Given(size_t arg) const { return expressions[arg] != nullptr; }
  // Given, and null or without a value.
  bool GivenNull(size_t arg) const { return Given(arg) && args[arg].IsNullish(); }
  // The value of a lazy argument; missing when it was not given.
  absl::StatusOr<bson::Value> EvaluateLazy(size_t arg) const {
    if (!Given(arg)) return bson::Value();
    return expressions[arg]->Evaluate(evaluation);
  }
};

// One argument given by name: {$op: {name: …}}.
struct NamedArg {
  std::string_view name;
  bool required = false;
  ErrorCode missing = ErrorCode::kFailedToParse;  // when a required one is not given
  bool lazy = false;  // evaluated by eval, where it is needed (onError); missing in Call::args
};

using ParseFn = absl::StatusOr<ExpressionPtr> (*)(const ExprOp& op, bson::Value args,
                                                  ParseScope& scope);
using EvalFn = absl::StatusOr<bson::Value> (*)(const Call& call);
// `constants` has a value for each argument that is constant (missing when it was not given),
// nothing for the others. May return null.
using PrepareFn = absl::StatusOr<std::unique_ptr<OpState>> (*)(
    std::span<const std::optional<bson::Value>> constants, const QueryContext& context);

// One row of the table of expression operators.
struct ExprOp {
  std::string_view name;
  Arity arity;  // for ParseArguments
  Nulls nulls = Nulls::kPass;
  bool pure = true;         // the same arguments give the same result: may be folded
  ParseFn parse = nullptr;  // null: known, not supported
  EvalFn eval = nullptr;
  PrepareFn prepare = nullptr;
  std::span<const NamedArg> named = {};              // for ParseNamed
  ErrorCode not_object = ErrorCode::kFailedToParse;  // ParseNamed: the argument is no object
  ErrorCode unknown_name =
      ErrorCode::kFailedToParse;  // ParseNamed: a field that `named` does not have
  std::string_view spec;          // page of the manual
  std::string_view tests;         // feature of the conformance cases
};

// Parses {$op: x} and {$op: [x, y, …]} by `op.arity`. Errors: 16020, 28667 for a wrong number of
// arguments.
absl::StatusOr<ExpressionPtr> ParseArguments(const ExprOp& op, bson::Value args, ParseScope& scope);
// Parses {$op: {name: x, …}} by `op.named`; an argument that is not given is missing for eval,
// which can tell by Call::Given.
absl::StatusOr<ExpressionPtr> ParseNamed(const ExprOp& op, bson::Value args, ParseScope& scope);
// Parses the arguments of {$op: [x, y, …]} or {$op: x} for operators that make their own node.
absl::StatusOr<std::vector<ExpressionPtr>> ParseArgumentList(const ExprOp& op, bson::Value args,
                                                             ParseScope& scope);
// The node that applies `op.eval` to `args`; a constant when all of them are constant (its error
// then is returned here).
absl::StatusOr<ExpressionPtr> MakeOperator(const ExprOp& op, std::vector<ExpressionPtr> args,
                                           const QueryContext& context);
// A node that always gives `value`, which is copied. A missing value is $$REMOVE.
ExpressionPtr MakeConstant(bson::Value value);
// The constant that `node` always gives, in its place. Requires that it reads no document,
// variables or random numbers.
absl::StatusOr<ExpressionPtr> Fold(ExpressionPtr node, const QueryContext& context);
// True when every expression is constant; null pointers count as constant.
bool AllConstant(std::span<const ExpressionPtr> expressions);

// MongoDB's name of a type as $type gives it: "int", "string", "missing", …
inline std::string_view TypeName(bson::Type type) { return TypeAlias(type); }

// The integer that a number argument means, when it is one exactly and fits into 32 bits.
std::optional<int32_t> Int32Of(bson::Value value);

// The same decimal with the other sign.
inline bson::Decimal128Bits Negate(bson::Decimal128Bits bits) {
  bits.high ^= uint64_t{1} << 63;
  return bits;
}

// TypeMismatch-like error with `code`: "$op only supports numeric types, not string".
absl::Status WrongType(const Call& call, ErrorCode code, std::string_view wanted,
                       bson::Value value);

}  // namespace evenkeel::query::expr
