// $first, $firstN, $last, $lastN, $push, $concatArrays: what depends on the order of the input.
#include <deque>

#include "base/bson/document.h"
#include "query/accum/groups.h"
#include "query/accum/parse_n.h"
#include "query/accum/value_list.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::accum {
namespace {

struct FirstState {
  bool seen = false;
  bson::OwnedValue value;

  absl::Status Add(bson::Value next, AccumContext& context) {
    if (seen) return absl::OkStatus();
    seen = true;
    context.memory_bytes += next.SizeBytes();
    value = bson::OwnedValue(next);
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) { return Add(partial, context); }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    if (value.value().missing()) {
      builder.AppendNull(key);
    } else {
      builder.Append(key, value);
    }
  }
};

struct LastState : FirstState {
  absl::Status Add(bson::Value next, AccumContext& context) {
    context.memory_bytes += next.SizeBytes() - value.value().SizeBytes();
    value = bson::OwnedValue(next);
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) { return Add(partial, context); }
};

// The first n values; a missing one counts as null.
struct FirstNState {
  size_t n = 0;
  ValueList values;

  absl::Status Init(bson::Value argument) { return ReadN(argument, &n); }
  absl::Status Add(bson::Value value, AccumContext& context) {
    if (values.count() < n) values.Append(value, context);
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    for (const bson::Element& element : partial.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Add(element.value, context));
    }
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    values.AppendArray(builder, key);
  }
};

struct LastNState {
  size_t n = 0;
  std::deque<bson::OwnedValue> values;

  absl::Status Init(bson::Value argument) { return ReadN(argument, &n); }
  absl::Status Add(bson::Value value, AccumContext& context) {
    context.memory_bytes += sizeof(bson::OwnedValue) + value.SizeBytes();
    values.emplace_back(value.missing() ? NullValue() : value);
    if (values.size() > n) {
      context.memory_bytes -= sizeof(bson::OwnedValue) + values.front().value().SizeBytes();
      values.pop_front();
    }
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    for (const bson::Element& element : partial.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Add(element.value, context));
    }
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (const bson::OwnedValue& value : values) array.Add(value);
    builder.Close();
  }
};

// All values; missing ones are left out.
struct PushState {
  ValueList values;

  absl::Status Add(bson::Value value, AccumContext& context) {
    if (!value.missing()) values.Append(value, context);
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    for (const bson::Element& element : partial.AsDocument()) values.Append(element.value, context);
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    values.AppendArray(builder, key);
  }
};

struct ConcatArraysState : PushState {
  absl::Status Add(bson::Value value, AccumContext& context) {
    if (value.missing()) return absl::OkStatus();
    if (!value.Is(bson::Type::kArray)) {
      return Error(ErrorCode::kTypeMismatch, "$concatArrays requires array inputs, but input is {}",
                   expr::TypeName(value.type()));
    }
    return Merge(value, context);
  }
};

constexpr AccumOp kRows[] = {
    Row<ConcatArraysState>({.name = "$concatArrays",
                            .ordered = true,
                            .parse = ParseUnary,
                            .spec = "operator/aggregation/concatArrays",
                            .tests = "accumulators/concatArrays"}),
    Row<FirstState>({.name = "$first",
                     .ordered = true,
                     .parse = ParseUnary,
                     .spec = "operator/aggregation/first",
                     .tests = "accumulators/first"}),
    Row<FirstNState>({.name = "$firstN",
                      .ordered = true,
                      .parse = ParseWithN,
                      .spec = "operator/aggregation/firstN",
                      .tests = "accumulators/firstN"}),
    Row<LastState>({.name = "$last",
                    .ordered = true,
                    .parse = ParseUnary,
                    .spec = "operator/aggregation/last",
                    .tests = "accumulators/last"}),
    Row<LastNState>({.name = "$lastN",
                     .ordered = true,
                     .parse = ParseWithN,
                     .spec = "operator/aggregation/lastN",
                     .tests = "accumulators/lastN"}),
    Row<PushState>({.name = "$push",
                    .ordered = true,
                    .parse = ParseUnary,
                    .spec = "operator/aggregation/push",
                    .tests = "accumulators/push"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> FirstLastOps() { return kRows; }

}  // namespace evenkeel::query::accum
