// Accumulators: what $group computes per group, and what later serves window functions.
//
// A row of the table describes one accumulator by the size of its state and functions over it.
// States lie in memory of the caller, many side by side; partial results travel between processes
// as BSON values.
//
// Invariants
//   A1  Merging the serialized states of any split of the input gives what adding all of it gives,
//   where the order of
//       input does not matter to the accumulator; else the parts are merged in order.
//   A2  A row without `init` is known and not supported.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/view.h"
#include "base/status.h"
#include "query/expr/expression.h"

namespace evenkeel::query::accum {

struct AccumOp;

// The state of an accumulator over a window that moves: values leave in the order in which they
// came. Functions of fewer operations than adding all values again have one.
class Sliding {
 public:
  virtual ~Sliding() = default;
  virtual void Add(bson::Value value) = 0;
  // `value` was added before.
  virtual void Remove(bson::Value value) = 0;
  virtual void Finish(bson::Builder& builder, std::string_view key) const = 0;
};
// `argument` as for AccumOp::init, which has accepted it.
using SlidingFn = std::unique_ptr<Sliding> (*)(bson::Value argument,
                                               const bson::StringComparator* collation);

// One accumulator of a $group, parsed.
struct AccumSpec {
  const AccumOp* op = nullptr;
  ExpressionPtr input;     // evaluated per document
  ExpressionPtr argument;  // evaluated once per group with the group's key as $$ROOT (n of
                           // $firstN); may be null
};

// What the functions get besides the state.
struct AccumContext {
  const bson::StringComparator* collation = nullptr;
  size_t memory_bytes =
      0;  // held by all states beyond their own size; functions add what they take
};

// Where an accumulator may be used.
enum class AccumPlace : uint8_t { kGroup, kWindow, kBoth };

using ParseFn = absl::StatusOr<AccumSpec> (*)(const AccumOp& op, bson::Value args,
                                              ParseScope& scope);

// One row of the table. Sources: "Accumulators" and "Window operators" in the manual.
struct AccumOp {
  std::string_view name;
  AccumPlace place = AccumPlace::kBoth;
  bool ordered = false;  // the order of the input matters
  ParseFn parse = nullptr;
  SlidingFn sliding = nullptr;  // null: windows that lose rows are computed anew
  size_t state_bytes = 0;
  // Makes a state at `at`, aligned to 16. `argument` is the value of the spec's argument, missing
  // without one.
  absl::Status (*init)(void* at, bson::Value argument) = nullptr;
  absl::Status (*add)(void* state, bson::Value value, AccumContext& context) = nullptr;
  // Adds what `serialize` wrote for another state.
  absl::Status (*merge)(void* state, bson::Value partial, AccumContext& context) = nullptr;
  void (*serialize)(const void* state, bson::Builder& builder, std::string_view key) = nullptr;
  // Appends the result; null where there is no value.
  void (*finish)(const void* state, bson::Builder& builder, std::string_view key) = nullptr;
  void (*destroy)(void* state) = nullptr;
  std::string_view spec;
  std::string_view tests;
};

inline constexpr size_t kStateAlignment = 16;

// Parses {$op: expression}. Errors: 40237 for an array of arguments.
absl::StatusOr<AccumSpec> ParseUnary(const AccumOp& op, bson::Value args, ParseScope& scope);

// Makes the functions of a row from a state class:
//   absl::Status Init(bson::Value argument)        optional
//   absl::Status Add(bson::Value, AccumContext&)
//   absl::Status Merge(bson::Value partial, AccumContext&)
//   void Serialize(bson::Builder&, std::string_view key) const
//   void Finish(bson::Builder&, std::string_view key) const
template <typename State>
constexpr AccumOp Row(AccumOp row) {
  static_assert(alignof(State) <= kStateAlignment);
  row.state_bytes = sizeof(State);
  row.init = [](void* at, [[maybe_unused]] bson::Value argument) -> absl::Status {
    [[maybe_unused]] auto* state = new (at) State();
    if constexpr (requires { state->Init(argument); }) {
      return state->Init(argument);
    } else {
      return absl::OkStatus();
    }
  };
  row.add = [](void* state, bson::Value value, AccumContext& context) {
    return static_cast<State*>(state)->Add(value, context);
  };
  // Functions of windows only have no partial results.
  if constexpr (requires(const State* state, bson::Builder& builder) {
                  state->Serialize(builder, std::string_view());
                }) {
    row.merge = [](void* state, bson::Value partial, AccumContext& context) {
      return static_cast<State*>(state)->Merge(partial, context);
    };
    row.serialize = [](const void* state, bson::Builder& builder, std::string_view key) {
      static_cast<const State*>(state)->Serialize(builder, key);
    };
  }
  row.finish = [](const void* state, bson::Builder& builder, std::string_view key) {
    static_cast<const State*>(state)->Finish(builder, key);
  };
  row.destroy = [](void* state) { static_cast<State*>(state)->~State(); };
  return row;
}

// The row of a known accumulator that is not supported yet.
constexpr AccumOp Unsupported(std::string_view name, AccumPlace place, std::string_view spec,
                              std::string_view tests) {
  return {.name = name, .place = place, .spec = spec, .tests = tests};
}

}  // namespace evenkeel::query::accum
