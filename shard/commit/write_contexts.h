// What a write sees on the writer thread while there are transactions.
//
// A plain write must keep off keys that a transaction holds; a transaction's write goes into its
// own layer instead of the tables. Both are the store's WriteContext to the code that executes
// statements, which therefore knows nothing of transactions but Claim.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shard/commit/intents.h"
#include "shard/commit/transaction.h"
#include "storage/store.h"

namespace evenkeel::shard {

// The error of a write that meets a transaction's key, as MongoDB words it.
absl::Status WriteConflict();

// Passes everything on.
class ForwardingContext : public storage::WriteContext {
 public:
  explicit ForwardingContext(storage::WriteContext& base) : base_(base) {}
  Timestamp timestamp() override { return base_.timestamp(); }
  void NextUnit() override { base_.NextUnit(); }
  void NextUnitAt(Timestamp timestamp) override { base_.NextUnitAt(timestamp); }
  std::optional<storage::Record> Get(storage::Table table, std::string_view key) override {
    return base_.Get(table, key);
  }
  std::unique_ptr<storage::Cursor> NewCursor(storage::Table table) override {
    return base_.NewCursor(table);
  }
  void Put(storage::Table table, std::string_view key, std::string_view value) override {
    base_.Put(table, key, value);
  }
  void Remove(storage::Table table, std::string_view key) override { base_.Remove(table, key); }
  void AddToCounter(std::string_view key, storage::Count delta) override {
    base_.AddToCounter(key, delta);
  }
  storage::Count Counter(std::string_view key) override { return base_.Counter(key); }
  void RemoveRange(storage::Table table, const storage::TableRange& range) override {
    base_.RemoveRange(table, range);
  }
  bool ChangedSince(storage::Table table, std::string_view key, Timestamp snapshot) override {
    return base_.ChangedSince(table, key, snapshot);
  }
  size_t Mark() const override { return base_.Mark(); }
  void RollBackTo(size_t mark) override { base_.RollBackTo(mark); }
  const std::shared_ptr<const storage::PublishedState>& state() const override {
    return base_.state();
  }
  void SetState(std::shared_ptr<const storage::PublishedState> state) override {
    base_.SetState(std::move(state));
  }

 protected:
  storage::WriteContext& base_;
};

// A plain write's.
class PlainContext final : public ForwardingContext {
 public:
  PlainContext(storage::WriteContext& base, Intents* intents)
      : ForwardingContext(base), intents_(intents) {}
  absl::Status Claim(storage::Table table, std::string_view key) override;
  // A document on which a transaction is prepared is neither there nor gone: it is waited for.
  std::optional<storage::Record> Get(storage::Table table, std::string_view key) override;

  // Who holds a key that was claimed; null: nobody. The write is taken back and done again when it
  // is off its keys.
  const std::shared_ptr<Transaction>& blocker() const { return blocker_; }
  // Its place in the line for that key.
  Intents::Place TakePlace() { return std::move(place_); }

 private:
  absl::Status BlockOn(std::shared_ptr<Transaction> holder, storage::Table table,
                       std::string_view key);

  Intents* const intents_;
  std::shared_ptr<Transaction> blocker_;
  Intents::Place place_;
};

// A transaction's: effects and counters go into it, claims are kept by it. Flags of indexes are
// nobody's and go to the tables at once; so a catalog that says "array" may say so for nothing.
class LayerContext final : public ForwardingContext {
 public:
  LayerContext(storage::WriteContext& base, Intents* intents,
               std::shared_ptr<Transaction> transaction)
      : ForwardingContext(base), intents_(intents), transaction_(std::move(transaction)) {}

  absl::Status Claim(storage::Table table, std::string_view key) override;
  std::optional<storage::Record> Get(storage::Table table, std::string_view key) override;
  std::unique_ptr<storage::Cursor> NewCursor(storage::Table table) override;
  void Put(storage::Table table, std::string_view key, std::string_view value) override;
  void Remove(storage::Table table, std::string_view key) override;
  void AddToCounter(std::string_view key, storage::Count delta) override;
  size_t Mark() const override;
  void RollBackTo(size_t mark) override;

  // True when something that the statement needs was changed after the snapshot, or is held by an
  // open transaction: the transaction has to start again.
  bool conflict() const { return conflict_; }
  // The prepared transaction that holds a claimed key: its end is waited for.
  const std::shared_ptr<Transaction>& blocker() const { return blocker_; }

 private:
  struct Place {
    size_t effects, counters;
  };
  absl::Status Conflict();
  bool RangeChanged(storage::Table table, std::string_view prefix);
  void NoteCollection(std::string_view doc_key);

  Intents* const intents_;
  const std::shared_ptr<Transaction> transaction_;
  mutable std::vector<Place> marks_;
  bool conflict_ = false;
  std::shared_ptr<Transaction> blocker_;
};

// Puts everything that a transaction has done into the tables, under the unit that has begun.
void Install(storage::WriteContext& context, const Transaction& transaction);
// Errors: SnapshotUnavailable when a collection that it has written has changed since, or is closed
// for writes.
absl::Status CheckCollections(storage::WriteContext& context, const Transaction& transaction);

}  // namespace evenkeel::shard
