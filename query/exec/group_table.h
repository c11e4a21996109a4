// The groups of a $group in memory: a hash table from keys to the states of the accumulators.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "query/accum/states.h"
#include "query/expr/arena.h"
#include "query/expr/expression.h"
#include "query/expr/value_hash.h"

namespace evenkeel::query {

// A parsed $group.
struct GroupSpec {
  ExpressionPtr id;
  std::vector<accum::OutputField> fields;
};

// Groups stand in the order in which they were made. `spec` and `context` outlive the table.
class GroupTable {
 public:
  GroupTable(const GroupSpec& spec, const QueryContext& context);
  ~GroupTable();
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  // Adds a document to its group. Errors: of the expressions.
  absl::Status Take(bson::View document);
  // Merges what Partial has made.
  absl::Status TakePartial(bson::View partial);
  void Clear();

  size_t size() const { return groups_.size(); }
  size_t HeldBytes() const;
  // Appends {field: bytes}: the most that the states of each field have held.
  void AppendFieldBytes(bson::Builder* out) const;
  // Of a group's key; alike for keys that compare equal.
  uint64_t HashOf(size_t group) const;
  // {_id: key, p: [serialized state per field]}.
  bson::Document Partial(size_t group) const;
  // {_id: key, field: result, …}.
  bson::Document Result(size_t group) const;

 private:
  struct Group {
    bson::Value key;
    char* states;
  };

  // Of all states of one field now.
  size_t FieldBytes(size_t field) const;
  // The states of the group with this key, made when it is new.
  absl::StatusOr<char*> FindOrMake(bson::Value key);
  absl::Status InitStates(char* states, bson::Value key);
  void DestroyStates(char* states, size_t count);

  const GroupSpec& spec_;
  Evaluation evaluation_;
  accum::AccumContext accum_context_;
  std::vector<size_t> offsets_;  // of each field's state within a group's
  size_t states_bytes_ = 0;
  std::vector<size_t> field_bytes_;       // that the states of each field hold beside themselves
  std::vector<size_t> field_bytes_peak_;  // states included, before the last Clear
  EvalArena keys_;
  size_t key_bytes_ = 0;
  absl::flat_hash_map<bson::Value, char*, expr::ValueHash, expr::ValueEqual> table_;
  std::vector<Group> groups_;
};

}  // namespace evenkeel::query
