// Walks all fields of an index through a document at once.
#include "shard/command/index_values.h"

#include <absl/container/inlined_vector.h>

#include <utility>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

// How far one field has been followed.
struct Step {
  bson::Value value;
  size_t at = 0;      // the next part of the path
  bool done = false;  // `value` is the field's value
};
using Steps = absl::InlinedVector<Step, 4>;

class Walk {
 public:
  Walk(const catalog::IndexEntry& index, IndexValues* out) : index_(index), out_(out) {}

  // Goes on from `steps` until every field has its value. Depth: bounded by the longest path.
  absl::Status Expand(Steps steps) {
    const bson::Value array = FollowAll(&steps);
    if (!parallel_.ok()) return parallel_;
    if (array.missing()) return Emit(steps);
    out_->array = true;
    const bson::View elements = array.AsDocument();
    if (elements.empty()) return Emit(AtEmptyArray(std::move(steps), array));
    for (const auto& [key, element] : elements) {
      EVENKEEL_RETURN_IF_ERROR(Expand(AtElement(steps, array, element)));
    }
    return absl::OkStatus();
  }

 private:
  const bson::Path& path(size_t field) const { return index_.fields[field].path; }

  // Follows each field until it has its value or stands at an array. Returns that array, missing if
  // none was met.
  bson::Value FollowAll(Steps* steps) {
    bson::Value array;
    size_t holder = 0;
    for (size_t i = 0; i < steps->size(); ++i) {
      Step& step = (*steps)[i];
      if (step.done) continue;
      Follow(path(i), &step);
      if (step.done) continue;
      if (array.missing()) {
        array = step.value;
        holder = i;
      } else if (array.data() != step.value.data()) {
        parallel_ =
            Error(ErrorCode::kCannotBuildIndexKeys, "cannot index parallel arrays [{}] [{}]",
                  path(i).dotted(), path(holder).dotted());
      }
    }
    return array;
  }

  // To the value, or to the first array that has to be expanded.
  static void Follow(const bson::Path& path, Step* step) {
    while (true) {
      const bool at_end = step->at == path.size();
      if (step->value.Is(bson::Type::kArray)) {
        // A number may address one element.
        if (at_end || !bson::IsArrayIndex(path.part(step->at))) return;
        const bson::Value element = step->value.AsDocument()[path.part(step->at)];
        if (element.missing()) return;
        step->value = element;
      } else if (at_end) {
        step->done = true;
        return;
      } else {
        step->value = step->value.Is(bson::Type::kObject)
                          ? step->value.AsDocument()[path.part(step->at)]
                          : bson::Value();
        if (step->value.missing()) {
          step->done = true;
          return;
        }
      }
      ++step->at;
    }
  }

  // An empty array is "undefined" for a field that ends there, nothing for one that goes on.
  Steps AtEmptyArray(Steps steps, bson::Value array) const {
    for (size_t i = 0; i < steps.size(); ++i) {
      Step& step = steps[i];
      if (step.done || step.value.data() != array.data()) continue;
      step.value =
          step.at == path(i).size() ? bson::Value(bson::Type::kUndefined, nullptr) : bson::Value();
      step.done = true;
    }
    return steps;
  }

  // The fields that stand at the array go on at one of its elements. An array directly inside an
  // array is one value, and has no fields.
  Steps AtElement(const Steps& before, bson::Value array, bson::Value element) const {
    Steps steps = before;
    for (size_t i = 0; i < steps.size(); ++i) {
      Step& step = steps[i];
      if (step.done || step.value.data() != array.data()) continue;
      const bool at_end = step.at == path(i).size();
      step.value = at_end || element.Is(bson::Type::kObject) ? element : bson::Value();
      step.done = at_end || !element.Is(bson::Type::kObject);
    }
    return steps;
  }

  absl::Status Emit(const Steps& steps) {
    if (out_->values.size() >= kIndexTuplesMax * index_.fields.size()) {
      return Error(ErrorCode::kCannotBuildIndexKeys,
                   "index '{}' would get more than {} records for one document", index_.name,
                   kIndexTuplesMax);
    }
    for (const Step& step : steps) out_->values.push_back(step.value);
    return absl::OkStatus();
  }

  const catalog::IndexEntry& index_;
  IndexValues* const out_;
  absl::Status parallel_;
};

absl::Status CheckNoArray(bson::View document, const bson::Path& path) {
  bson::Value value(bson::Type::kObject, document.data());
  for (size_t i = 0; i < path.size() && value.Is(bson::Type::kObject); ++i) {
    value = value.AsDocument()[path.part(i)];
  }
  if (!value.Is(bson::Type::kArray)) return absl::OkStatus();
  return Error(Location(16766), "hashed indexes do not support array values: field '{}'",
               path.dotted());
}

}  // namespace

absl::StatusOr<IndexValues> IndexValuesOf(const catalog::IndexEntry& index, bson::View document) {
  Steps steps;
  for (const catalog::IndexField& field : index.fields) {
    if (field.hashed) EVENKEEL_RETURN_IF_ERROR(CheckNoArray(document, field.path));
    steps.push_back({bson::Value(bson::Type::kObject, document.data())});
  }
  IndexValues out;
  EVENKEEL_RETURN_IF_ERROR(Walk(index, &out).Expand(std::move(steps)));
  return out;
}

}  // namespace evenkeel::shard
