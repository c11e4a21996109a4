// Carries out updates and deletes.
#include "router/write/modify_writer.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/part.h"
#include "catalog/rebalance.h"
#include "query/collation/collation.h"
#include "query/request/update_request.h"
#include "router/query_context.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/transaction.h"
#include "txn/transaction_record.h"

namespace evenkeel::router::write {
namespace {

// A copy without `upsert`.
bson::Document WithoutUpsert(bson::View statement) {
  bson::Builder copy;
  for (const auto& field : statement) {
    if (field.key != "upsert") copy.Append(field.key, field.value);
  }
  return copy.Finish();
}

bool IsReplacement(bson::Value update) {
  return update.Is(bson::Type::kObject) && !update.AsDocument().Front().key.starts_with('$');
}

// Nothing was done: with another route, or as a transaction, it may be.
bool BeginsAgain(const absl::Status& status) {
  return Is(status, kStaleRouting) || CodeOf(status) == txn::kWouldChangeOwningShard;
}

bool HaveSameRanges(const catalog::Route& a, const catalog::Route& b) {
  return a.entry->id == b.entry->id && a.entry->assignment == b.entry->assignment;
}

// What none of these shards has had. Of an unsharded collection there is no rest.
void AddRest(const catalog::Route& route, const std::set<ShardId>& done,
             std::vector<bson::Document>* parts) {
  EVENKEEL_CHECK(route.assignment != nullptr);
  for (const ShardId shard : done) {
    const catalog::Part rest{*route.entry->shard_key,
                             catalog::SpansOfOthers(*route.assignment, shard)};
    parts->push_back(rest.ToBson());
  }
}

bson::Document ArrayOf(const std::vector<bson::Document>& documents) {
  bson::Builder array;
  bson::ArrayAppender rows(array);
  for (const bson::Document& document : documents) rows.Add(document);
  return array.Finish();
}

bool Matched(bson::View reply) {
  const bson::Value n = reply["n"];
  return (n.IsNumber() && bson::ToInt64Truncated(n) > 0) || reply.Contains("writeErrors");
}

}  // namespace

absl::StatusOr<Placement> ModifyWriter::Place(const catalog::Route& route, size_t index) {
  const ModifyStatement& statement = statements_[index];
  if (statement.multi && IsReplacement(statement.update)) {
    return MakeError(ErrorCode::kFailedToParse,
                     "multi update is not supported for replacement-style update");
  }
  Placement placement;
  EVENKEEL_ASSIGN_OR_RETURN(
      placement.targets, TargetStatement(context().router, context().times, route, statement.filter,
                                         statement.collation, let_));
  placement.special = placement.targets.shards.size() > 1 || multi_.contains(index);
  if (!statement.upsert || placement.special || KeepsShardKey(route, PartsOf(index))) {
    return placement;
  }
  // The new document may belong to another shard than those that match. Errors of making it count
  // only when it is needed.
  const auto document =
      BuildUpsertDocument(context().router, context().times, route, PartsOf(index));
  const auto shard =
      document.ok() ? TargetDocument(route, *document) : absl::StatusOr<ShardId>(document.status());
  placement.special = !shard.ok() || *shard != placement.targets.shards[0];
  return placement;
}

absl::Status ModifyWriter::Check(size_t index) const {
  const ModifyStatement& statement = statements_[index];
  const auto query_context = MakeQueryContext(context().router, context().times, batch().ns, let_);
  EVENKEEL_RETURN_IF_ERROR(query::Collation::Get(statement.collation).status());
  EVENKEEL_RETURN_IF_ERROR(query::Filter::Parse(statement.filter, *query_context).status());
  if (statement.update.missing()) return absl::OkStatus();
  if (!statement.constants.empty()) {
    query_context->let = query::WithConstants(statement.constants, let_);
  }
  return query::Update::Parse(statement.update, statement.array_filters, *query_context).status();
}

UpsertParts ModifyWriter::PartsOf(size_t index) const {
  const ModifyStatement& statement = statements_[index];
  return {statement.filter, let_, statement.update, statement.array_filters, statement.constants};
}

std::optional<int32_t> ModifyWriter::RetryableId(size_t index) const {
  if (!retryable()) return std::nullopt;
  return StatementId(index);
}

wire::Message ModifyWriter::MakeSingle(const catalog::Route& route, size_t index,
                                       wire::ShardEnvelope envelope) const {
  auto statement =
      std::make_shared<const bson::Document>(WithoutUpsert(statements_[index].statement));
  wire::Message message = MakePart(route, {statement->view()}, {StatementId(index)}, envelope);
  // Both owners live as long as the message.
  message.owner =
      std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
          std::move(message.owner), std::move(statement));
  return message;
}

// A repeated attempt, here or through another router, must not find another document, nor two
// upserts nothing. One that changes many documents is not repeated.
bool ModifyWriter::IsTransaction(size_t index, const Placement& placement) const {
  const ModifyStatement& statement = statements_[index];
  return placement.special && !statement.multi && (statement.upsert || retryable());
}

std::string ModifyWriter::TurnOf(const catalog::Route& route, size_t index) const {
  const ModifyStatement& statement = statements_[index];
  return write::TurnOf(route.entry->ns, statement.filter, statement.sort, statement.upsert);
}

Awaitable<absl::Status> ModifyWriter::RunSpecial(RoutePtr route, size_t index,
                                                 Placement placement) {
  const ModifyStatement& statement = statements_[index];
  const bool multi_upsert = statement.multi && statement.upsert;
  if (multi_upsert && !context().transaction)
    co_return co_await RunMultiUpsert(route, index, std::move(placement));
  const bool own = context().transaction && context().transaction->is_statement();
  if (own && (statement.upsert || retryable())) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bool done, co_await Begin(route, index, placement.targets));
    if (done) co_return absl::OkStatus();
  }
  if (statement.upsert) co_return co_await RunUpsert(route, index, placement.targets);
  if (statement.multi) co_return co_await RunMulti(route, index, placement.targets);
  const auto found = co_await RunChosen(route, index, placement.targets);
  if (own && found.ok() && !*found) context().transaction->discarded = true;
  co_return found.status();
}

Awaitable<absl::Status> ModifyWriter::RunMultiUpsert(RoutePtr route, size_t index,
                                                     Placement placement) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunMulti(route, index, placement.targets));
  if (multi_[index].matched) co_return absl::OkStatus();
  co_return co_await RunAsOwn(route, index, std::move(placement));
}

Awaitable<absl::StatusOr<bool>> ModifyWriter::Begin(RoutePtr route, size_t index,
                                                    const Targets& targets) {
  const KeylessStatement statement = KeylessOf(route, index, targets);
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const auto record, co_await BeginKeyless(context(), statement, statements_[index].upsert));
  if (!record) co_return false;
  AbsorbOne({}, index, record->reply);
  co_return true;
}

Awaitable<absl::Status> ModifyWriter::RunMulti(RoutePtr route, size_t index,
                                               const Targets& targets) {
  MultiProgress& progress = multi_[index];
  std::set<ShardId>& done = progress.done;
  if (!done.empty() && !HaveSameRanges(*progress.route, *route)) {
    AddRest(*progress.route, std::exchange(done, {}), &progress.only);
  }
  progress.route = route;
  const bson::Document only = ArrayOf(progress.only);
  wire::ShardEnvelope envelope = EnvelopeOf(*route, context().times);
  envelope.only = only.view();
  const wire::Message message = MakeSingle(*route, index, envelope);
  std::vector<ShardId> asked;
  std::vector<ShardCall> calls;
  for (const ShardId shard : targets.shards) {
    if (done.contains(shard)) continue;
    asked.push_back(shard);
    calls.push_back({shard, message});
  }
  const auto replies =
      co_await context().router.cluster->SendAll(std::move(calls), context().scope());
  absl::Status stale;
  for (size_t i = 0; i < asked.size(); ++i) {
    const absl::Status status =
        replies[i].ok() ? FirstWriteError(replies[i]->body) : replies[i].status();
    if (!status.ok() && Is(status, kStaleRouting)) {
      stale = status;
      continue;
    }
    done.insert(asked[i]);
    if (replies[i].ok()) {
      progress.matched = progress.matched || Matched(replies[i]->body);
      AbsorbOne(asked[i], index, replies[i]->body);
    } else {
      progress.matched = true;
      results().AddError(static_cast<int32_t>(index), status);
    }
  }
  co_return stale;
}

KeylessStatement ModifyWriter::KeylessOf(const RoutePtr& route, size_t index,
                                         const Targets& targets) const {
  const ModifyStatement& from = statements_[index];
  KeylessStatement statement;
  statement.route = route;
  statement.targets = targets;
  statement.filter = from.filter;
  statement.sort = from.sort;
  statement.collation = from.collation;
  statement.let = let_;
  statement.hint = from.hint;
  statement.retryable_id = RetryableId(index);
  statement.make = [this, route, index](const wire::ShardEnvelope& envelope) {
    return MakeSingle(*route, index, envelope);
  };
  return statement;
}

Awaitable<absl::StatusOr<bool>> ModifyWriter::RunChosen(RoutePtr route, size_t index,
                                                        const Targets& targets) {
  const KeylessStatement statement = KeylessOf(route, index, targets);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const KeylessOutcome outcome,
                               co_await RunKeyless(context(), statement));
  if (!outcome.done) co_return false;
  // Sent with one statement: StaleConfig means that it was not carried out.
  const absl::Status status = FirstWriteError(outcome.reply);
  if (BeginsAgain(status)) co_return status;
  AbsorbOne({}, index, outcome.reply);
  co_return true;
}

Awaitable<absl::StatusOr<bool>> ModifyWriter::RunOnShard(RoutePtr route, size_t index,
                                                         ShardId shard) {
  ShardCall call{shard, MakeSingle(*route, index, EnvelopeOf(*route, context().times))};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply, co_await context().router.cluster->Send(
                                                              std::move(call), context().scope()));
  const absl::Status status = FirstWriteError(reply.body);
  if (BeginsAgain(status)) co_return status;
  AbsorbOne(shard, index, reply.body);
  co_return Matched(reply.body);
}

Awaitable<absl::StatusOr<bool>> ModifyWriter::TryWithoutUpsert(RoutePtr route, size_t index,
                                                               const Targets& targets) {
  if (statements_[index].multi) {
    // What an attempt before this one has done is taken back.
    multi_.erase(index);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await RunMulti(route, index, targets));
    co_return multi_[index].matched;
  }
  if (targets.shards.size() == 1) {
    co_return co_await RunOnShard(route, index, targets.shards[0]);
  }
  co_return co_await RunChosen(route, index, targets);
}

// In a transaction, the client's or its own: two of them do not both find nothing and insert.
Awaitable<absl::Status> ModifyWriter::RunUpsert(RoutePtr route, size_t index,
                                                const Targets& targets) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bool matched,
                               co_await TryWithoutUpsert(route, index, targets));
  if (matched) co_return absl::OkStatus();
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document document,
      BuildUpsertDocument(context().router, context().times, *route, PartsOf(index)));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document inserted,
      co_await InsertUpsert(context(), route, document, RetryableId(index)));
  AbsorbOne({}, index, inserted);
  co_return absl::OkStatus();
}

}  // namespace evenkeel::router::write
