// Implements the flush of a memory table.
#include "storage/checkpoint/table_flush.h"

#include <utility>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "storage/checkpoint/commit_gate.h"
#include "storage/lmdb/doc_value.h"

namespace evenkeel::storage {
namespace {

// The counters come last, in the transaction that moves the position.
constexpr Table kBulkTables[] = {Table::kDocs, Table::kIndex, Table::kSessions, Table::kMeta,
                                 Table::kChanges};

}  // namespace

TableFlush::TableFlush(MemTable* table, CheckpointStore* lmdb, const StoreOptions* options,
                       std::function<size_t()> dirty_pages_max, Pace pace)
    : table_(table),
      lmdb_(lmdb),
      options_(options),
      dirty_pages_max_(std::move(dirty_pages_max)),
      pace_(std::move(pace)) {
  for (const Table each : kBulkTables) progress_.keys_total += table_->list(each).count();
}

absl::Status TableFlush::Run(const CheckpointPosition& position) {
  progress_.keys_done = 0;
  for (const Table each : kBulkTables) EVENKEEL_RETURN_IF_ERROR(WriteTable(each));
  return WriteLast(position);
}

absl::Status TableFlush::WriteTable(Table table) {
  for (SkipNode* node = table_->list(table).First(); node != nullptr; node = SkipList::Next(node)) {
    if (writer_ == nullptr) {
      (void)EVENKEEL_FAIL_POINT(storage_checkpoint_before_transaction);
      EVENKEEL_ASSIGN_OR_RETURN(writer_, lmdb_->BeginWrite());
    }
    EVENKEEL_RETURN_IF_ERROR(WriteKey(table, node));
    ++progress_.keys_done;
    if (writer_->DirtyPages() < dirty_pages_max_()) continue;
    EVENKEEL_RETURN_IF_ERROR(Commit());
    (void)EVENKEEL_FAIL_POINT(storage_checkpoint_after_commit);
    if (!pace_(progress_)) return Error(ErrorCode::kShutdownInProgress, "the shard is closing");
  }
  return absl::OkStatus();
}

absl::Status TableFlush::WriteKey(Table table, SkipNode* node) {
  const Version* newest = node->newest();
  if (newest == nullptr) return absl::OkStatus();  // all of it was taken back
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<std::string_view> old,
                            writer_->Get(DatabaseOf(table), node->key()));
  Hang(table, node, old);
  const bool dead = newest->removed() ||
                    (options_->is_dead && options_->is_dead(table, node->key(), newest->value()));
  if (!dead) return PutVersion(table, node->key(), *newest);
  return old.has_value() ? writer_->Remove(DatabaseOf(table), node->key()) : absl::OkStatus();
}

void TableFlush::Hang(Table table, SkipNode* node, std::optional<std::string_view> old) {
  if (!old.has_value()) {
    table_->HangAbsent(node);
  } else if (!KeepsTimestamps(table)) {
    table_->HangOld(node, 0, *old);
  } else {
    if (!DocValueIntact(*old)) {
      ++damaged_;
      base::LogError("storage", "a stored document has a wrong checksum", {{"bytes", old->size()}});
    }
    const DocValue doc = SplitDocValue(*old);
    table_->HangOld(node, doc.commit_timestamp.bits, doc.document);
  }
}

absl::Status TableFlush::PutVersion(Table table, std::string_view key, const Version& version) {
  const std::string_view value = version.value();
  if (!KeepsTimestamps(table)) return writer_->Put(DatabaseOf(table), key, {}, value);
  const auto head = DocHead(Timestamp{version.stamp}, value);
  return writer_->Put(DatabaseOf(table), key, {head.data(), head.size()}, value);
}

absl::Status TableFlush::WriteLast(const CheckpointPosition& position) {
  if (writer_ == nullptr) {
    EVENKEEL_ASSIGN_OR_RETURN(writer_, lmdb_->BeginWrite());
  }
  const SkipList& counters = table_->list(Table::kCounters);
  for (SkipNode* node = counters.First(); node != nullptr; node = SkipList::Next(node)) {
    EVENKEEL_RETURN_IF_ERROR(WriteKey(Table::kCounters, node));
  }
  for (const PendingRemoval& removal : RemovalsOf(*table_)) {
    EVENKEEL_RETURN_IF_ERROR(PutRemoval(writer_.get(), removal));
  }
  EVENKEEL_RETURN_IF_ERROR(PutPosition(writer_.get(), position));
  (void)EVENKEEL_FAIL_POINT(storage_checkpoint_before_position);
  return Commit();
}

absl::Status TableFlush::Commit() {
  (void)EVENKEEL_FAIL_POINT(storage_checkpoint_before_commit);
  const std::unique_ptr<CheckpointWriter> writer = std::move(writer_);
  return CommitAlone(writer.get());
}

}  // namespace evenkeel::storage
