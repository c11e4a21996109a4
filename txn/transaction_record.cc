// Keys and values of the rows of transactions.
#include "txn/transaction_record.h"

#include "base/bson/builder.h"
#include "base/check.h"
#include "base/status.h"
#include "txn/retry_record.h"

namespace evenkeel::txn {
namespace {

constexpr size_t kLsidBytes = 16;
constexpr size_t kKindAt = kLsidBytes;
constexpr size_t kNumberAt = kKindAt + 1;

void AppendBigEndian(uint64_t number, std::string* out) {
  const uint64_t bits = __builtin_bswap64(number);
  out->append(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

std::string KeyOf(const TransactionId& id, RowKind kind) {
  EVENKEEL_DCHECK(id.lsid.size() == kLsidBytes);
  std::string key = id.lsid;
  key.push_back(static_cast<char>(kind));
  AppendBigEndian(static_cast<uint64_t>(id.number.value), &key);
  return key;
}

bool HasKind(std::string_view key, RowKind kind) {
  return key.size() > kKindAt && key[kKindAt] == static_cast<char>(kind);
}

absl::Status Damaged() {
  return MakeError(ErrorCode::kInvalidBSON, "damaged row of a transaction");
}

absl::StatusOr<bson::View> RowOf(std::string_view value) {
  if (value.size() < 5 || bson::LoadLittle<uint32_t>(value.data()) != value.size())
    return Damaged();
  return bson::View(value.data());
}

// One row after another; the first one begins with what the transaction is.
class PartWriter {
 public:
  explicit PartWriter(const PreparedTransaction& transaction) {
    part_.Append("coordinator", static_cast<int64_t>(transaction.coordinator.value));
    part_.Append("readAt", transaction.read_at).OpenArray("collections");
    bson::ArrayAppender collections(part_);
    for (const auto& [id, version] : transaction.collections) {
      part_.OpenArray(collections.NextKey());
      bson::ArrayAppender(part_)
          .Add(static_cast<int64_t>(id.value))
          .Add(static_cast<int64_t>(version.value));
      part_.Close();
    }
    part_.Close().OpenArray("items");
  }

  // The next item, open.
  bson::Builder& Next() {
    if (part_.SizeBytes() > kPartBytes) {
      rows_.push_back(part_.Finish().bytes());
      part_.OpenArray("items");
      count_ = 0;
    }
    return part_.OpenDocument(std::to_string(count_++));
  }
  std::vector<std::string> Finish() {
    rows_.push_back(part_.Finish().bytes());
    return std::move(rows_);
  }

 private:
  std::vector<std::string> rows_;
  bson::Builder part_;
  size_t count_ = 0;
};

absl::Status ReadHead(bson::View row, PreparedTransaction* out) {
  const bson::Value coordinator = row["coordinator"], read_at = row["readAt"],
                    collections = row["collections"];
  if (!coordinator.Is(bson::Type::kInt64) || !read_at.Is(bson::Type::kTimestamp) ||
      !collections.Is(bson::Type::kArray)) {
    return Damaged();
  }
  out->coordinator = ShardId{static_cast<uint32_t>(coordinator.AsInt64())};
  out->read_at = read_at.AsTimestamp();
  for (const auto& [key, pair] : collections.AsDocument()) {
    if (!pair.Is(bson::Type::kArray)) return Damaged();
    const bson::Value id = pair.AsDocument()["0"], version = pair.AsDocument()["1"];
    if (!id.Is(bson::Type::kInt64) || !version.Is(bson::Type::kInt64)) return Damaged();
    out->collections.emplace_back(CollectionId{static_cast<uint64_t>(id.AsInt64())},
                                  CatalogVersion{static_cast<uint64_t>(version.AsInt64())});
  }
  return absl::OkStatus();
}

absl::Status ReadItem(bson::View item, PreparedTransaction* out) {
  const bson::Value key = item["k"];
  if (!key.Is(bson::Type::kBinary)) return Damaged();
  const std::string_view bytes = key.AsBinary().bytes;
  if (const bson::Value documents = item["n"]; documents.Is(bson::Type::kInt64)) {
    const bson::Value size = item["b"];
    if (!size.Is(bson::Type::kInt64)) return Damaged();
    out->counters.push_back(
        {std::string(bytes), storage::Count{documents.AsInt64(), size.AsInt64()}});
    return absl::OkStatus();
  }
  const bson::Value number = item["t"], value = item["v"];
  if (!number.Is(bson::Type::kInt32) || number.AsInt32() < 0 ||
      static_cast<size_t>(number.AsInt32()) >= storage::kTableCount) {
    return Damaged();
  }
  const auto table = static_cast<storage::Table>(number.AsInt32());
  if (value.Is(bson::Type::kBinary)) {
    out->effects.Put(table, bytes, value.AsBinary().bytes);
  } else if (value.Is(bson::Type::kNull)) {
    out->effects.Remove(table, bytes);
  } else {
    out->claims.emplace_back(table, bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TransactionAborted(TxnNumber number) {
  return Error(ErrorCode::kNoSuchTransaction, "Transaction {} has been aborted.", number.value);
}

std::vector<std::string> EncodePrepared(const PreparedTransaction& transaction) {
  PartWriter parts(transaction);
  for (const auto& [table, key] : transaction.claims) {
    parts.Next().Append("t", static_cast<int32_t>(table)).AppendBinary("k", 0, key).Close();
  }
  for (const auto& [key, change] : transaction.counters) {
    parts.Next()
        .AppendBinary("k", 0, key)
        .Append("n", change.documents)
        .Append("b", change.bytes)
        .Close();
  }
  for (size_t table = 0; table < storage::kTableCount; ++table) {
    for (const auto& [key, effect] :
         transaction.effects.effects(static_cast<storage::Table>(table))) {
      bson::Builder& item = parts.Next();
      item.Append("t", static_cast<int32_t>(table)).AppendBinary("k", 0, key);
      if (effect.value) {
        item.AppendBinary("v", 0, *effect.value);
      } else {
        item.AppendNull("v");
      }
      item.Close();
    }
  }
  return parts.Finish();
}

absl::StatusOr<PreparedTransaction> DecodePrepared(const std::vector<std::string>& rows) {
  PreparedTransaction out;
  if (rows.empty()) return Damaged();
  for (const std::string& bytes : rows) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::View row, RowOf(bytes));
    if (&bytes == &rows.front()) EVENKEEL_RETURN_IF_ERROR(ReadHead(row, &out));
    const bson::Value items = row["items"];
    if (!items.Is(bson::Type::kArray)) return Damaged();
    for (const auto& [key, item] : items.AsDocument()) {
      if (!item.Is(bson::Type::kObject)) return Damaged();
      EVENKEEL_RETURN_IF_ERROR(ReadItem(item.AsDocument(), &out));
    }
  }
  return out;
}

std::string PreparedKey(const TransactionId& id, uint32_t part) {
  std::string key = KeyOf(id, RowKind::kPrepared);
  AppendBigEndian(part, &key);
  return key;
}

std::string DecisionKey(const TransactionId& id) { return KeyOf(id, RowKind::kDecision); }

std::string TouchKey(const TransactionId& command, int32_t statement) {
  std::string key = KeyOf(command, RowKind::kTouch);
  AppendBigEndian(static_cast<uint32_t>(statement), &key);
  return key;
}

std::string UpsertTouchKey(CollectionId collection, int64_t filter_hash) {
  std::string name;
  AppendBigEndian(collection.value, &name);
  AppendBigEndian(static_cast<uint64_t>(filter_hash), &name);
  return TouchKey({std::move(name), TxnNumber{0}}, 0);
}

bool IsPreparedKey(std::string_view key) { return HasKind(key, RowKind::kPrepared); }

bool IsDecisionKey(std::string_view key) { return HasKind(key, RowKind::kDecision); }

bool IsTouchKey(std::string_view key) { return HasKind(key, RowKind::kTouch); }

TransactionId IdOfKey(std::string_view key) {
  uint64_t bits = 0;
  EVENKEEL_CHECK(key.size() >= kNumberAt + sizeof(bits));
  key.substr(kNumberAt).copy(reinterpret_cast<char*>(&bits), sizeof(bits));
  return {std::string(LsidOfKey(key)), TxnNumber{static_cast<int64_t>(__builtin_bswap64(bits))}};
}

std::string EncodeDecision(const Decision& decision) {
  bson::Builder row;
  row.Append("committedAt", decision.committed_at).OpenArray("participants");
  bson::ArrayAppender participants(row);
  for (const ShardId shard : decision.participants)
    participants.Add(static_cast<int64_t>(shard.value));
  row.Close();
  return row.Finish().bytes();
}

absl::StatusOr<Decision> DecodeDecision(std::string_view value) {
  EVENKEEL_ASSIGN_OR_RETURN(const bson::View row, RowOf(value));
  const bson::Value time = row["committedAt"], participants = row["participants"];
  if (!time.Is(bson::Type::kTimestamp) || !participants.Is(bson::Type::kArray)) return Damaged();
  Decision decision{time.AsTimestamp(), {}};
  for (const auto& [key, shard] : participants.AsDocument()) {
    if (!shard.Is(bson::Type::kInt64)) return Damaged();
    decision.participants.push_back(ShardId{static_cast<uint32_t>(shard.AsInt64())});
  }
  return decision;
}

}  // namespace evenkeel::txn
