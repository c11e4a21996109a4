// Runs of statements to shards, and their answers.
#include "router/write/batch_writer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "router/ddl/ddl.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/statement.h"
#include "txn/transaction_record.h"

namespace evenkeel::router::write {
namespace {

struct KindNames {
  std::string_view command, sequence;
};

KindNames NamesOf(WriteKind kind) {
  switch (kind) {
    case WriteKind::kInsert:
      return {"insert", "documents"};
    case WriteKind::kUpdate:
      return {"update", "updates"};
    case WriteKind::kDelete:
      break;
  }
  return {"delete", "deletes"};
}

// Collections of `config` that clients may write: what mongosh's helpers change.
constexpr std::string_view kWritableConfig[] = {
    "config.settings",  "config.collections", "config.tags",  "config.changelog",
    "config.actionlog", "config.locks",       "config.mongos"};

ErrorCode CodeOfEntry(bson::View entry) {
  const bson::Value code = entry["code"];
  return code.Is(bson::Type::kInt32) ? static_cast<ErrorCode>(code.AsInt32())
                                     : ErrorCode::kUnknownError;
}

// True for what has befallen the request rather than the statement.
bool ConcernsRequest(const absl::Status& status) {
  return Is(status, kNetwork) || Is(status, kShutdown) || Is(status, kInterrupted) ||
         Is(status, kRetryableWrite);
}

bool IsIdentity(const std::vector<int32_t>& ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != static_cast<int32_t>(i)) return false;
  }
  return true;
}

}  // namespace

absl::Status CheckWritable(std::string_view ns) {
  if (!ns.starts_with("config.")) return absl::OkStatus();
  if (std::find(std::begin(kWritableConfig), std::end(kWritableConfig), ns) !=
      std::end(kWritableConfig)) {
    return absl::OkStatus();
  }
  return Error(ErrorCode::kUnauthorized, "'{}' is changed by administrative commands only", ns);
}

absl::Status ViewError(std::string_view ns) {
  return Error(ErrorCode::kCommandNotSupportedOnView, "Namespace {} is a view, not a collection",
               ns);
}

absl::StatusOr<std::vector<int32_t>> StatementIds(bson::Value stmt_id, bson::Value stmt_ids,
                                                  size_t count) {
  std::vector<int32_t> ids;
  if (!stmt_id.missing() && !stmt_ids.missing()) {
    return MakeError(ErrorCode::kInvalidOptions, "stmtId and stmtIds cannot both be given");
  }
  if (!stmt_id.missing()) {
    const auto first = bson::ToInt64Exact(stmt_id);
    if (!first) return MakeError(ErrorCode::kTypeMismatch, "stmtId must be an integer");
    for (size_t i = 0; i < count; ++i)
      ids.push_back(static_cast<int32_t>(*first + static_cast<int64_t>(i)));
  }
  if (!stmt_ids.missing()) {
    if (!stmt_ids.Is(bson::Type::kArray)) {
      return MakeError(ErrorCode::kTypeMismatch, "stmtIds must be an array");
    }
    for (const auto& [key, value] : stmt_ids.AsDocument()) {
      const auto id = value.IsNumber() ? bson::ToInt64Exact(value) : std::nullopt;
      if (!id) return MakeError(ErrorCode::kTypeMismatch, "stmtIds must hold integers");
      ids.push_back(static_cast<int32_t>(*id));
    }
    if (ids.size() != count) {
      return Error(ErrorCode::kInvalidLength, "{} statement ids for {} statements", ids.size(),
                   count);
    }
  }
  return ids;
}

BatchWriter::BatchWriter(CommandContext& context, Batch batch)
    : context_(context), batch_(std::move(batch)) {}

int32_t BatchWriter::StatementId(size_t index) const {
  return batch_.ids.empty() ? static_cast<int32_t>(index) : batch_.ids[index];
}

wire::Message BatchWriter::MakePart(const catalog::Route& route, std::vector<bson::View> statements,
                                    const std::vector<int32_t>& ids,
                                    wire::ShardEnvelope envelope) const {
  const KindNames names = NamesOf(batch_.kind);
  bson::Builder body =
      StartCommand(names.command, route.entry->name(), route.entry->database(), &context_.request);
  AppendFieldsExcept(body, context_.body(), {names.sequence, "stmtId", "stmtIds"});
  bson::Builder id_array;
  if (retryable() && !IsIdentity(ids)) {
    bson::ArrayAppender array(id_array);
    for (const int32_t id : ids) array.Add(id);
  }
  const bson::Document id_list = id_array.Finish();
  if (!id_list.empty()) envelope.statements = id_list;
  wire::AppendEnvelope(body, envelope);
  wire::Message message = MakeMessage(body.Finish(), batch_.keep);
  message.sequences.push_back({names.sequence, std::move(statements)});
  return message;
}

wire::Message BatchWriter::MessageOf(const catalog::Route& route, const Part& part,
                                     bool early) const {
  std::vector<bson::View> statements;
  std::vector<int32_t> ids;
  statements.reserve(part.indexes.size());
  for (const size_t index : part.indexes) {
    statements.push_back(batch_.statements[index]);
    if (retryable()) ids.push_back(StatementId(index));
  }
  wire::ShardEnvelope envelope = EnvelopeOf(route, context_.times);
  envelope.early = early;
  return MakePart(route, std::move(statements), ids, envelope);
}

Awaitable<absl::StatusOr<RoutePtr>> BatchWriter::OpenRoute(RouteRetry& retry) {
  RoutePtr route = retry.Known();
  if (!route) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(route, co_await retry.Route());
  }
  if (!route && batch_.may_create) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        route, co_await ddl::EnsureCollection(context_.router, batch_.ns, context_.request.deadline,
                                              context_.cancelled));
    if (context_.transaction) context_.transaction->NoteCreated(batch_.ns);
  }
  if (route && route->entry->kind == catalog::CollectionKind::kView) {
    co_return ViewError(batch_.ns);
  }
  co_return route;
}

Awaitable<CommandResult> BatchWriter::Run() {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckWritable(batch_.ns));
  RouteRetry retry(context_.router, batch_.ns, context_.scope());
  std::vector<size_t> left(batch_.statements.size());
  std::iota(left.begin(), left.end(), size_t{0});
  absl::Status failure;
  while (!left.empty()) {
    const auto route = co_await OpenRoute(retry);
    failure = route.status();
    if (!failure.ok()) break;
    if (!*route) {
      CheckAbsent(left);
      break;
    }
    // Two statements: GCC 12 destroys the results of a conditional expression with co_await twice.
    if (batch_.ordered) {
      failure = co_await RunOrdered(*route, left);
    } else {
      failure = co_await RunUnordered(*route, left);
    }
    if (!failure.ok() || left.empty()) break;
    failure = co_await retry.Refresh();
    if (!failure.ok()) break;
  }
  const absl::Status durable = co_await WaitDurable();
  if (!durable.ok()) co_return durable;
  if (!failure.ok()) {
    // What was done is told, and why the rest was not.
    if (EndsCommand(failure)) co_return failure;
    for (const size_t index : left) {
      results_.AddError(static_cast<int32_t>(index), failure);
      if (batch_.ordered) break;
    }
  }
  co_return results_.Reply(batch_.kind == WriteKind::kUpdate,
                           context_.request.generic.write_concern);
}

// Nothing matches in a collection that does not exist, but bad statements are still errors.
void BatchWriter::CheckAbsent(const std::vector<size_t>& left) {
  for (const size_t index : left) {
    const absl::Status status = Check(index);
    if (status.ok()) continue;
    results_.AddError(static_cast<int32_t>(index), status);
    if (batch_.ordered) return;
  }
}

bool BatchWriter::EndsCommand(const absl::Status& status) const {
  if (retryable() && Is(status, kRetryableWrite)) return true;
  return !results_.changed_anything() && !results_.has_errors();
}

absl::StatusOr<Placement> BatchWriter::PlaceOrMove(const catalog::Route& route, size_t index) {
  absl::StatusOr<Placement> placement = Place(route, index);
  if (placement.ok() && moving_.contains(index)) placement->special = true;
  return placement;
}

BatchWriter::Part BatchWriter::TakeRun(const std::vector<size_t>& left,
                                       const Placements& placements, size_t at) {
  Part part;
  part.shard = placements[at]->targets.shards[0];
  for (; at < left.size(); ++at) {
    const absl::StatusOr<Placement>& next = placements[at];
    if (!next.ok() || !next->one_shard() || next->targets.shards[0] != part.shard) break;
    part.indexes.push_back(left[at]);
    // An update may move a document that the next one is about.
    if (context_.transaction && batch_.kind == WriteKind::kUpdate) break;
  }
  return part;
}

Awaitable<BatchWriter::PartOutcome> BatchWriter::RunPart(RoutePtr route, const Part& part,
                                                         bool early) {
  ShardCall call{part.shard, MessageOf(*route, part, early)};
  const auto reply = co_await context_.router.cluster->Send(std::move(call), context_.scope());
  PartOutcome outcome = Absorb(part, reply, early);
  if (context_.transaction) outcome.failure.Update(co_await InsertLeaving(context_));
  co_return outcome;
}

// Each attempt counts only when it is committed.
Awaitable<absl::Status> BatchWriter::RunAsOwn(RoutePtr route, size_t index, Placement placement) {
  const WriteResults before = results_;
  std::string turn = TurnOf(*route, index);
  const absl::Status status = co_await RunAsTransaction(
      context_, std::move(turn),
      [this, &before, &route, index, &placement]() -> Awaitable<absl::Status> {
        results_ = before;
        EVENKEEL_CO_RETURN_IF_ERROR(co_await RunSpecial(route, index, placement));
        co_return results_.ErrorOf(static_cast<int32_t>(index));
      });
  if (!status.ok()) results_ = before;
  co_return status;
}

Awaitable<BatchWriter::PartOutcome> BatchWriter::RunOne(RoutePtr route, size_t index,
                                                        Placement placement) {
  PartOutcome outcome;
  absl::Status status;
  const bool own =
      !context_.transaction && (moving_.contains(index) || IsTransaction(index, placement));
  if (own) {
    status = co_await RunAsOwn(route, index, placement);
  } else {
    status = co_await RunSpecial(route, index, placement);
    // An update that moves its document to another shard.
    const bool moves = CodeOf(status) == txn::kWouldChangeOwningShard && !context_.transaction;
    if (moves) status = co_await RunAsOwn(route, index, placement);
  }
  if (!status.ok() && Is(status, kStaleRouting)) {
    outcome.again.push_back(index);
  } else if (status.ok() || ConcernsRequest(status)) {
    outcome.failure = std::move(status);
  } else {
    results_.AddError(static_cast<int32_t>(index), status);
  }
  outcome.stopped = batch_.ordered && results_.has_errors();
  co_return outcome;
}

Awaitable<absl::Status> BatchWriter::RunOrdered(RoutePtr route, std::vector<size_t>& left) {
  Placements placements;
  for (const size_t index : left) placements.push_back(PlaceOrMove(*route, index));
  size_t at = 0;
  while (at < left.size()) {
    if (!placements[at].ok()) {
      results_.AddError(static_cast<int32_t>(left[at]), placements[at].status());
      left.clear();
      co_return absl::OkStatus();
    }
    PartOutcome outcome;
    size_t done = 1;
    if (placements[at]->one_shard()) {
      const Part part = TakeRun(left, placements, at);
      done = part.indexes.size();
      // With more runs to come the wait for durability is put off to the end.
      const bool early =
          batch_.kind == WriteKind::kInsert && done < left.size() && !context_.transaction;
      outcome = co_await RunPart(route, part, early);
    } else {
      outcome = co_await RunOne(route, left[at], *std::move(placements[at]));
    }
    if (outcome.stopped) {
      left.clear();
      co_return absl::OkStatus();
    }
    if (!outcome.failure.ok()) done = 0;
    at += done - outcome.again.size();
    if (!outcome.failure.ok() || !outcome.again.empty()) {
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(at));
      co_return outcome.failure;
    }
  }
  left.clear();
  co_return absl::OkStatus();
}

Awaitable<absl::Status> BatchWriter::RunUnordered(RoutePtr route, std::vector<size_t>& left) {
  std::map<ShardId, Part> by_shard;
  std::vector<std::pair<size_t, Placement>> others;
  for (const size_t index : left) {
    absl::StatusOr<Placement> placement = PlaceOrMove(*route, index);
    if (!placement.ok()) {
      results_.AddError(static_cast<int32_t>(index), placement.status());
    } else if (placement->one_shard()) {
      by_shard[placement->targets.shards[0]].indexes.push_back(index);
    } else {
      others.emplace_back(index, *std::move(placement));
    }
  }
  std::vector<ShardCall> calls;
  for (auto& [shard, part] : by_shard) {
    part.shard = shard;
    calls.push_back({shard, MessageOf(*route, part, false)});
  }
  left.clear();
  Failures failures;
  const auto replies =
      co_await context_.router.cluster->SendAll(std::move(calls), context_.scope());
  size_t i = 0;
  for (const auto& [shard, part] : by_shard) {
    const PartOutcome outcome = Absorb(part, replies[i++], false);
    left.insert(left.end(), outcome.again.begin(), outcome.again.end());
    if (!outcome.failure.ok()) failures.emplace_back(part.indexes, outcome.failure);
  }
  for (auto& [index, placement] : others) {
    const PartOutcome outcome = co_await RunOne(route, index, std::move(placement));
    left.insert(left.end(), outcome.again.begin(), outcome.again.end());
    if (!outcome.failure.ok()) failures.emplace_back(std::vector<size_t>{index}, outcome.failure);
  }
  std::sort(left.begin(), left.end());
  co_return Settle(failures);
}

absl::Status BatchWriter::Settle(const Failures& failures) {
  for (const auto& [indexes, status] : failures) {
    if (EndsCommand(status)) return status;
  }
  for (const auto& [indexes, status] : failures) {
    for (const size_t index : indexes) results_.AddError(static_cast<int32_t>(index), status);
  }
  return absl::OkStatus();
}

BatchWriter::PartOutcome BatchWriter::Absorb(const Part& part,
                                             const absl::StatusOr<wire::Message>& reply,
                                             bool early) {
  PartOutcome outcome;
  if (!reply.ok()) {
    if (Is(reply.status(), kStaleRouting)) {
      outcome.again = part.indexes;
    } else {
      outcome.failure = reply.status();
    }
    return outcome;
  }
  if (early) {
    const bson::Value at = reply->body["durableAt"];
    Timestamp& known = durable_at_[part.shard];
    known = std::max(
        known, at.Is(bson::Type::kTimestamp) ? at.AsTimestamp() : context_.router.clock->Now());
  }
  AbsorbReply(part, reply->body, outcome);
  return outcome;
}

void BatchWriter::AbsorbOne(ShardId shard, size_t index, bson::View reply) {
  PartOutcome outcome;
  Part part;
  part.shard = shard;
  part.indexes.push_back(index);
  AbsorbReply(part, reply, outcome);
}

void BatchWriter::AbsorbReply(const Part& part, bson::View reply, PartOutcome& outcome) {
  results_.AddReplyCounts(reply);
  if (const bson::Value upserted = reply["upserted"]; upserted.Is(bson::Type::kArray)) {
    for (const auto& [key, value] : upserted.AsDocument()) {
      const bson::View entry = value.AsDocument();
      const auto at = static_cast<size_t>(bson::ToInt64Truncated(entry["index"]));
      if (at >= part.indexes.size()) continue;
      results_.AddUpserted(static_cast<int32_t>(part.indexes[at]), entry["_id"]);
    }
  }
  const bson::Value list = reply["writeErrors"];
  if (list.Is(bson::Type::kArray)) AbsorbErrors(part, list.AsDocument(), outcome);
}

void BatchWriter::AbsorbErrors(const Part& part, bson::View list, PartOutcome& outcome) {
  for (const auto& [key, value] : list) {
    const bson::View entry = value.AsDocument();
    const auto at = static_cast<size_t>(bson::ToInt64Truncated(entry["index"]));
    if (at >= part.indexes.size()) continue;
    const bool moves = CodeOfEntry(entry) == txn::kWouldChangeOwningShard;
    if (moves) moving_.insert(part.indexes[at]);
    if (!moves && !Is(CodeOfEntry(entry), kStaleRouting)) {
      results_.AddErrorEntry(static_cast<int32_t>(part.indexes[at]), entry);
      outcome.stopped = batch_.ordered;
      continue;
    }
    // Ordered: neither this one nor those behind it were carried out.
    const auto from = part.indexes.begin() + static_cast<std::ptrdiff_t>(at);
    outcome.again.insert(outcome.again.end(), from, batch_.ordered ? part.indexes.end() : from + 1);
    if (batch_.ordered) return;
  }
}

Awaitable<absl::Status> BatchWriter::WaitDurable() {
  if (durable_at_.empty()) co_return absl::OkStatus();
  std::vector<ShardCall> calls;
  for (const auto& [shard, time] : durable_at_) {
    bson::Builder body;
    body.Append("_waitDurable", time).Append("$db", "admin");
    calls.push_back({shard, MakeMessage(body.Finish())});
  }
  const auto replies =
      co_await context_.router.cluster->SendAll(std::move(calls), context_.scope());
  for (const auto& reply : replies) {
    if (!reply.ok()) co_return reply.status();
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::router::write
