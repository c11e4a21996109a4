// $mergeObjects; and $accumulator, which would need server-side JavaScript.
#include <algorithm>
#include <vector>

#include "base/bson/document.h"
#include "query/accum/groups.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::accum {
namespace {

// Fields of later objects replace those of earlier ones in their place.
struct MergeObjectsState {
  struct Field {
    std::string name;
    bson::OwnedValue value;
  };
  std::vector<Field> fields;

  absl::Status Add(bson::Value object, AccumContext& context) {
    if (object.IsNullish()) return absl::OkStatus();
    if (!object.Is(bson::Type::kObject)) {
      return Error(Location(5911200), "$mergeObjects only supports objects, but input is {}",
                   expr::TypeName(object.type()));
    }
    for (const auto& [key, value] : object.AsDocument()) {
      const auto same = std::find_if(fields.begin(), fields.end(),
                                     [name = key](const Field& f) { return f.name == name; });
      if (same != fields.end()) {
        context.memory_bytes += value.SizeBytes() - same->value.value().SizeBytes();
        same->value = bson::OwnedValue(value);
      } else {
        context.memory_bytes += sizeof(Field) + key.size() + value.SizeBytes();
        fields.push_back({std::string(key), bson::OwnedValue(value)});
      }
    }
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) { return Add(partial, context); }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    builder.OpenDocument(key);
    for (const Field& field : fields) builder.Append(field.name, field.value);
    builder.Close();
  }
};

constexpr AccumOp kRows[] = {
    Unsupported("$accumulator", AccumPlace::kGroup, "operator/aggregation/accumulator",
                "expressions/custom/operator_accumulator"),
    Row<MergeObjectsState>({.name = "$mergeObjects",
                            .ordered = true,
                            .parse = ParseUnary,
                            .spec = "operator/aggregation/mergeObjects",
                            .tests = "accumulators/mergeObjects"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> ObjectOps() { return kRows; }

}  // namespace evenkeel::query::accum
