// Puts rows beside what the session has become.
#include "shard/commit/retry_rows.h"

#include <string>

#include "txn/retry_record.h"

namespace evenkeel::shard {

void PutRetryRow(storage::WriteContext& context, std::string_view key, std::string_view value) {
  constexpr storage::Table kTable = storage::Table::kSessions;
  const auto row = txn::DecodeRetryRecord(value);
  if (!row.ok() || row->results.empty()) return;
  const std::string newest_key = txn::NewestRecordKey(txn::LsidOfKey(key));
  const auto newest = context.Get(kTable, newest_key);
  const auto facts = newest ? txn::FactsOf(newest->value) : txn::RetryRecordFacts{TxnNumber{-1}};
  if (!facts.ok() || facts->txn < row->txn) {
    context.Put(kTable, newest_key, value);
  } else if (facts->txn == row->txn) {
    context.Put(kTable, txn::RetryRecordKey(txn::LsidOfKey(key), *row), value);
  }
}

}  // namespace evenkeel::shard
