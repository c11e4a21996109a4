// One update operator at one path, compiled: from the old value of a field it computes the new one.
//
// Pure given the old value and the context of the application; results point into the old value,
// the operand or the arena.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "query/context.h"
#include "query/expr/arena.h"

namespace evenkeel::query::update {

// What one application of an update to one document has at hand.
struct ApplyContext {
  const QueryContext& query;
  EvalArena& arena;
  bson::View document;             // before the update
  bool inserting = false;          // an upsert builds a new document
  int64_t position = -1;           // of the positional operator; negative: none
  std::vector<bson::Value> moved;  // per $rename its source's value, missing when there is none
};

class Modifier {
 public:
  explicit Modifier(std::string path) : path_(std::move(path)) {}
  virtual ~Modifier() = default;

  // The field's new value; `old` itself when nothing changes, missing to remove the field. `old` is
  // missing when the field is. Errors: each operator's, naming the path.
  virtual absl::StatusOr<bson::Value> Apply(bson::Value old, ApplyContext& context) const = 0;
  // False when the modifier has nothing to do in this application, and must not touch its path.
  virtual bool IsActive(const ApplyContext&) const { return true; }
  // True when a missing field, and the documents on the way to it, are made.
  virtual bool Creates() const = 0;
  // True when a path that cannot exist (through a number, say) is simply not there; otherwise it is
  // an error.
  virtual bool AllowsBlockedPath() const { return false; }

  // The path as the update names it, for messages.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using ModifierPtr = std::unique_ptr<Modifier>;

}  // namespace evenkeel::query::update
