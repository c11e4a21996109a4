// The reply of update and delete.
#include "shard/command/write_reply.h"

#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {

bson::Document WriteReply::ToBson(bool with_modified) const {
  bson::Builder reply;
  reply.Append("n", static_cast<int32_t>(matched_));
  if (with_modified) reply.Append("nModified", static_cast<int32_t>(modified_));
  if (!upserted_.empty()) {
    reply.OpenArray("upserted");
    bson::ArrayAppender array(reply);
    for (const auto& [index, id] : upserted_) {
      reply.OpenDocument(array.NextKey());
      reply.Append("index", static_cast<int32_t>(index)).Append("_id", id).Close();
    }
    reply.Close();
  }
  if (!errors_.empty()) {
    reply.OpenArray("writeErrors");
    bson::ArrayAppender array(reply);
    for (const auto& [index, status] : errors_) {
      wire::AppendWriteError(reply, array.NextKey(), static_cast<int32_t>(index), status);
    }
    reply.Close();
  }
  if (missed_) reply.Append("missed", true);
  return reply.Finish();
}

}  // namespace evenkeel::shard
