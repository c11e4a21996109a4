// Keys and their holders.
#include "shard/commit/intents.h"

#include "base/check.h"

namespace evenkeel::shard {

std::string Intents::NameOf(storage::Table table, std::string_view key) {
  std::string name(1, static_cast<char>(table));
  return name.append(key);
}

const std::shared_ptr<Transaction>& Intents::Holder(storage::Table table,
                                                    std::string_view key) const {
  static const std::shared_ptr<Transaction> kNobody;
  if (holders_.empty()) return kNobody;
  const auto found = holders_.find(NameOf(table, key));
  return found == holders_.end() ? kNobody : found->second;
}

void Intents::Take(const std::shared_ptr<Transaction>& transaction, storage::Table table,
                   std::string_view key) {
  const auto [slot, added] = holders_.try_emplace(NameOf(table, key), transaction);
  EVENKEEL_CHECK(added || slot->second == transaction);
  if (added) transaction->done.claims.emplace_back(table, key);
}

void Intents::TakeAgain(const std::shared_ptr<Transaction>& transaction) {
  for (const auto& [table, key] : transaction->done.claims)
    holders_.try_emplace(NameOf(table, key), transaction);
}

void Intents::Release(const Transaction& transaction) {
  for (const auto& [table, key] : transaction.done.claims) {
    const auto found = holders_.find(NameOf(table, key));
    if (found != holders_.end() && found->second.get() == &transaction) holders_.erase(found);
  }
}

Intents::Place Intents::WaitFor(storage::Table table, std::string_view key) {
  auto place = std::make_shared<const int>(0);
  waiting_[NameOf(table, key)].push_back(place);
  return place;
}

bool Intents::IsWaitedFor(storage::Table table, std::string_view key) {
  if (waiting_.empty()) return false;
  const auto found = waiting_.find(NameOf(table, key));
  if (found == waiting_.end()) return false;
  std::erase_if(found->second, [](const auto& place) { return place.expired(); });
  if (!found->second.empty()) return true;
  waiting_.erase(found);
  return false;
}

}  // namespace evenkeel::shard
