// Who holds which key: every open transaction holds the documents and unique values that it has
// written.
//
// The writer thread's alone.
//
// Invariants
//   I1  A key has one holder at most, from its first write until its transaction's outcome is in
//   the memory table.
//   I2  While a plain write waits for a key, no transaction takes it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"
#include "shard/commit/transaction.h"
#include "storage/table.h"

namespace evenkeel::shard {

class Intents {
 public:
  // Kept by a plain write while it waits for a key.
  using Place = std::shared_ptr<const void>;

  bool empty() const { return holders_.empty(); }
  // Null: nobody.
  const std::shared_ptr<Transaction>& Holder(storage::Table table, std::string_view key) const;
  // Requires that nobody else holds it. It is added to the transaction's claims.
  void Take(const std::shared_ptr<Transaction>& transaction, storage::Table table,
            std::string_view key);
  // Takes the claims of a transaction that was prepared before a restart.
  void TakeAgain(const std::shared_ptr<Transaction>& transaction);
  // Gives all its keys back.
  void Release(const Transaction& transaction);

  // Waits in line for a key until the place is dropped.
  Place WaitFor(storage::Table table, std::string_view key);
  bool IsWaitedFor(storage::Table table, std::string_view key);

 private:
  static std::string NameOf(storage::Table table, std::string_view key);

  base::StringMap<std::shared_ptr<Transaction>> holders_;
  base::StringMap<std::vector<std::weak_ptr<const void>>> waiting_;
};

}  // namespace evenkeel::shard
