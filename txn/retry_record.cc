// Keys and values of the rows of retryable writes.
#include "txn/retry_record.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::txn {
namespace {

std::string BigEndian64(uint64_t value) {
  const uint64_t bits = __builtin_bswap64(value);
  return std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

// Newer numbers sort first.
std::string EncodeTxn(TxnNumber txn) {
  return BigEndian64(~(static_cast<uint64_t>(txn.value) ^ (uint64_t{1} << 63)));
}

constexpr size_t kLsidBytes = 16;

}  // namespace

std::string SessionPrefix(std::string_view lsid) { return std::string(lsid); }

std::string CommandPrefix(const RetryableCommand& command) {
  return command.lsid + EncodeTxn(command.txn);
}

std::string RetryRecordKey(const RetryableCommand& command, int32_t first_statement) {
  const uint32_t bits = __builtin_bswap32(static_cast<uint32_t>(first_statement));
  return CommandPrefix(command) + std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

TxnNumber TxnOfKey(std::string_view key) {
  const uint64_t bits = __builtin_bswap64(bson::LoadLittle<uint64_t>(key.data() + kLsidBytes));
  return TxnNumber{static_cast<int64_t>(~bits ^ (uint64_t{1} << 63))};
}

std::string EncodeRetryRecord(const RetryRecord& record) {
  bson::Builder out;
  out.Append("c", static_cast<int64_t>(record.collection.value))
      .AppendBinary("p", 0, record.placement_key)
      .AppendDate("t", record.written_ms)
      .OpenArray("r");
  bson::ArrayAppender array(out);
  for (const StatementResult& result : record.results) {
    out.OpenDocument(array.NextKey());
    out.Append("s", result.statement)
        .Append("k", static_cast<int32_t>(result.kind))
        .Append("n", result.matched);
    if (result.modified != 0) out.Append("m", result.modified);
    if (!result.upserted.value().missing()) out.Append("u", result.upserted);
    if (!result.reply.empty()) out.Append("d", result.reply);
    out.Close();
  }
  out.Close();
  return out.Finish().bytes();
}

absl::StatusOr<RetryRecord> DecodeRetryRecord(std::string_view value) {
  const bson::View row(value.data());
  const bson::Value collection = row["c"], placement = row["p"], written = row["t"],
                    results = row["r"];
  if (!collection.Is(bson::Type::kInt64) || !placement.Is(bson::Type::kBinary) ||
      !written.Is(bson::Type::kDate) || !results.Is(bson::Type::kArray)) {
    return MakeError(ErrorCode::kInvalidBSON, "damaged row of a retryable write");
  }
  RetryRecord record;
  record.collection = CollectionId{static_cast<uint64_t>(collection.AsInt64())};
  record.placement_key = std::string(placement.AsBinary().bytes);
  record.written_ms = written.AsDateMillis();
  for (const auto& [key, element] : results.AsDocument()) {
    StatementResult result;
    for (const auto& [name, field] : element.AsDocument()) {
      if (name == "s") result.statement = field.AsInt32();
      if (name == "k") result.kind = static_cast<StatementKind>(field.AsInt32());
      if (name == "n") result.matched = field.AsInt32();
      if (name == "m") result.modified = field.AsInt32();
      if (name == "u") result.upserted = bson::OwnedValue(field);
      if (name == "d") result.reply = bson::Document(field.AsDocument());
    }
    record.results.push_back(std::move(result));
  }
  return record;
}

bool IsExpired(const RetryRecord& record, absl::Time now) {
  return now - absl::FromUnixMillis(record.written_ms) >
         absl::Minutes(limits::kSessionTimeoutMinutes);
}

}  // namespace evenkeel::txn
