// Work of a shard that no command asks for: idle cursors, expired rows, orphaned documents.
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/limits.h"
#include "base/status.h"
#include "shard/command/cursor_table.h"
#include "shard/command/orphans.h"
#include "shard/command/service.h"
#include "shard/command/write_task.h"
#include "txn/retry_record.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kRowsPerSlice = 1024;

// Removes rows if they are still there and still dead.
class RemoveExpiredTask final : public WriteTask {
 public:
  RemoveExpiredTask(std::vector<std::string> keys, absl::Time now)
      : keys_(std::move(keys)), now_(now) {}

  void Execute(storage::WriteContext& context) override {
    for (const std::string& key : keys_) {
      const auto row = context.Get(storage::Table::kSessions, key);
      if (!row) continue;
      const auto record = txn::DecodeRetryRecord(row->value);
      if (record.ok() && !txn::IsExpired(*record, now_)) continue;
      context.Remove(storage::Table::kSessions, key);
    }
  }
  size_t SizeBytes() const override { return 64 + keys_.size() * 64; }
  bool IsEssential() const override { return true; }

 private:
  const std::vector<std::string> keys_;
  const absl::Time now_;
};

// Looks at some rows behind `next`, which it moves, and returns the keys of expired ones. `next` is
// empty at the end.
std::vector<std::string> FindExpired(const storage::ReadSlice& slice, absl::Time now,
                                     std::string* next) {
  std::vector<std::string> expired;
  const auto cursor = slice.NewCursor(storage::Table::kSessions);
  cursor->Seek(*next, {});
  next->clear();
  for (size_t i = 0; cursor->Valid(); ++i, cursor->Next()) {
    if (i == kRowsPerSlice) {
      *next = std::string(cursor->key());
      break;
    }
    if (!txn::IsRetryRecordKey(cursor->key())) continue;
    const auto record = txn::DecodeRetryRecord(cursor->record().value);
    if (!record.ok() || txn::IsExpired(*record, now)) expired.emplace_back(cursor->key());
  }
  return expired;
}

}  // namespace

Awaitable<absl::Status> ShardService::RunUpkeep(base::CancellationToken cancelled) {
  const absl::Time now = wall_->Now();
  cursors_->KillIdle(now - kCursorIdleMax);
  transactions_->Forget(now - absl::Minutes(limits::kSessionTimeoutMinutes));
  const auto home = executor_;
  std::string next;
  do {
    if (cancelled.IsCancelled())
      co_return MakeError(ErrorCode::kInterrupted, "operation was interrupted");
    co_await base::SwitchTo(pool_);
    std::vector<std::string> expired = FindExpired(store_->Read(), now, &next);
    co_await base::SwitchTo(home);
    if (expired.empty()) continue;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(
        *this, std::make_shared<RemoveExpiredTask>(std::move(expired), now)));
  } while (!next.empty());
  co_return co_await orphan_removal_->Run(*this, cancelled);
}

}  // namespace evenkeel::shard
