// bulkWrite: writes of several kinds to several collections, carried out as the insert, update and
// delete commands that they stand for.
//
// Neighbouring inserts into one collection go together; every other operation is a command of its
// own, since its reply must tell its own counts.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/collection.h"
#include "router/cursor/cursors.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/write/bulk_request.h"
#include "router/write/write.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::router::write {
namespace {

// The commands behind the operations.
struct Delegate {
  std::string_view command, sequence;
  CommandHandler handler;
};

Delegate DelegateOf(WriteKind kind) {
  switch (kind) {
    case WriteKind::kInsert:
      return {"insert", "documents", InsertCommand};
    case WriteKind::kUpdate:
      return {"update", "updates", UpdateCommand};
    case WriteKind::kDelete:
      break;
  }
  return {"delete", "deletes", DeleteCommand};
}

int64_t Count(bson::View reply, std::string_view name) {
  const bson::Value value = reply[name];
  return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
}

// The reply while it comes together: one row per operation, and the sums.
class BulkResults {
 public:
  explicit BulkResults(const BulkRequest& request) : request_(request) {}

  // Takes the reply to the operations [begin, end). Returns true when one of them failed.
  bool Add(size_t begin, size_t end, bson::View reply);
  // The operations [begin, end) failed as a whole.
  void AddFailure(size_t begin, size_t end, const absl::Status& status);
  Awaitable<CommandResult> Reply(CommandContext& context);

 private:
  void AddSuccess(size_t index, bson::View reply);
  void AddError(size_t index, bson::View entry);

  const BulkRequest& request_;
  std::vector<bson::Document> rows_;
  int64_t errors_ = 0, inserted_ = 0, matched_ = 0, modified_ = 0, upserted_ = 0, deleted_ = 0;
  bson::Document concern_error_;
};

void BulkResults::AddSuccess(size_t index, bson::View reply) {
  const WriteKind kind = request_.operations[index].kind;
  const int64_t n = kind == WriteKind::kInsert ? 1 : Count(reply, "n");
  bson::Builder row;
  row.Append("ok", 1.0).Append("idx", static_cast<int32_t>(index));
  row.Append("n", static_cast<int32_t>(n));
  const bson::Value upserted = reply["upserted"];
  if (kind == WriteKind::kInsert) inserted_ += n;
  if (kind == WriteKind::kDelete) deleted_ += n;
  if (kind == WriteKind::kUpdate) {
    row.Append("nModified", static_cast<int32_t>(Count(reply, "nModified")));
    modified_ += Count(reply, "nModified");
    if (upserted.Is(bson::Type::kArray) && !upserted.AsDocument().empty()) {
      const bson::View first = upserted.AsDocument().Front().value.AsDocument();
      row.OpenDocument("upserted").Append("index", int32_t{0});
      row.Append("_id", first["_id"]).Close();
      ++upserted_;
    } else {
      matched_ += n;
    }
  }
  if (!request_.errors_only) rows_.push_back(row.Finish());
}

void BulkResults::AddError(size_t index, bson::View entry) {
  ++errors_;
  bson::Builder row;
  row.Append("ok", 0.0).Append("idx", static_cast<int32_t>(index));
  for (const auto& field : entry) {
    if (field.key != "index") row.Append(field.key, field.value);
  }
  row.Append("n", int32_t{0});
  if (request_.operations[index].kind == WriteKind::kUpdate) row.Append("nModified", int32_t{0});
  rows_.push_back(row.Finish());
}

bool BulkResults::Add(size_t begin, size_t end, bson::View reply) {
  if (const bson::Value error = reply["writeConcernError"]; error.Is(bson::Type::kObject)) {
    concern_error_ = bson::Document(error.AsDocument());
  }
  size_t next = begin;
  bool failed = false;
  if (const bson::Value errors = reply["writeErrors"]; errors.Is(bson::Type::kArray)) {
    for (const auto& [key, value] : errors.AsDocument()) {
      const bson::View entry = value.AsDocument();
      const size_t at = begin + static_cast<size_t>(Count(entry, "index"));
      for (; next < at; ++next) AddSuccess(next, reply);
      AddError(at, entry);
      next = at + 1;
      failed = true;
    }
  }
  // What stands behind the first error of an ordered command was not tried.
  if (failed && request_.ordered) return true;
  for (; next < end; ++next) AddSuccess(next, reply);
  return failed;
}

void BulkResults::AddFailure(size_t begin, size_t end, const absl::Status& status) {
  bson::Builder list;
  wire::AppendWriteError(list, "0", 0, status);
  const bson::Document made = list.Finish();
  const size_t stop = request_.ordered ? begin + 1 : end;
  for (size_t index = begin; index < stop; ++index) AddError(index, made["0"].AsDocument());
}

Awaitable<CommandResult> BulkResults::Reply(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document cursor,
                               co_await ReplyWithRows(context, "admin.$cmd.bulkWrite",
                                                      std::move(rows_), request_.batch_size));
  bson::Builder reply(cursor.view());
  const std::pair<std::string_view, int64_t> counts[] = {
      {"nErrors", errors_},     {"nInserted", inserted_}, {"nMatched", matched_},
      {"nModified", modified_}, {"nUpserted", upserted_}, {"nDeleted", deleted_}};
  for (const auto& [name, count] : counts) reply.Append(name, static_cast<int32_t>(count));
  if (!concern_error_.empty()) reply.Append("writeConcernError", concern_error_);
  co_return reply.Finish();
}

// The end of the run of operations that begins at `begin`.
size_t EndOfRun(const BulkRequest& request, size_t begin) {
  const BulkOperation& first = request.operations[begin];
  size_t end = begin + 1;
  if (first.kind != WriteKind::kInsert) return end;
  while (end < request.operations.size() && request.operations[end].kind == WriteKind::kInsert &&
         request.operations[end].target == first.target) {
    ++end;
  }
  return end;
}

// The command that the operations [begin, end) stand for.
absl::StatusOr<wire::Request> MakeCommand(const CommandContext& context, const BulkRequest& bulk,
                                          size_t begin, size_t end) {
  const BulkOperation& first = bulk.operations[begin];
  const Delegate delegate = DelegateOf(first.kind);
  const auto [database, collection] = catalog::SplitNamespace(bulk.namespaces[first.target]);
  bson::Builder body = StartCommand(delegate.command, collection, database, &context.request);
  body.Append("ordered", bulk.ordered);
  if (bulk.bypass_document_validation) body.Append("bypassDocumentValidation", true);
  if (!bulk.let.empty() && first.kind != WriteKind::kInsert) body.Append("let", bulk.let);
  if (const bson::Value concern = context.body()["writeConcern"]; !concern.missing()) {
    body.Append("writeConcern", concern);
  }
  if (context.request.is_retryable_write()) {
    body.OpenArray("stmtIds");
    bson::ArrayAppender ids(body);
    for (size_t index = begin; index < end; ++index) {
      ids.Add(bulk.ids.empty() ? static_cast<int32_t>(index) : bulk.ids[index]);
    }
    body.Close();
  }
  wire::Message message = MakeMessage(body.Finish(), context.request.message.owner);
  std::vector<bson::View> statements;
  for (size_t index = begin; index < end; ++index) {
    statements.push_back(bulk.operations[index].statement.view());
  }
  message.sequences.push_back({delegate.sequence, std::move(statements)});
  EVENKEEL_ASSIGN_OR_RETURN(wire::Request request,
                            wire::ParseRequest(std::move(message), context.router.wall->Now()));
  request.deadline = context.request.deadline;
  return request;
}

// True for what befalls the whole command, which then must not pretend to know its outcome.
bool EndsBulk(const absl::Status& status) {
  return Is(status, kNetwork) || Is(status, kShutdown) || Is(status, kInterrupted) ||
         Is(status, kRetryableWrite);
}

}  // namespace

Awaitable<CommandResult> BulkWriteCommand(CommandContext& context) {
  // Statements that run later are views into it.
  EVENKEEL_CO_ASSIGN_OR_RETURN(BulkRequest parsed, ParseBulkWrite(context.request));
  const auto bulk = std::make_shared<const BulkRequest>(std::move(parsed));
  BulkResults results(*bulk);
  for (size_t begin = 0; begin < bulk->operations.size();) {
    const size_t end = EndOfRun(*bulk, begin);
    EVENKEEL_CO_ASSIGN_OR_RETURN(wire::Request request, MakeCommand(context, *bulk, begin, end));
    request.generic.autocommit = context.request.generic.autocommit;
    EVENKEEL_CO_RETURN_IF_ERROR(wire::CheckAllowed(request));
    CommandContext part{context.router, request, context.client, context.cancelled, context.times};
    part.transaction = context.transaction;
    part.trace = context.trace;
    const CommandHandler handler = DelegateOf(bulk->operations[begin].kind).handler;
    const CommandResult reply = co_await handler(part);
    if (!reply.ok() && EndsBulk(reply.status())) co_return reply.status();
    bool failed = true;
    if (reply.ok()) {
      failed = results.Add(begin, end, reply->view());
    } else {
      results.AddFailure(begin, end, reply.status());
    }
    if (failed && bulk->ordered) break;
    begin = end;
  }
  co_return co_await results.Reply(context);
}

}  // namespace evenkeel::router::write
