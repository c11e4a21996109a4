// What a transaction adds to requests and takes from replies.
#include "router/transaction/transaction.h"

#include <algorithm>
#include <memory>

#include "base/bson/builder.h"
#include "router/shard_request.h"

namespace evenkeel::router {
namespace {

constexpr uint8_t kUuidSubtype = 4;
constexpr std::string_view kField = "$txn";

}  // namespace

void ClientTransaction::Join(ShardId shard, wire::Message* message) {
  bool first = false;
  {
    absl::MutexLock lock(&mutex_);
    first = std::find(participants_.begin(), participants_.end(), shard) == participants_.end();
    if (first) participants_.push_back(shard);
  }
  bson::Builder body(message->body);
  // A getMore is made without them.
  if (!message->body.Contains("lsid")) {
    body.OpenDocument("lsid").AppendBinary("id", kUuidSubtype, lsid_).Close();
  }
  if (!message->body.Contains("txnNumber")) body.Append("txnNumber", number_.value);
  body.OpenDocument(kField).Append("readAt", read_at_);
  if (first) body.Append("start", true);
  body.Close();
  auto sequences = std::move(message->sequences);
  *message = MakeMessage(body.Finish(), message->owner);
  message->sequences = std::move(sequences);
}

void ClientTransaction::Note(ShardId shard, bson::View reply) {
  if (!reply.Contains(kField)) return;
  absl::MutexLock lock(&mutex_);
  if (std::find(writers_.begin(), writers_.end(), shard) == writers_.end())
    writers_.push_back(shard);
}

bson::Document ClientTransaction::EndCommand(std::string_view name) const {
  bson::Builder body;
  body.Append(name, int32_t{1}).Append("$db", "admin");
  body.OpenDocument("lsid").AppendBinary("id", kUuidSubtype, lsid_).Close();
  body.Append("txnNumber", number_.value);
  return body.Finish();
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
