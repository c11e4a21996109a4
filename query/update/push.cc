// The update operator $push with its modifiers $each $position $slice $sort.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/type_names.h"
#include "query/plan/sort_pattern.h"
#include "query/update/table.h"

namespace evenkeel::query::update {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

struct PushOptions {
  std::vector<Value> values;
  std::optional<int64_t> position;  // from the end when negative
  std::optional<int64_t> slice;     // the last ones when negative
  std::optional<bool> ascending;    // of whole elements
  SortPattern pattern;              // by fields; empty if none
};

class PushModifier final : public Modifier {
 public:
  PushModifier(std::string path, PushOptions options)
      : Modifier(std::move(path)), options_(std::move(options)) {}

  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const override {
    std::vector<Value> elements;
    if (old.Is(Type::kArray)) {
      for (const Element& element : old.AsDocument()) elements.push_back(element.value);
    } else if (!old.missing()) {
      return Bad("The field '{}' must be an array but is of type {} in document {{_id: {}}}",
                 path(), TypeAlias(old.type()), bson::ToDisplay(context.document["_id"]));
    }
    const auto size = static_cast<int64_t>(elements.size());
    int64_t at = options_.position.value_or(size);
    if (at < 0) at = std::max<int64_t>(0, size + at);
    elements.insert(elements.begin() + std::min(at, size), options_.values.begin(),
                    options_.values.end());
    Sort(&elements, context.query.collation);
    Slice(&elements);
    ArenaBuilder builder(context.arena, Type::kArray);
    for (const Value element : elements) builder.Add(element);
    return builder.Finish();
  }
  bool Creates() const override { return true; }

 private:
  void Sort(std::vector<Value>* elements, const bson::StringComparator* collation) const {
    if (options_.ascending) {
      std::stable_sort(elements->begin(), elements->end(), [&](Value a, Value b) {
        const int order = bson::Compare(a, b, collation);
        return *options_.ascending ? order < 0 : order > 0;
      });
    } else if (!options_.pattern.empty()) {
      // Elements that are no documents have none of the fields.
      const auto fields = [](Value v) { return v.Is(Type::kObject) ? v.AsDocument() : View(); };
      std::stable_sort(elements->begin(), elements->end(), [&](Value a, Value b) {
        return options_.pattern.CompareDocuments(fields(a), fields(b), collation) < 0;
      });
    }
  }

  void Slice(std::vector<Value>* elements) const {
    if (!options_.slice) return;
    const auto size = static_cast<int64_t>(elements->size());
    if (*options_.slice >= 0) {
      elements->resize(static_cast<size_t>(std::min(size, *options_.slice)));
    } else if (size > 0 && *options_.slice > -size) {
      elements->erase(elements->begin(), elements->begin() + (size + *options_.slice));
    }
  }

  PushOptions options_;
};

absl::StatusOr<int64_t> IntegerOption(const Element& option) {
  if (option.value.IsNumber()) {
    if (const std::optional<int64_t> number = bson::ToInt64Exact(option.value)) return *number;
  }
  return Bad("The value for {} must be an integer value but was given: {}", option.key,
             bson::ToDisplay(option.value));
}

absl::Status ReadSort(const Element& option, PushOptions* options) {
  if (option.value.IsNumber()) {
    const std::optional<int64_t> direction = bson::ToInt64Exact(option.value);
    if (direction != 1 && direction != -1) {
      return Bad("The $sort element value must be either 1 or -1, found {}",
                 bson::ToDisplay(option.value));
    }
    options->ascending = *direction == 1;
    return absl::OkStatus();
  }
  if (!option.value.Is(Type::kObject)) {
    return Bad(
        "The $sort is invalid: use 1/-1 to sort the whole element, or {{field:1/-1}} to sort "
        "embedded fields");
  }
  if (option.value.AsDocument().empty()) {
    return Bad("The $sort pattern is empty when it should be a set of fields.");
  }
  absl::StatusOr<SortPattern> pattern = SortPattern::Parse(option.value.AsDocument());
  if (!pattern.ok()) return Bad("The $sort is invalid: {}", MessageOf(pattern.status()));
  options->pattern = *std::move(pattern);
  return absl::OkStatus();
}

absl::StatusOr<PushOptions> ReadOptions(View operand) {
  PushOptions options;
  for (const Element& option : operand) {
    if (option.key == "$each") {
      if (!option.value.Is(Type::kArray)) {
        return Bad("The argument to $each in $push must be an array but it was of type: {}",
                   TypeAlias(option.value.type()));
      }
      for (const Element& element : option.value.AsDocument())
        options.values.push_back(element.value);
    } else if (option.key == "$position") {
      EVENKEEL_ASSIGN_OR_RETURN(options.position, IntegerOption(option));
    } else if (option.key == "$slice") {
      EVENKEEL_ASSIGN_OR_RETURN(options.slice, IntegerOption(option));
    } else if (option.key == "$sort") {
      EVENKEEL_RETURN_IF_ERROR(ReadSort(option, &options));
    } else {
      return Bad("Unrecognized clause in $push: {}", option.key);
    }
  }
  return options;
}

absl::Status ParsePush(Parse& parse, const Element& field) {
  const bool has_options =
      field.value.Is(Type::kObject) && field.value.AsDocument().Contains("$each");
  PushOptions options;
  if (has_options) {
    EVENKEEL_ASSIGN_OR_RETURN(options, ReadOptions(field.value.AsDocument()));
  } else {
    options.values.push_back(field.value);
  }
  return AddModifier<PushModifier>(parse, field.key, std::move(options));
}

constexpr UpdateOp kPushOps[] = {
    {.name = "$push",
     .parse = ParsePush,
     .spec = "operator/update/push",
     .tests = "update/array/push"},
};
static_assert(RowsAreInOrder(kPushOps));

}  // namespace

std::span<const UpdateOp> PushOps() { return kPushOps; }

}  // namespace evenkeel::query::update
