// $group by hashing: whole, or in two halves of which the first runs on every shard.
//
// Past its memory a first half passes on what it has and begins anew: the second half merges it.
// Others write their groups to disk, parted by the hash of the key, and treat one part after the
// other in the end.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "query/exec/group_table.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/spill/spill_file.h"

namespace evenkeel::query {

enum class GroupPart : uint8_t {
  kWhole,    // documents in, results out
  kPartial,  // documents in, {_id: key, p: [serialized state per field]} out
  kMerge,    // the rows of kPartial in, results out
};

// Groups come out in the order of their first document, unless they were on disk. `spec` and
// `context` outlive the operator. Errors: of the expressions, BSONObjectTooLarge for a partial
// group that no message can carry. Limits   the context's memory for groups; past it disk, or 292
// and 146, as for a single group that is too large.
class GroupOperator final : public Operator {
 public:
  GroupOperator(std::unique_ptr<Operator> input, const GroupSpec& spec, GroupPart part,
                const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;
  void AppendStats(bson::Builder* out) const override;

 private:
  // Groups on disk that a hash has put together.
  struct Part {
    SpillRun groups;
    int level = 0;  // how often they were parted
  };

  // One batch of the input.
  absl::StatusOr<Step> TakeInput();
  // Parts what is in memory by the bits of the hash that `level` stands for. Refuses where that
  // gives no room.
  absl::Status MakeRoom(int level);
  absl::Status WriteParts(int level);
  // After the last row of a level: what is in memory is to be given, or parts wait in parts_.
  absl::Status EndLevel(int level);
  // Reads the next part into memory; parts it again when it is too large.
  absl::Status ReadPart();
  absl::Status Emit(Batch* out);
  bool Exceeded() const { return budget_.Exceeded(table_.HeldBytes()); }

  std::unique_ptr<Operator> input_;
  const GroupPart part_;
  const QueryContext& context_;
  const MemoryBudget budget_;
  GroupTable table_;
  bool input_ended_ = false;
  bool emitting_ = false;  // the groups from next_ on are to be given
  size_t next_ = 0;
  int64_t spills_ = 0;
  int64_t output_bytes_ = 0;
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillWriter> writers_;  // one per part under way; empty while nothing was spilled
  std::vector<Part> parts_;
  Batch batch_;
};

}  // namespace evenkeel::query
