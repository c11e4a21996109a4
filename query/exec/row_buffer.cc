// Rows in memory until there are too many, then all of them in one run.
#include "query/exec/row_buffer.h"

#include "base/status.h"

namespace evenkeel::query {

absl::Status RowBuffer::Append(Row row) {
  ++count_;
  row.MakeOwned();
  held_bytes_ += sizeof(Row) + sizeof(bson::Document) + row.view.SizeBytes();
  rows_.push_back(std::move(row));
  if (!budget_.Exceeded(held_bytes_)) return absl::OkStatus();
  return budget_.MaySpill(held_bytes_) ? Spill() : budget_.Refuse();
}

absl::Status RowBuffer::Spill() {
  if (!file_) {
    EVENKEEL_ASSIGN_OR_RETURN(file_, context_->spill->NewFile());
    writer_.emplace(*file_);
  }
  for (const Row& row : rows_) {
    EVENKEEL_RETURN_IF_ERROR(writer_->Add(std::span<const bson::View>(&row.view, 1)));
  }
  rows_.clear();
  held_bytes_ = 0;
  (void)budget_.Exceeded(0);
  return absl::OkStatus();
}

absl::Status RowBuffer::Finish() {
  if (!writer_) return absl::OkStatus();
  EVENKEEL_ASSIGN_OR_RETURN(run_, writer_->Finish());
  writer_.reset();
  return absl::OkStatus();
}

RowBuffer::Reader::Reader(const RowBuffer& buffer) : buffer_(buffer) {
  if (buffer_.file_) spilled_.emplace(*buffer_.file_, buffer_.run_, false);
}

absl::StatusOr<std::optional<bson::View>> RowBuffer::Reader::Next() {
  if (spilled_) {
    bson::View row;
    EVENKEEL_ASSIGN_OR_RETURN(const bool more, spilled_->Next(std::span<bson::View>(&row, 1)));
    if (more) return row;
    spilled_.reset();
  }
  if (next_ == buffer_.rows_.size()) return std::nullopt;
  return buffer_.rows_[next_++].view;
}

}  // namespace evenkeel::query
