// $group by hashing: whole, or in two halves of which the first runs on every shard.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "query/accum/states.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/expr/arena.h"
#include "query/expr/expression.h"
#include "query/expr/value_hash.h"

namespace evenkeel::query {

// A parsed $group.
struct GroupSpec {
  ExpressionPtr id;
  std::vector<accum::OutputField> fields;
};

enum class GroupPart : uint8_t {
  kWhole,    // documents in, results out
  kPartial,  // documents in, {_id: key, p: [serialized state per field]} out
  kMerge,    // the rows of kPartial in, results out
};

// Groups come out in the order of their first document. `spec` and `context` outlive the operator.
// Limits   holds at most the context's memory; past it 292, or 146 when disk use is allowed.
class GroupOperator final : public Operator {
 public:
  GroupOperator(std::unique_ptr<Operator> input, const GroupSpec& spec, GroupPart part,
                const QueryContext& context);
  ~GroupOperator() override;
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Group {
    bson::Value key;
    char* states;
  };

  absl::Status Take(bson::View document);
  absl::Status TakePartial(bson::View partial);
  // The states of the group with this key, made when it is new.
  absl::StatusOr<char*> FindOrMake(bson::Value key);
  absl::Status InitStates(char* states, bson::Value key);
  void DestroyStates(char* states, size_t count);
  absl::Status CheckMemory();
  bson::Document Result(const Group& group) const;

  std::unique_ptr<Operator> input_;
  const GroupSpec& spec_;
  const GroupPart part_;
  const MemoryBudget budget_;
  Evaluation evaluation_;
  accum::AccumContext accum_context_;
  std::vector<size_t> offsets_;  // of each field's state within a group's
  size_t states_bytes_ = 0;
  EvalArena keys_;
  size_t key_bytes_ = 0;
  absl::flat_hash_map<bson::Value, char*, expr::ValueHash, expr::ValueEqual> table_;
  std::vector<Group> groups_;
  bool complete_ = false;
  size_t next_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query
