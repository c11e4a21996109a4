// Making room when the groups outgrow the memory.
#include "query/exec/group.h"

#include "base/limits.h"
#include "base/status.h"
#include "query/exec/measured.h"

namespace evenkeel::query {
namespace {

// Parts per level, and levels: parts of the last are 16^8 times smaller than the whole.
constexpr int kPartBits = 4;
constexpr size_t kPartCount = 1 << kPartBits;
constexpr int kLevelsMax = 8;

}  // namespace

GroupOperator::GroupOperator(std::unique_ptr<Operator> input, const GroupSpec& spec, GroupPart part,
                             const QueryContext& context)
    : input_(std::move(input)),
      part_(part),
      context_(context),
      budget_(context, "$group", context.memory.group),
      table_(spec, context) {}

absl::Status GroupOperator::MakeRoom(int level) {
  // One group does not get smaller on disk, nor do keys whose hashes are alike.
  if (table_.size() < 2 || level == kLevelsMax || !budget_.MaySpill(table_.HeldBytes())) {
    return budget_.Refuse();
  }
  return WriteParts(level);
}

absl::Status GroupOperator::WriteParts(int level) {
  ++spills_;
  if (!file_) {
    EVENKEEL_ASSIGN_OR_RETURN(file_, context_.spill->NewFile());
  }
  while (writers_.size() < kPartCount) writers_.emplace_back(*file_);
  for (size_t i = 0; i < table_.size(); ++i) {
    const size_t part = (table_.HashOf(i) >> (level * kPartBits)) % kPartCount;
    const bson::Document partial = table_.Partial(i);
    const bson::View record[] = {partial};
    EVENKEEL_RETURN_IF_ERROR(writers_[part].Add(record));
  }
  table_.Clear();
  (void)budget_.Exceeded(0);
  return absl::OkStatus();
}

absl::Status GroupOperator::EndLevel(int level) {
  emitting_ = writers_.empty();
  if (emitting_) return absl::OkStatus();
  EVENKEEL_RETURN_IF_ERROR(WriteParts(level));
  for (SpillWriter& writer : writers_) {
    EVENKEEL_ASSIGN_OR_RETURN(SpillRun run, writer.Finish());
    if (run.count > 0) parts_.push_back({std::move(run), level + 1});
  }
  writers_.clear();
  return absl::OkStatus();
}

absl::StatusOr<Step> GroupOperator::TakeInput() {
  batch_.clear();
  EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
  for (const Row& row : batch_) {
    EVENKEEL_RETURN_IF_ERROR(part_ == GroupPart::kMerge ? table_.TakePartial(row.view)
                                                        : table_.Take(row.view));
    if (!Exceeded()) continue;
    if (part_ == GroupPart::kPartial) {
      emitting_ = true;
    } else {
      EVENKEEL_RETURN_IF_ERROR(MakeRoom(0));
    }
  }
  input_ended_ = step == Step::kEnd;
  if (input_ended_) EVENKEEL_RETURN_IF_ERROR(EndLevel(0));
  return step;
}

absl::Status GroupOperator::ReadPart() {
  Part part = std::move(parts_.back());
  parts_.pop_back();
  SpillReader reader(*file_, std::move(part.groups), true);
  bson::View record[1];
  for (;;) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool more, reader.Next(record));
    if (!more) return EndLevel(part.level);
    EVENKEEL_RETURN_IF_ERROR(table_.TakePartial(record[0]));
    if (Exceeded()) EVENKEEL_RETURN_IF_ERROR(MakeRoom(part.level));
  }
}

absl::Status GroupOperator::Emit(Batch* out) {
  for (size_t count = 0; count < kBatchRows && next_ < table_.size(); ++count, ++next_) {
    const bool partial = part_ == GroupPart::kPartial;
    bson::Document group = partial ? table_.Partial(next_) : table_.Result(next_);
    if (partial && group.SizeBytes() > static_cast<size_t>(limits::kInternalDocumentBytesMax)) {
      return Error(ErrorCode::kBSONObjectTooLarge, "a group of $group takes {} bytes",
                   group.SizeBytes());
    }
    output_bytes_ += static_cast<int64_t>(group.SizeBytes());
    out->push_back(Row::Own(std::move(group)));
  }
  return absl::OkStatus();
}

void GroupOperator::AppendStats(bson::Builder* out) const {
  out->OpenDocument("maxAccumulatorMemoryUsageBytes");
  table_.AppendFieldBytes(out);
  out->Close().Append("totalOutputDataSizeBytes", output_bytes_);
  AppendSpilling(spills_, file_.get(), out);
}

absl::StatusOr<Step> GroupOperator::Pull(Batch* out) {
  for (;;) {
    if (next_ < table_.size() && emitting_) {
      EVENKEEL_RETURN_IF_ERROR(Emit(out));
      return Step::kRows;
    }
    if (emitting_) {
      emitting_ = false;
      next_ = 0;
      table_.Clear();
    } else if (!input_ended_) {
      EVENKEEL_ASSIGN_OR_RETURN(const Step step, TakeInput());
      if (step == Step::kNeedInput && !emitting_) return step;
    } else if (!parts_.empty()) {
      EVENKEEL_RETURN_IF_ERROR(ReadPart());
    } else {
      return Step::kEnd;
    }
  }
}

}  // namespace evenkeel::query
