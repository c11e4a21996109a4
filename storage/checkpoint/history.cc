// Implements snapshots and the trimming of history.
#include "storage/checkpoint/history.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace evenkeel::storage {

class OpenSnapshot final : public Snapshot {
 public:
  OpenSnapshot(std::shared_ptr<History> history, Timestamp timestamp)
      : history_(std::move(history)), timestamp_(timestamp) {}
  ~OpenSnapshot() override { history_->Release(timestamp_); }
  Timestamp timestamp() const override { return timestamp_; }

 private:
  const std::shared_ptr<History> history_;
  const Timestamp timestamp_;
};

absl::StatusOr<std::unique_ptr<Snapshot>> History::Open(Timestamp timestamp) {
  absl::MutexLock lock(&mutex_);
  const Timestamp floor = views_->Current()->tables->history_floor;
  if (timestamp < floor) {
    return Error(ErrorCode::kSnapshotTooOld,
                 "snapshot {}.{} is older than the history kept, from {}.{}", timestamp.seconds(),
                 timestamp.increment(), floor.seconds(), floor.increment());
  }
  open_.insert(timestamp);
  return std::make_unique<OpenSnapshot>(shared_from_this(), timestamp);
}

void History::Release(Timestamp timestamp) {
  absl::MutexLock lock(&mutex_);
  open_.erase(open_.find(timestamp));
}

Timestamp History::LowestOpen() const {
  absl::MutexLock lock(&mutex_);
  return open_.empty() ? kTimestampMax : *open_.begin();
}

size_t History::HeldBytes() const {
  size_t bytes = 0;
  const std::shared_ptr<const View> view = views_->Current();
  for (const TableList::Entry& entry : view->tables->entries) {
    if (entry.in_lmdb) bytes += entry.table->held_bytes();
  }
  return bytes;
}

bool History::MayDrop(const TableList& list, absl::Time now) const {
  const TableList::Entry& oldest = list.entries.front();
  if (!oldest.in_lmdb) return false;
  if (HeldBytes() > bytes_max_) return true;
  const Timestamp lowest = open_.empty() ? kTimestampMax : *open_.begin();
  if (lowest < oldest.table->max_timestamp()) return false;
  return since_.empty() || now - since_.front().time > age_max_;
}

void History::Trim(absl::Time now) {
  {
    absl::MutexLock lock(&mutex_);
    for (auto list = views_->Current()->tables; MayDrop(*list, now);
         list = views_->Current()->tables) {
      const Timestamp floor = list->entries.front().table->max_timestamp();
      dropped_.push_back(views_->DropOldest(floor));
      if (!since_.empty()) since_.erase(since_.begin());
    }
  }
  std::erase_if(dropped_,
                [](const std::shared_ptr<MemTable>& table) { return table.use_count() == 1; });
}

}  // namespace evenkeel::storage
