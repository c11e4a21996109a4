// Keeps cursors by unguessable ids.
#include "shard/command/cursor_table.h"

#include <utility>

#include "base/limits.h"
#include "base/random.h"
#include "base/status.h"

namespace evenkeel::shard {

absl::StatusOr<CursorId> CursorTable::Add(std::unique_ptr<ReadCursor> cursor, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (slots_.size() >= limits::kCursorsMax) {
    return Error(ErrorCode::kExceededMemoryLimit, "more than {} cursors are open",
                 limits::kCursorsMax);
  }
  while (true) {
    const CursorId id{static_cast<int64_t>(base::GlobalRandom64() >> 1)};
    if (id.value == 0 || slots_.contains(id)) continue;
    slots_[id] = {std::move(cursor), now, false};
    return id;
  }
}

absl::StatusOr<std::unique_ptr<ReadCursor>> CursorTable::CheckOut(CursorId id) {
  absl::MutexLock lock(&mutex_);
  auto found = slots_.find(id);
  if (found == slots_.end() || found->second.killed) {
    return Error(ErrorCode::kCursorNotFound, "cursor id {} not found", id.value);
  }
  if (found->second.cursor == nullptr)
    return Error(ErrorCode::kCursorInUse, "cursor id {} is in use", id.value);
  return std::move(found->second.cursor);
}

void CursorTable::CheckIn(CursorId id, std::unique_ptr<ReadCursor> cursor, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  auto found = slots_.find(id);
  if (found == slots_.end()) return;
  if (found->second.killed) {
    slots_.erase(found);
    return;
  }
  found->second.cursor = std::move(cursor);
  found->second.used = now;
}

void CursorTable::Remove(CursorId id) {
  absl::MutexLock lock(&mutex_);
  slots_.erase(id);
}

bool CursorTable::Kill(CursorId id) {
  absl::MutexLock lock(&mutex_);
  auto found = slots_.find(id);
  if (found == slots_.end() || found->second.killed) return false;
  if (found->second.cursor == nullptr) {
    found->second.killed = true;
  } else {
    slots_.erase(found);
  }
  return true;
}

size_t CursorTable::KillIdle(absl::Time before) {
  absl::MutexLock lock(&mutex_);
  size_t count = 0;
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    const bool idle = slot->second.cursor != nullptr && slot->second.used < before;
    count += idle;
    if (idle) {
      slots_.erase(slot++);
    } else {
      ++slot;
    }
  }
  return count;
}

size_t CursorTable::size() const {
  absl::MutexLock lock(&mutex_);
  return slots_.size();
}

}  // namespace evenkeel::shard
