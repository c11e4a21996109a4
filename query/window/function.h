// What every window function shares: the table's rows, parsing, results.
//
// A function gives one value per row of a partition. Accumulators are window functions too
// (query/window/accumulated.cc); the rows here are those that only windows have.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/status.h"
#include "query/expr/expression.h"
#include "query/window/bounds.h"
#include "query/window/partition.h"

namespace evenkeel::query::window {

class WindowFunction {
 public:
  virtual ~WindowFunction() = default;
  // One value per row, null where there is none. Errors: of expressions and unfit values, 292 past
  // the memory limit.
  virtual absl::StatusOr<std::vector<bson::OwnedValue>> Compute(
      const Partition& partition) const = 0;
};
using FunctionPtr = std::unique_ptr<WindowFunction>;

// One use of a function: {name: args, window: …} under the stage's sort pattern.
struct FunctionCall {
  std::string_view name;
  bson::Value args;
  bson::Value window;  // missing if none
  const SortPattern& sort;
  ParseScope& scope;
};

using ParseFn = absl::StatusOr<FunctionPtr> (*)(const FunctionCall& call);

// One row of the table of functions that only windows have.
struct WindowOp {
  std::string_view name;
  ParseFn parse = nullptr;
  std::string_view spec;
  std::string_view tests;
};

// An accumulator over frames. Errors: 15952 for an unknown name, and those of its argument.
absl::StatusOr<FunctionPtr> ParseAccumulated(const FunctionCall& call);

// {$op: …, window: …}. Errors: FailedToParse unless there is one operator and nothing else.
absl::StatusOr<FunctionPtr> ParseFunction(bson::Value spec, const SortPattern& sort,
                                          ParseScope& scope);

// The arguments by name. Errors: FailedToParse for no object and for fields not in `names`.
absl::Status CheckArguments(const FunctionCall& call, std::span<const std::string_view> names);
// Errors: `code` when the stage is not sorted by exactly one field.
absl::Status RequireOneSortField(const FunctionCall& call, ErrorCode code);
// Errors: FailedToParse when there is a window.
absl::Status RefuseWindow(const FunctionCall& call);

// The groups of rows; table.cc joins them.
std::span<const WindowOp> FillFunctions();
std::span<const WindowOp> RankFunctions();
std::span<const WindowOp> SeriesFunctions();

}  // namespace evenkeel::query::window
