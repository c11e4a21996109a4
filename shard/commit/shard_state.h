// What a shard publishes together with its data: its part of the catalog, and the transactions that
// are prepared.
//
// A reader takes it from the view of its slice, so it can neither miss a prepared transaction nor
// meet one whose outcome it sees already.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/shard_catalog.h"
#include "shard/commit/transaction.h"
#include "storage/store.h"

namespace evenkeel::shard {

// In no order; few.
using PreparedList = std::vector<std::shared_ptr<Transaction>>;

// Immutable.
struct ShardState final : storage::PublishedState {
  std::shared_ptr<const catalog::ShardCatalog> catalog;
  PreparedList prepared;
};

const ShardState& StateOf(const storage::ReadSlice& slice);
const catalog::ShardCatalog& CatalogOf(const storage::ReadSlice& slice);

// The writer's.
const ShardState& StateOf(storage::WriteContext& context);
const catalog::ShardCatalog& CatalogOf(storage::WriteContext& context);
void SetCatalog(storage::WriteContext& context,
                std::shared_ptr<const catalog::ShardCatalog> catalog);
void SetPrepared(storage::WriteContext& context, PreparedList prepared);

// The prepared transaction that has an effect on `key` which a read at `timestamp` may have to
// show; null: none.
std::shared_ptr<Transaction> PreparedOn(const ShardState& state, storage::Table table,
                                        std::string_view key, Timestamp timestamp);
// A key with such an effect, and its transaction.
struct PreparedEffect {
  std::string_view key;
  std::shared_ptr<Transaction> transaction;
};
// The one nearest to the begin of [begin, end), or to its end when `reverse`.
std::optional<PreparedEffect> FirstPreparedIn(const ShardState& state, storage::Table table,
                                              std::string_view begin, std::string_view end,
                                              bool reverse, Timestamp timestamp);

}  // namespace evenkeel::shard
