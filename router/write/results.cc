// Counts and errors of write commands.
#include "router/write/results.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/limits.h"
#include "base/status.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::router::write {
namespace {

// Past this size error texts are left out, so that the reply of a large batch stays a document.
constexpr size_t kErrorBytesMax = 1u << 20;

void AppendCount(bson::Builder& builder, std::string_view key, int64_t count) {
  if (count <= INT32_MAX) {
    builder.Append(key, static_cast<int32_t>(count));
  } else {
    builder.Append(key, count);
  }
}

int64_t CountField(bson::View reply, std::string_view name) {
  const bson::Value value = reply[name];
  return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
}

// An entry of writeErrors has the fields of an error reply, only its `ok` is missing.
absl::Status StatusOfEntry(bson::View entry) {
  bson::Builder failed(entry);
  failed.Append("ok", 0.0);
  return wire::StatusOfReply(failed.Finish());
}

}  // namespace

void WriteResults::AddError(int32_t index, const absl::Status& status) {
  bson::Builder list;
  wire::AppendWriteError(list, "0", index, status);
  const bson::Document made = list.Finish();
  AddErrorEntry(index, made["0"].AsDocument());
}

void WriteResults::AddErrorEntry(int32_t index, bson::View entry) {
  bson::Builder copy;
  for (const auto& field : entry) {
    if (field.key != "index") copy.Append(field.key, field.value);
  }
  errors_.insert_or_assign(index, copy.Finish());
}

absl::Status WriteResults::ErrorOf(int32_t index) const {
  const auto found = errors_.find(index);
  return found == errors_.end() ? absl::OkStatus() : StatusOfEntry(found->second.view());
}

absl::Status FirstWriteError(bson::View reply) {
  const bson::Value list = reply["writeErrors"];
  if (!list.Is(bson::Type::kArray)) return absl::OkStatus();
  const bson::Value first = list.AsDocument().Front().value;
  return first.Is(bson::Type::kObject) ? StatusOfEntry(first.AsDocument()) : absl::OkStatus();
}

void WriteResults::AddReplyCounts(bson::View reply) {
  AddCounts(CountField(reply, "n"), CountField(reply, "nModified"));
}

bson::Document WriteResults::Reply(bool with_modified, const wire::WriteConcern& concern) const {
  bson::Builder reply;
  AppendCount(reply, "n", n_);
  if (with_modified) AppendCount(reply, "nModified", modified_);
  if (!upserted_.empty()) {
    reply.OpenArray("upserted");
    bson::ArrayAppender array(reply);
    for (const auto& [index, id] : upserted_) {
      reply.OpenDocument(array.NextKey());
      reply.Append("index", index).Append("_id", id).Close();
    }
    reply.Close();
  }
  if (!errors_.empty()) {
    reply.OpenArray("writeErrors");
    bson::ArrayAppender array(reply);
    size_t error_bytes = 0;
    for (const auto& [index, entry] : errors_) {
      reply.OpenDocument(array.NextKey()).Append("index", index);
      error_bytes += entry.SizeBytes();
      for (const auto& field : entry.view()) {
        const bool short_form = error_bytes > kErrorBytesMax && field.key == "errmsg";
        if (short_form) {
          reply.Append(field.key, "");
        } else {
          reply.Append(field.key, field.value);
        }
      }
      reply.Close();
    }
    reply.Close();
  }
  if (const auto error = WriteConcernError(concern)) reply.Append("writeConcernError", *error);
  return reply.Finish();
}

std::optional<bson::Document> WriteConcernError(const wire::WriteConcern& concern) {
  if (!concern.given || concern.w.missing()) return std::nullopt;
  ErrorCode code = ErrorCode::kOK;
  std::string text;
  if (concern.w.IsNumber() && bson::ToInt64Truncated(concern.w) > 1) {
    code = ErrorCode::kUnsatisfiableWriteConcern;
    text = "Not enough data-bearing nodes";
  } else if (concern.w.Is(bson::Type::kString) && concern.w.AsString() != "majority") {
    code = ErrorCode::kUnknownReplWriteConcern;
    text = "No write concern mode named '" + std::string(concern.w.AsString()) + "' found";
  } else {
    return std::nullopt;
  }
  bson::Builder error;
  error.Append("code", static_cast<int32_t>(code))
      .Append("codeName", CodeName(code))
      .Append("errmsg", text);
  error.OpenDocument("errInfo").OpenDocument("writeConcern").Append("w", concern.w);
  error.Append("wtimeout", static_cast<int32_t>(concern.wtimeout_ms));
  error.Append("provenance", "clientSupplied").Close().Close();
  return error.Finish();
}

}  // namespace evenkeel::router::write
