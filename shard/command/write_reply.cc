// The replies of write commands.
#include "shard/command/write_reply.h"

#include <optional>

#include "base/status.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

// A count as clients expect it, 64 bits wide only where it must be.
void AppendCount(bson::Builder& reply, std::string_view name, int64_t count) {
  if (count <= INT32_MAX) {
    reply.Append(name, static_cast<int32_t>(count));
  } else {
    reply.Append(name, count);
  }
}

}  // namespace

void AppendWriteErrors(bson::Builder& reply, const WriteErrors& errors) {
  if (errors.empty()) return;
  const size_t start = reply.SizeBytes();
  reply.OpenArray("writeErrors");
  bson::ArrayAppender array(reply);
  for (const auto& [index, status] : errors) {
    const std::string_view message = MessageOf(status);
    const std::optional<bson::Document> details = wire::DetailsOf(status);
    const size_t bytes = message.size() + (details ? details->SizeBytes() : 0);
    const bool fits = reply.SizeBytes() - start + bytes <= kWriteErrorBytesMax;
    reply.OpenDocument(array.NextKey());
    reply.Append("index", static_cast<int32_t>(index))
        .Append("code", static_cast<int32_t>(CodeOf(status)));
    if (details && fits) reply.AppendFields(details->view());
    reply.Append("errmsg", fits ? message : std::string_view()).Close();
  }
  reply.Close();
}

bson::Document WriteReply::ToBson(bool with_modified) const {
  bson::Builder reply;
  AppendCount(reply, "n", matched_);
  if (with_modified) AppendCount(reply, "nModified", modified_);
  if (!upserted_.empty()) {
    reply.OpenArray("upserted");
    bson::ArrayAppender array(reply);
    for (const auto& [index, id] : upserted_) {
      reply.OpenDocument(array.NextKey());
      reply.Append("index", static_cast<int32_t>(index)).Append("_id", id).Close();
    }
    reply.Close();
  }
  AppendWriteErrors(reply, errors_);
  if (missed_) reply.Append("missed", true);
  return reply.Finish();
}

}  // namespace evenkeel::shard
