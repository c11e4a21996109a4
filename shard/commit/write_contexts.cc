// Claims, and the layer of a transaction.
#include "shard/commit/write_contexts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "shard/commit/retry_rows.h"
#include "shard/commit/shard_state.h"
#include "storage/keys/key_encoding.h"
#include "storage/read/overlay.h"

namespace evenkeel::shard {
namespace {

using storage::Table;

}  // namespace

absl::Status WriteConflict() {
  return MakeError(ErrorCode::kWriteConflict,
                   "Caused by :: Write conflict during plan execution and yielding is disabled. :: "
                   "Please retry your operation or multi-document transaction.");
}

absl::Status PlainContext::Claim(Table table, std::string_view key) {
  const auto& holder = intents_->Holder(table, key);
  return holder == nullptr ? absl::OkStatus() : BlockOn(holder, table, key);
}

absl::Status PlainContext::BlockOn(std::shared_ptr<Transaction> holder, Table table,
                                   std::string_view key) {
  blocker_ = std::move(holder);
  place_ = intents_->WaitFor(table, key);
  return WriteConflict();
}

std::optional<storage::Record> PlainContext::Get(Table table, std::string_view key) {
  if (table == Table::kDocs) {
    const auto& holder = intents_->Holder(table, key);
    if (holder != nullptr && holder->state == TransactionState::kPrepared)
      (void)BlockOn(holder, table, key);
  }
  return base_.Get(table, key);
}

absl::Status LayerContext::Conflict() {
  conflict_ = true;
  return WriteConflict();
}

bool LayerContext::RangeChanged(Table table, std::string_view prefix) {
  const auto cursor = base_.NewCursor(table);
  for (cursor->SeekPrefix(prefix); cursor->Valid(); cursor->Next()) {
    if (cursor->record().commit_timestamp > transaction_->read_at()) return true;
  }
  return false;
}

absl::Status LayerContext::Claim(Table table, std::string_view key) {
  if (const auto& holder = intents_->Holder(table, key); holder == transaction_) {
    return absl::OkStatus();
  } else if (holder != nullptr) {
    if (holder->state != TransactionState::kPrepared) return Conflict();
    blocker_ = holder;
    return WriteConflict();
  }
  if (intents_->IsWaitedFor(table, key)) return Conflict();
  const bool changed = table == Table::kIndex
                           ? RangeChanged(table, key)
                           : base_.ChangedSince(table, key, transaction_->read_at());
  if (changed && !EVENKEEL_FAIL_POINT(txn_plant_no_conflict)) return Conflict();
  intents_->Take(transaction_, table, key);
  return absl::OkStatus();
}

std::optional<storage::Record> LayerContext::Get(Table table, std::string_view key) {
  if (const auto* effect = transaction_->done.effects.Find(table, key)) return effect->record();
  if (table != Table::kDocs) return base_.Get(table, key);
  const auto& holder = intents_->Holder(table, key);
  if (holder != nullptr && holder != transaction_ && holder->state == TransactionState::kPrepared) {
    blocker_ = holder;
  } else if (base_.ChangedSince(table, key, transaction_->read_at()) &&
             !EVENKEEL_FAIL_POINT(txn_plant_no_conflict)) {
    conflict_ = true;
  }
  return base_.Get(table, key);
}

std::unique_ptr<storage::Cursor> LayerContext::NewCursor(Table table) {
  return storage::NewOverlayCursor(base_.NewCursor(table), &transaction_->done.effects, table);
}

void LayerContext::NoteCollection(std::string_view doc_key) {
  auto& written = transaction_->done.collections;
  const CollectionId id = storage::CollectionOfDocKey(doc_key);
  const auto known = std::find_if(written.begin(), written.end(),
                                  [id](const auto& pair) { return pair.first == id; });
  if (known != written.end()) return;
  const auto entry = CatalogOf(base_).Find(id);
  EVENKEEL_CHECK(entry != nullptr);
  written.emplace_back(id, entry->version);
}

void LayerContext::Put(Table table, std::string_view key, std::string_view value) {
  if (table == Table::kMeta) return base_.Put(table, key, value);
  if (table == Table::kDocs) NoteCollection(key);
  transaction_->done.effects.Put(table, key, value);
}

void LayerContext::Remove(Table table, std::string_view key) {
  if (table == Table::kDocs) NoteCollection(key);
  transaction_->done.effects.Remove(table, key);
}

void LayerContext::AddToCounter(std::string_view key, storage::Count delta) {
  transaction_->done.counters.emplace_back(key, delta);
}

size_t LayerContext::Mark() const {
  marks_.push_back({transaction_->done.effects.Mark(), transaction_->done.counters.size()});
  return marks_.size() - 1;
}

void LayerContext::RollBackTo(size_t mark) {
  transaction_->done.effects.RollBackTo(marks_[mark].effects);
  transaction_->done.counters.resize(marks_[mark].counters);
}

void Install(storage::WriteContext& context, const Transaction& transaction) {
  for (size_t i = 0; i < storage::kTableCount; ++i) {
    const auto table = static_cast<Table>(i);
    for (const auto& [key, effect] : transaction.done.effects.effects(table)) {
      if (effect.value && table == Table::kSessions) {
        PutRetryRow(context, key, *effect.value);
      } else if (effect.value) {
        context.Put(table, key, *effect.value);
      } else {
        context.Remove(table, key);
      }
    }
  }
  for (const auto& [key, delta] : transaction.done.counters) context.AddToCounter(key, delta);
}

absl::Status CheckCollections(storage::WriteContext& context, const Transaction& transaction) {
  for (const auto& [id, version] : transaction.done.collections) {
    const auto entry = CatalogOf(context).Find(id);
    if (entry != nullptr && entry->version == version && !entry->writes_closed) continue;
    return Error(ErrorCode::kSnapshotUnavailable,
                 "collection {} has changed since the transaction wrote to it", id.value);
  }
  return absl::OkStatus();
}

}  // namespace evenkeel::shard
