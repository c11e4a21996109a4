// What a transaction adds to requests and takes from replies.
#include "router/transaction/transaction.h"

#include <algorithm>
#include <memory>

#include "base/bson/builder.h"
#include "router/shard_request.h"
#include "router/uuid.h"

namespace evenkeel::router {
namespace {

constexpr uint8_t kUuidSubtype = 4;
constexpr std::string_view kField = "$txn";

// Of a command whose first field is a collection's name.
std::string NamespaceOf(bson::View command) {
  const bson::Value name = command.Front().value, database = command["$db"];
  if (!name.Is(bson::Type::kString) || !database.Is(bson::Type::kString)) return "";
  return std::string(database.AsString()).append(".").append(name.AsString());
}

}  // namespace

std::shared_ptr<ClientTransaction> ClientTransaction::OfStatement(Timestamp read_at) {
  auto transaction = std::make_shared<ClientTransaction>(NewUuid(), TxnNumber{1}, read_at);
  transaction->records_ = true;
  return transaction;
}

std::shared_ptr<ClientTransaction> ClientTransaction::OfSnapshot(Timestamp read_at) {
  auto transaction = std::make_shared<ClientTransaction>(NewUuid(), TxnNumber{1}, read_at);
  transaction->only_reads_ = true;
  return transaction;
}

void ClientTransaction::Join(ShardId shard, wire::Message* message) {
  bool first = false, created = false;
  {
    absl::MutexLock lock(&mutex_);
    created = !created_.empty() && created_.contains(NamespaceOf(message->body));
    first = std::find(participants_.begin(), participants_.end(), shard) == participants_.end();
    if (first) participants_.push_back(shard);
  }
  bson::Builder body(message->body);
  body.OpenDocument(kField);
  AppendId(body);
  body.Append("readAt", read_at_);
  if (first) body.Append("start", true);
  if (created) body.Append("created", true);
  if (records_) body.Append("records", true);
  if (only_reads_) body.Append("onlyReads", true);
  body.Close();
  auto sequences = std::move(message->sequences);
  *message = MakeMessage(body.Finish(), message->owner);
  message->sequences = std::move(sequences);
}

void ClientTransaction::NoteCreated(std::string ns) {
  absl::MutexLock lock(&mutex_);
  created_.insert(std::move(ns));
}

bool ClientTransaction::HasCreated(std::string_view ns) const {
  absl::MutexLock lock(&mutex_);
  return created_.contains(ns);
}

void ClientTransaction::NoteCursor(CursorId cursor) {
  absl::MutexLock lock(&mutex_);
  cursors_.push_back(cursor);
}

std::vector<CursorId> ClientTransaction::TakeCursors() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(cursors_, {});
}

ClientTransaction::Times ClientTransaction::times() const {
  absl::MutexLock lock(&mutex_);
  return times_;
}

void ClientTransaction::BeginStatement(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (times_.begun == absl::InfinitePast()) times_.begun = now;
  times_.statement_begun = now;
}

void ClientTransaction::EndStatement(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  times_.active += now - times_.statement_begun;
  times_.statement_begun = absl::InfiniteFuture();
}

void ClientTransaction::Note(ShardId shard, bson::View reply) {
  const bson::Value field = reply[kField];
  if (!field.Is(bson::Type::kObject)) return;
  absl::MutexLock lock(&mutex_);
  if (const bson::Value leaving = field.AsDocument()["leaving"]; leaving.Is(bson::Type::kArray)) {
    for (const auto& [key, row] : leaving.AsDocument()) {
      const bson::View fields = row.AsDocument();
      leaving_.push_back(
          {std::string(fields["ns"].AsString()), bson::Document(fields["d"].AsDocument())});
    }
  }
  if (std::find(writers_.begin(), writers_.end(), shard) == writers_.end())
    writers_.push_back(shard);
}

void ClientTransaction::AppendId(bson::Builder& out) const {
  out.OpenDocument("lsid").AppendBinary("id", kUuidSubtype, lsid_).Close();
  out.Append("txnNumber", number_.value);
}

bson::Document ClientTransaction::EndCommand(std::string_view name) const {
  bson::Builder body;
  body.Append(name, int32_t{1}).Append("$db", "admin");
  AppendId(body);
  return body.Finish();
}

std::vector<ClientTransaction::Leaving> ClientTransaction::TakeLeaving() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(leaving_, {});
}

std::vector<ShardId> ClientTransaction::participants() const {
  absl::MutexLock lock(&mutex_);
  return participants_;
}

std::vector<ShardId> ClientTransaction::writers() const {
  absl::MutexLock lock(&mutex_);
  return writers_;
}

}  // namespace evenkeel::router
