// Implements the writer's queue.
#include "storage/write/write_queue.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kBookkeepingBytes = 128;

}  // namespace

size_t PendingBytesOf(const WriteOp& op) { return op.SizeBytes() + kBookkeepingBytes; }

absl::Status WriteQueue::Submit(std::unique_ptr<WriteOp> op) {
  const size_t bytes = PendingBytesOf(*op);
  absl::MutexLock lock(&mutex_);
  if (closed_) return Error(ErrorCode::kShutdownInProgress, "the shard is closing");
  // An operation larger than the bound may still run alone. What frees others is never refused.
  const size_t pending = pending_bytes();
  if (pending > 0 && pending + bytes > pending_bytes_max_ && !op->IsEssential()) {
    return Error(ErrorCode::kExceededTimeLimit, "too many writes are waiting: {} bytes", pending);
  }
  pending_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  ops_.push_back(std::move(op));
  work_.Signal();
  return absl::OkStatus();
}

uint64_t WriteQueue::RequestFreeze() {
  absl::MutexLock lock(&mutex_);
  work_.Signal();
  return ++freeze_requests_;
}

void WriteQueue::RequestClockBound(Timestamp bound) {
  absl::MutexLock lock(&mutex_);
  clock_bound_ = std::max(clock_bound_, bound);
  work_.Signal();
}

bool WriteQueue::Take(size_t bytes_max, Work* work) {
  *work = Work{};
  absl::MutexLock lock(&mutex_);
  while (!HasWork() && !closed_) work_.Wait(&mutex_);
  if (!HasWork()) return false;
  while (!ops_.empty()) {
    const size_t bytes = ops_.front()->SizeBytes();
    if (!work->ops.empty() && work->bytes + bytes > bytes_max) break;
    work->bytes += bytes;
    work->ops.push_back(std::move(ops_.front()));
    ops_.pop_front();
  }
  // A freeze covers everything submitted before it was asked for.
  if (ops_.empty() && freeze_requests_ > freeze_taken_) {
    work->freeze = freeze_taken_ = freeze_requests_;
  }
  work->clock_bound = std::exchange(clock_bound_, Timestamp{});
  return true;
}

bool WriteQueue::IsEmpty() {
  absl::MutexLock lock(&mutex_);
  return !HasWork();
}

void WriteQueue::WaitUntilClosed(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&closed_), timeout);
}

void WriteQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  work_.SignalAll();
}

std::vector<std::unique_ptr<WriteOp>> WriteQueue::Abort() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  freeze_taken_ = freeze_requests_;
  clock_bound_ = Timestamp{};
  work_.SignalAll();
  std::vector<std::unique_ptr<WriteOp>> dropped;
  for (std::unique_ptr<WriteOp>& op : ops_) dropped.push_back(std::move(op));
  ops_.clear();
  return dropped;
}

}  // namespace evenkeel::storage
