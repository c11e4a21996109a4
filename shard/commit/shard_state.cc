// Reads and changes the published state.
#include "shard/commit/shard_state.h"

#include <iterator>
#include <utility>

namespace evenkeel::shard {

const ShardState& StateOf(const storage::ReadSlice& slice) {
  return static_cast<const ShardState&>(*slice.state());
}

const catalog::ShardCatalog& CatalogOf(const storage::ReadSlice& slice) {
  return *StateOf(slice).catalog;
}

const ShardState& StateOf(storage::WriteContext& context) {
  return static_cast<const ShardState&>(*context.state());
}

const catalog::ShardCatalog& CatalogOf(storage::WriteContext& context) {
  return *StateOf(context).catalog;
}

void SetCatalog(storage::WriteContext& context,
                std::shared_ptr<const catalog::ShardCatalog> catalog) {
  auto state = std::make_shared<ShardState>();
  if (context.state() != nullptr) state->prepared = StateOf(context).prepared;
  state->catalog = std::move(catalog);
  context.SetState(std::move(state));
}

void SetPrepared(storage::WriteContext& context, PreparedList prepared) {
  auto state = std::make_shared<ShardState>();
  state->catalog = StateOf(context).catalog;
  state->prepared = std::move(prepared);
  context.SetState(std::move(state));
}

std::shared_ptr<Transaction> PreparedOn(const ShardState& state, storage::Table table,
                                        std::string_view key, Timestamp timestamp) {
  for (const auto& transaction : state.prepared) {
    if (transaction->prepared_at > timestamp) continue;
    if (transaction->done.effects.Find(table, key) != nullptr) return transaction;
  }
  return nullptr;
}

std::optional<PreparedEffect> FirstPreparedIn(const ShardState& state, storage::Table table,
                                              std::string_view begin, std::string_view end,
                                              bool reverse, Timestamp timestamp) {
  std::optional<PreparedEffect> first;
  for (const auto& transaction : state.prepared) {
    if (transaction->prepared_at > timestamp) continue;
    const auto& effects = transaction->done.effects.effects(table);
    auto nearest = effects.lower_bound(reverse ? end : begin);
    if (reverse) {
      if (nearest == effects.begin()) continue;
      --nearest;
      if (nearest->first < begin) continue;
    } else if (nearest == effects.end() || nearest->first >= end) {
      continue;
    }
    const bool nearer =
        !first || (reverse ? nearest->first > first->key : nearest->first < first->key);
    if (nearer) first = {nearest->first, transaction};
  }
  return first;
}

}  // namespace evenkeel::shard
