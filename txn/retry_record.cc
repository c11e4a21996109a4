// Keys and values of the rows of retryable writes.
#include "txn/retry_record.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::txn {
namespace {

constexpr size_t kLsidBytes = 16;
constexpr uint32_t kSignBit32 = uint32_t{1} << 31;
constexpr size_t kDocumentBytesMin = 5;

// The lowest and the highest statement.
std::pair<int32_t, int32_t> StatementRange(const RetryRecord& record) {
  EVENKEEL_CHECK(!record.results.empty());
  int32_t first = record.results.front().statement, last = first;
  for (const StatementResult& result : record.results) {
    first = std::min(first, result.statement);
    last = std::max(last, result.statement);
  }
  return {first, last};
}

absl::Status Damaged() {
  return MakeError(ErrorCode::kInvalidBSON, "damaged row of a retryable write");
}

// The row as a document, if its length is what it says.
absl::StatusOr<bson::View> RowOf(std::string_view value) {
  if (value.size() < kDocumentBytesMin) return Damaged();
  const bson::View row(value.data());
  if (bson::LoadLittle<uint32_t>(value.data()) != value.size()) return Damaged();
  return row;
}

absl::StatusOr<StatementResult> ResultOf(bson::Value element) {
  if (!element.Is(bson::Type::kObject)) return Damaged();
  StatementResult result;
  int fields_wanted = 3;  // s, k, n
  for (const auto& [name, field] : element.AsDocument()) {
    if (name == "u") {
      result.upserted = bson::OwnedValue(field);
      continue;
    }
    if (name == "d") {
      if (!field.Is(bson::Type::kObject)) return Damaged();
      result.reply = bson::Document(field.AsDocument());
      continue;
    }
    if (!field.Is(bson::Type::kInt32)) return Damaged();
    const int32_t number = field.AsInt32();
    if (name == "s") result.statement = number;
    if (name == "k") result.kind = static_cast<StatementKind>(number);
    if (name == "n") result.matched = number;
    if (name == "m") result.modified = number;
    if (name != "m") --fields_wanted;
  }
  const bool known_kind =
      result.kind >= StatementKind::kInsert && result.kind <= StatementKind::kFindAndModify;
  if (fields_wanted != 0 || !known_kind) return Damaged();
  return result;
}

}  // namespace

std::string RetryRecordKey(std::string_view lsid, RowKind kind, int32_t first_statement) {
  EVENKEEL_DCHECK(lsid.size() == kLsidBytes);
  std::string key;
  key.reserve(lsid.size() + 1 + sizeof(uint32_t));
  key.append(lsid).push_back(static_cast<char>(kind));
  const uint32_t bits = __builtin_bswap32(static_cast<uint32_t>(first_statement) ^ kSignBit32);
  return key.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

std::string NewestRecordKey(std::string_view lsid) {
  return RetryRecordKey(lsid, RowKind::kNewest, 0);
}

std::string RetryRecordKey(std::string_view lsid, const RetryRecord& record) {
  const RowKind kind = record.results.size() == 1 ? RowKind::kStatement : RowKind::kSlice;
  return RetryRecordKey(lsid, kind, StatementRange(record).first);
}

bool IsRetryRecordKey(std::string_view key) {
  return key.size() > kLsidBytes &&
         static_cast<uint8_t>(key[kLsidBytes]) <= static_cast<uint8_t>(RowKind::kStatement);
}

std::string_view LsidOfKey(std::string_view key) { return key.substr(0, kLsidBytes); }

std::string EncodeRetryRecord(const RetryRecord& record) {
  bson::Builder out;
  out.Append("x", record.txn.value)
      .Append("c", static_cast<int64_t>(record.collection.value))
      .AppendDate("t", record.written_ms)
      .Append("l", record.results.empty() ? 0 : StatementRange(record).second);
  if (record.hash) out.Append("h", *record.hash);
  if (record.committed) out.Append("z", true);
  out.OpenArray("r");
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
  EVENKEEL_ASSIGN_OR_RETURN(const bson::View row, RowOf(value));
  const bson::Value txn = row["x"], collection = row["c"], hash = row["h"], written = row["t"],
                    results = row["r"];
  if (!txn.Is(bson::Type::kInt64) || !collection.Is(bson::Type::kInt64) ||
      !(hash.missing() || hash.Is(bson::Type::kInt64)) || !written.Is(bson::Type::kDate) ||
      !results.Is(bson::Type::kArray)) {
    return Damaged();
  }
  RetryRecord record;
  record.txn = TxnNumber{txn.AsInt64()};
  record.collection = CollectionId{static_cast<uint64_t>(collection.AsInt64())};
  if (!hash.missing()) record.hash = hash.AsInt64();
  record.written_ms = written.AsDateMillis();
  record.committed = !row["z"].missing();
  for (const auto& [key, element] : results.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(StatementResult result, ResultOf(element));
    record.results.push_back(std::move(result));
  }
  return record;
}

absl::StatusOr<RetryRecordFacts> FactsOf(std::string_view value) {
  EVENKEEL_ASSIGN_OR_RETURN(const bson::View row, RowOf(value));
  const bson::Value txn = row["x"], last = row["l"];
  if (!txn.Is(bson::Type::kInt64) || !last.Is(bson::Type::kInt32)) return Damaged();
  return RetryRecordFacts{TxnNumber{txn.AsInt64()}, last.AsInt32(), !row["z"].missing()};
}

bool IsExpired(const RetryRecord& record, absl::Time now) {
  return now - absl::FromUnixMillis(record.written_ms) >
         absl::Minutes(limits::kSessionTimeoutMinutes);
}

}  // namespace evenkeel::txn
