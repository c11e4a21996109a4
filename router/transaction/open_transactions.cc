// A set of transactions.
#include "router/transaction/open_transactions.h"

#include <utility>

namespace evenkeel::router {

void OpenTransactions::Add(std::shared_ptr<const ClientTransaction> transaction) {
  absl::MutexLock lock(&mutex_);
  open_.insert(std::move(transaction));
}

void OpenTransactions::Remove(const std::shared_ptr<const ClientTransaction>& transaction) {
  absl::MutexLock lock(&mutex_);
  open_.erase(transaction);
}

std::vector<std::shared_ptr<const ClientTransaction>> OpenTransactions::List(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(open_, [now](const auto& transaction) {
    return transaction->times().begun + kTransactionLifetime < now;
  });
  return {open_.begin(), open_.end()};
}

}  // namespace evenkeel::router
