// Runs and their merging.
#include "query/exec/sorter.h"

#include <algorithm>

#include "base/status.h"

namespace evenkeel::query {
namespace {

// Runs that are merged at once: each holds a block.
constexpr size_t kRunsMax = 64;

}  // namespace

size_t KeyedRow::SizeBytes() const {
  return sizeof(KeyedRow) + sizeof(bson::Document) + key.SizeBytes() + row.view.SizeBytes();
}

Sorter::Sorter(const QueryContext& context, std::string_view operator_name, size_t budget_bytes,
               Compare compare, std::optional<int64_t> limit)
    : context_(context),
      budget_(context, operator_name, budget_bytes),
      compare_(std::move(compare)),
      limit_(limit) {}

bool Sorter::Less(const Entry& a, const Entry& b) const {
  const int order = compare_(a.keyed.key, b.keyed.key);
  return order != 0 ? order < 0 : a.sequence < b.sequence;
}

const KeyedRow* Sorter::Last() const {
  return limit_ && !entries_.empty() && entries_.size() == wanted() ? &entries_.front().keyed
                                                                    : nullptr;
}

absl::Status Sorter::Add(bson::Document key, Row row) {
  const auto less = [this](const Entry& a, const Entry& b) { return Less(a, b); };
  if (wanted() == 0) return absl::OkStatus();
  Entry entry{{std::move(key), std::move(row)}, arrived_++};
  if (entries_.size() == wanted()) {
    if (!Less(entry, entries_.front())) return absl::OkStatus();
    std::pop_heap(entries_.begin(), entries_.end(), less);
    held_bytes_ -= entries_.back().keyed.SizeBytes();
    entries_.pop_back();
    --count_;
  }
  entry.keyed.row.MakeOwned();
  const size_t size_bytes = entry.keyed.SizeBytes();
  held_bytes_ += size_bytes;
  kept_bytes_ += static_cast<int64_t>(size_bytes);
  ++count_;
  entries_.push_back(std::move(entry));
  if (limit_) std::push_heap(entries_.begin(), entries_.end(), less);
  if (!budget_.Exceeded(held_bytes_)) return absl::OkStatus();
  return budget_.MaySpill(held_bytes_) ? Spill() : budget_.Refuse();
}

void Sorter::SortEntries() {
  std::sort(entries_.begin(), entries_.end(),
            [this](const Entry& a, const Entry& b) { return Less(a, b); });
}

absl::Status Sorter::Spill() {
  if (entries_.empty()) return absl::OkStatus();
  if (!file_) {
    EVENKEEL_ASSIGN_OR_RETURN(file_, context_.spill->NewFile());
  }
  ++spills_;
  SortEntries();
  SpillWriter writer(*file_);
  for (Entry& entry : entries_) {
    const bson::View record[] = {entry.keyed.key, entry.keyed.row.view};
    EVENKEEL_RETURN_IF_ERROR(writer.Add(record));
  }
  EVENKEEL_ASSIGN_OR_RETURN(SpillRun run, writer.Finish());
  runs_.push_back({std::move(run)});
  entries_.clear();
  held_bytes_ = 0;
  (void)budget_.Exceeded(0);
  // The newest runs of one level are neighbours, so merging them keeps the order of arrival.
  const int level = runs_.back().level;
  size_t first = runs_.size();
  while (first > 0 && runs_[first - 1].level == level) --first;
  return runs_.size() - first < kRunsMax ? absl::OkStatus() : MergeRuns(first);
}

absl::Status Sorter::OpenRuns(size_t first) {
  sources_.clear();
  heap_.clear();
  for (size_t i = first; i < runs_.size(); ++i) {
    auto source = std::make_unique<Source>(Source{{*file_, std::move(runs_[i].rows), true}, {}});
    EVENKEEL_ASSIGN_OR_RETURN(const bool any, source->reader.Next(source->record));
    if (any) heap_.push_back(sources_.size());
    sources_.push_back(std::move(source));
  }
  runs_.resize(first);
  std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return After(a, b); });
  return absl::OkStatus();
}

bool Sorter::After(size_t a, size_t b) const {
  const int order = compare_(sources_[a]->record[0], sources_[b]->record[0]);
  return order != 0 ? order > 0 : a > b;
}

absl::StatusOr<bool> Sorter::NextMerged(const Visit& visit) {
  if (heap_.empty()) return false;
  const auto after = [this](size_t a, size_t b) { return After(a, b); };
  std::pop_heap(heap_.begin(), heap_.end(), after);
  Source& source = *sources_[heap_.back()];
  EVENKEEL_RETURN_IF_ERROR(visit(source.record));
  EVENKEEL_ASSIGN_OR_RETURN(const bool more, source.reader.Next(source.record));
  if (more) {
    std::push_heap(heap_.begin(), heap_.end(), after);
  } else {
    sources_[heap_.back()] = nullptr;  // frees its block
    heap_.pop_back();
  }
  return true;
}

absl::Status Sorter::MergeRuns(size_t first) {
  const int level = runs_.back().level + 1;
  EVENKEEL_RETURN_IF_ERROR(OpenRuns(first));
  SpillWriter writer(*file_);
  const Visit write = [&writer](std::span<const bson::View> record) { return writer.Add(record); };
  for (size_t count = 0; count < wanted(); ++count) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool more, NextMerged(write));
    if (!more) break;
  }
  sources_.clear();
  heap_.clear();
  EVENKEEL_ASSIGN_OR_RETURN(SpillRun run, writer.Finish());
  runs_.push_back({std::move(run), level});
  return absl::OkStatus();
}

absl::Status Sorter::Finish() {
  finished_ = true;
  if (limit_) count_ = std::min(count_, *limit_);
  if (!file_) {
    SortEntries();
    return absl::OkStatus();
  }
  EVENKEEL_RETURN_IF_ERROR(Spill());
  while (runs_.size() > kRunsMax) EVENKEEL_RETURN_IF_ERROR(MergeRuns(runs_.size() - kRunsMax));
  return OpenRuns(0);
}

absl::StatusOr<bool> Sorter::Next(KeyedRow* out) {
  if (file_) {
    if (given_ == count_) return false;
    ++given_;
    return NextMerged([out](std::span<const bson::View> record) {
      out->key = bson::Document(record[0]);
      out->row = Row::Own(bson::Document(record[1]));
      return absl::OkStatus();
    });
  }
  if (next_ == entries_.size()) return false;
  *out = std::move(entries_[next_++].keyed);
  held_bytes_ -= out->SizeBytes();
  (void)budget_.Exceeded(held_bytes_);
  return true;
}

}  // namespace evenkeel::query
