// Opens stores on a log and a checkpoint store in memory, and runs operations written as functions:
// for tests of the engine.
#pragma once

#include <absl/synchronization/notification.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "storage/store.h"
#include "tests/lib/fake_checkpoint_store.h"
#include "tests/lib/fake_shard_log.h"

namespace evenkeel::tests {

// How an operation ended.
struct OpEnd {
  absl::Notification done;
  absl::Status status;
  Timestamp timestamp;
};

// An operation whose body is a function.
class FunctionOp final : public storage::WriteOp {
 public:
  using Body = std::function<void(storage::WriteContext&)>;
  FunctionOp(Body body, std::shared_ptr<OpEnd> end, size_t bytes = 64, bool essential = false)
      : body_(std::move(body)), end_(std::move(end)), bytes_(bytes), essential_(essential) {}

  void Execute(storage::WriteContext& context) override { body_(context); }
  void Finished(const absl::Status& status, Timestamp timestamp) override {
    end_->status = status;
    end_->timestamp = timestamp;
    end_->done.Notify();
  }
  size_t SizeBytes() const override { return bytes_; }
  bool IsEssential() const override { return essential_; }

 private:
  const Body body_;
  const std::shared_ptr<OpEnd> end_;
  const size_t bytes_;
  const bool essential_;
};

// A store and what lies under it; the log and the checkpoint store outlive restarts.
class StoreHarness {
 public:
  explicit StoreHarness(size_t pages_per_change = 1)
      : lmdb(std::make_shared<FakeCheckpointStore>(pages_per_change)) {
    options.checkpoint_store = lmdb;
    options.reserve_bytes = 0;
  }

  absl::Status TryOpen() {
    auto opened = storage::ShardStore::Open(options, &log, &clock);
    if (opened.ok()) store = *std::move(opened);
    return opened.status();
  }
  void Open() { EVENKEEL_CHECK(TryOpen().ok()); }
  // Ends the store at once and loses what is not committed, as a crash does; then opens it again.
  void Crash() {
    store.reset();
    log.DropUncommitted();
    log.Hold(false);
    lmdb->AllowCommits(~uint64_t{0});
    Open();
  }
  void Restart() {
    EVENKEEL_CHECK(store->Close().ok());
    store.reset();
    Open();
  }

  std::shared_ptr<OpEnd> Submit(FunctionOp::Body body, size_t bytes = 64, bool essential = false) {
    auto end = std::make_shared<OpEnd>();
    const absl::Status status =
        store->Submit(std::make_unique<FunctionOp>(std::move(body), end, bytes, essential));
    if (!status.ok()) {
      end->status = status;
      end->done.Notify();
    }
    return end;
  }
  // Runs the operation and waits for its end.
  absl::Status Write(FunctionOp::Body body, size_t bytes = 64, bool essential = false) {
    const auto end = Submit(std::move(body), bytes, essential);
    end->done.WaitForNotification();
    last_timestamp = end->timestamp;
    return end->status;
  }
  // Returns the commit timestamp.
  Timestamp Put(const std::string& key, const std::string& value,
                storage::Table table = storage::Table::kDocs) {
    Timestamp commit;
    EVENKEEL_CHECK(Write([&](storage::WriteContext& context) {
                     context.Put(table, key, value);
                     commit = context.timestamp();
                   }).ok());
    return commit;
  }
  Timestamp Remove(const std::string& key, storage::Table table = storage::Table::kDocs) {
    Timestamp commit;
    EVENKEEL_CHECK(Write([&](storage::WriteContext& context) {
                     context.Remove(table, key);
                     commit = context.timestamp();
                   }).ok());
    return commit;
  }
  absl::Status WaitReadable(Timestamp timestamp) {
    OpEnd end;
    store->WhenReadable(timestamp, [&](absl::Status status) {
      end.status = std::move(status);
      end.done.Notify();
    });
    end.done.WaitForNotification();
    return end.status;
  }
  // The value, or "-" when there is none.
  static std::string Get(const storage::ReadSlice& slice, const std::string& key,
                         storage::Table table = storage::Table::kDocs) {
    const auto record = slice.Get(table, key);
    return record.has_value() ? std::string(record->value) : "-";
  }
  std::string GetLatest(const std::string& key, storage::Table table = storage::Table::kDocs) {
    return Get(store->Read(), key, table);
  }
  // The value at `timestamp`, "-" or the error's name.
  std::string GetAt(Timestamp timestamp, const std::string& key,
                    storage::Table table = storage::Table::kDocs) {
    const auto slice = store->ReadAt(timestamp);
    return slice.ok() ? Get(*slice, key, table) : CodeName(CodeOf(slice.status()));
  }

  base::FakeWallClock wall{absl::FromUnixSeconds(1'700'000'000)};
  base::HybridClock clock{&wall, absl::Seconds(10)};
  FakeShardLog log;
  std::shared_ptr<FakeCheckpointStore> lmdb;
  storage::StoreOptions options;
  std::unique_ptr<storage::ShardStore> store;
  Timestamp last_timestamp;
};

}  // namespace evenkeel::tests
