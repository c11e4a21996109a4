// Implements slices.
#include "storage/read/read_slice.h"

#include <utility>

#include "base/status.h"
#include "storage/read/merge_cursor.h"
#include "storage/read/overlay.h"
#include "storage/read/resolve.h"

namespace evenkeel::storage {

absl::StatusOr<ReadSlice> ReadSlice::Impl::Make(const ViewPublisher& views, CheckpointStore* lmdb,
                                                std::optional<Timestamp> timestamp) {
  std::shared_ptr<const View> view = views.Current();
  while (true) {
    if (timestamp.has_value() && *timestamp < view->tables->history_floor) {
      return Error(ErrorCode::kSnapshotTooOld,
                   "read at {}.{} is older than the history kept, from {}.{}", timestamp->seconds(),
                   timestamp->increment(), view->tables->history_floor.seconds(),
                   view->tables->history_floor.increment());
    }
    EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<CheckpointReader> reader, lmdb->BeginRead());
    std::shared_ptr<const View> now = views.Current();
    if (now->tables == view->tables) {
      return ReadSlice(std::make_unique<Impl>(std::move(view), std::move(reader), timestamp));
    }
    view = std::move(now);
  }
}

ReadSlice::Impl::Impl(std::shared_ptr<const View> view, std::unique_ptr<CheckpointReader> reader,
                      std::optional<Timestamp> timestamp)
    : view_(std::move(view)),
      reader_(std::move(reader)),
      timestamp_(timestamp.value_or(view_->latest)),
      tables_(timestamp.has_value() ? TablesForSnapshot(*view_->tables, *timestamp)
                                    : TablesForLatest(*view_->tables)) {}

std::optional<Record> ReadSlice::Impl::Get(Table table, std::string_view key) const {
  const Resolved resolved = ResolveKey(tables_, table, key, BoundOf(table));
  if (resolved.found == Found::kRecord) return resolved.record;
  if (resolved.found == Found::kRemoved) return std::nullopt;
  const std::optional<std::string_view> value = reader_->Get(DatabaseOf(table), key);
  if (!value.has_value()) return std::nullopt;
  return RecordOfLmdb(table, *value);
}

std::unique_ptr<Cursor> ReadSlice::Impl::NewCursor(Table table) const {
  return std::make_unique<MergeCursor>(tables_, reader_.get(), table, BoundOf(table), false);
}

ReadSlice::ReadSlice(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReadSlice::ReadSlice(ReadSlice&&) noexcept = default;
ReadSlice& ReadSlice::operator=(ReadSlice&&) noexcept = default;
ReadSlice::~ReadSlice() = default;

Timestamp ReadSlice::timestamp() const { return impl_->timestamp(); }
const PublishedState* ReadSlice::state() const { return impl_->view().state.get(); }
std::optional<Record> ReadSlice::Get(Table table, std::string_view key) const {
  if (overlay_ != nullptr) {
    if (const Overlay::Effect* effect = overlay_->Find(table, key)) return effect->record();
  }
  return impl_->Get(table, key);
}
std::unique_ptr<Cursor> ReadSlice::NewCursor(Table table) const {
  auto cursor = impl_->NewCursor(table);
  if (overlay_ == nullptr || overlay_->effects(table).empty()) return cursor;
  return NewOverlayCursor(std::move(cursor), overlay_, table);
}
Count ReadSlice::Counter(std::string_view key) const {
  const std::optional<Record> record = impl_->Get(Table::kCounters, key);
  return record.has_value() ? DecodeCount(record->value) : Count{};
}

}  // namespace evenkeel::storage
