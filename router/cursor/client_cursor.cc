// Batches of rows, built or passed on.
#include "router/cursor/client_cursor.h"

#include <cstring>
#include <utility>

#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::router {
namespace {

// What a row costs besides its own bytes: type, key, terminator.
constexpr size_t kRowOverheadBytes = 16;

bson::Value BatchOf(bson::View cursor) {
  const bson::Value first = cursor["firstBatch"];
  return first.missing() ? cursor["nextBatch"] : first;
}

}  // namespace

BatchBuilder::BatchBuilder(const BatchRequest& request) : request_(request), array_(builder_) {
  builder_.OpenDocument("cursor").OpenArray(request.first ? "firstBatch" : "nextBatch");
}

bool BatchBuilder::Add(bson::View row) {
  if (rows_ > 0 &&
      builder_.SizeBytes() + row.SizeBytes() + kRowOverheadBytes > limits::kReplyBatchBytesMax) {
    return false;
  }
  array_.Add(row);
  ++rows_;
  return true;
}

bson::Document BatchBuilder::Finish(bool exhausted, std::string_view ns) {
  builder_.Close();
  builder_.Append("id", exhausted ? int64_t{0} : request_.id.value).Append("ns", ns);
  return builder_.Finish();
}

absl::StatusOr<CursorView> ReadCursor(bson::View reply) {
  const bson::Value cursor = reply["cursor"];
  if (cursor.Is(bson::Type::kObject)) {
    const bson::Value id = cursor.AsDocument()["id"];
    const bson::Value batch = BatchOf(cursor.AsDocument());
    if (id.Is(bson::Type::kInt64) && batch.Is(bson::Type::kArray)) {
      return CursorView{id.AsInt64(), batch.AsDocument()};
    }
  }
  return MakeError(ErrorCode::kInternalError, "a shard's reply lacks a cursor");
}

absl::StatusOr<bson::Document> PassedOnReply(bson::View reply, CursorId id) {
  EVENKEEL_ASSIGN_OR_RETURN(const CursorView shards, ReadCursor(reply));
  bson::Builder builder;
  builder.Append("cursor", reply["cursor"]);
  bson::Document out = builder.Finish();
  if (shards.id == 0) return out;
  // An id has a fixed width: it is replaced in place.
  const auto offset =
      static_cast<size_t>(out["cursor"].AsDocument()["id"].data() - out.view().data());
  std::string bytes = std::move(out).TakeBytes();
  std::memcpy(bytes.data() + offset, &id.value, sizeof(id.value));
  return bson::Document(std::move(bytes));
}

}  // namespace evenkeel::router
