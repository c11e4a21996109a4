// Choose, then write on condition.
#include "router/write/keyless.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/bson/number.h"
#include "base/random.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/plan/sort_pattern.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/transaction.h"
#include "txn/retry_record.h"
#include "txn/transaction_record.h"

namespace evenkeel::router::write {
namespace {

static_assert(kRecordOfUpdate == static_cast<int32_t>(txn::StatementKind::kUpdate));
static_assert(kRecordOfFindAndModify == static_cast<int32_t>(txn::StatementKind::kFindAndModify));

// Documents that keep changing under the statement are chosen again after growing pauses with some
// jitter.
constexpr int kAttemptsAtOnce = 3;
constexpr int64_t kPauseMillisMax = 32;

struct Choice {
  ShardId shard;
  std::string target;  // the document's key on its shard
  bson::Document sort_key;
};

wire::Message ChooseMessage(const CommandContext& context, const KeylessStatement& statement) {
  const catalog::CollectionEntry& entry = *statement.route->entry;
  bson::Builder body;
  body.Append("_choose", int32_t{1}).Append("$db", entry.database());
  body.Append("filter", statement.filter);
  if (!statement.sort.empty()) body.Append("sort", statement.sort);
  if (!statement.collation.empty()) body.Append("collation", statement.collation);
  if (!statement.let.empty()) body.Append("let", statement.let);
  body.Append("hint", statement.hint);
  wire::AppendEnvelope(body, EnvelopeOf(*statement.route, context.times));
  return MakeMessage(body.Finish());
}

absl::StatusOr<std::optional<Choice>> ReadChoice(ShardId shard, bson::View reply) {
  const bson::Value found = reply["found"], target = reply["t"], sort_key = reply["sortKey"];
  if (!found.Is(bson::Type::kBool) || !found.AsBool()) return std::nullopt;
  if (!target.Is(bson::Type::kBinary)) {
    return MakeError(ErrorCode::kInternalError, "a shard's choice lacks its document's key");
  }
  Choice choice;
  choice.shard = shard;
  choice.target = std::string(target.AsBinary().bytes);
  if (sort_key.Is(bson::Type::kArray)) choice.sort_key = bson::Document(sort_key.AsDocument());
  return choice;
}

// The first by sort order; without one, any.
absl::StatusOr<const Choice*> Pick(const KeylessStatement& statement,
                                   const std::vector<Choice>& choices) {
  if (statement.sort.empty()) return &choices[base::GlobalRandom64() % choices.size()];
  EVENKEEL_ASSIGN_OR_RETURN(const query::SortPattern pattern,
                            query::SortPattern::Parse(statement.sort));
  EVENKEEL_ASSIGN_OR_RETURN(
      const query::Collation* collation,
      query::Collation::ForCommand(statement.collation,
                                   query::CollationOption(statement.route->entry->options)));
  return &*std::min_element(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
    return pattern.CompareKeys(a.sort_key, b.sort_key, collation) < 0;
  });
}

Awaitable<absl::StatusOr<std::vector<Choice>>> ChooseOnAll(CommandContext& context,
                                                           const KeylessStatement& statement) {
  const wire::Message message = ChooseMessage(context, statement);
  std::vector<ShardCall> calls;
  for (const ShardId shard : statement.targets.shards) calls.push_back({shard, message});
  const auto replies = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  std::vector<Choice> choices;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) co_return replies[i].status();
    EVENKEEL_CO_ASSIGN_OR_RETURN(auto choice,
                                 ReadChoice(statement.targets.shards[i], replies[i]->body));
    if (choice) choices.push_back(*std::move(choice));
  }
  co_return choices;
}

bool IsMissed(bson::View reply) {
  const bson::Value missed = reply["missed"];
  return missed.Is(bson::Type::kBool) && missed.AsBool();
}

absl::Duration PauseBefore(int attempt) {
  if (attempt < kAttemptsAtOnce) return absl::ZeroDuration();
  const int64_t most = std::min(kPauseMillisMax, int64_t{1} << std::min(attempt, 10));
  return absl::Milliseconds(1 + base::GlobalRandom64() % static_cast<uint64_t>(most));
}

}  // namespace

namespace {

// What one shard is asked when a statement begins.
struct Beginning {
  bool may_have_record = false;
  std::vector<std::pair<std::string, bool>> touches;  // keys, and whether other attempts end
};

// Any router that knows this version of the collection finds the same shard.
ShardId HomeOf(const std::vector<ShardId>& shards, std::string_view touch) {
  const auto number = bson::LoadLittle<uint64_t>(touch.substr(sizeof(uint64_t)).data());
  return shards[number % shards.size()];
}

bool EqualsOneValue(bson::Value condition) {
  if (condition.missing() || condition.Is(bson::Type::kRegex)) return false;
  return !condition.Is(bson::Type::kObject) || !condition.AsDocument().Front().key.starts_with('$');
}

// One request per shard: two at once would both be the first of the transaction.
std::map<ShardId, Beginning> PlanBeginning(const CommandContext& context,
                                           const KeylessStatement& statement, bool upsert) {
  const std::vector<ShardId> shards = statement.route->Shards();
  std::map<ShardId, Beginning> plan;
  if (statement.retryable_id) {
    for (const ShardId shard : shards) plan[shard].may_have_record = true;
    const txn::TransactionId command{std::string(context.request.generic.lsid_bytes),
                                     *context.request.generic.txn_number};
    std::string key = txn::TouchKey(command, *statement.retryable_id);
    plan[HomeOf(shards, key)].touches.emplace_back(key, true);
  }
  if (upsert) {
    std::string key = txn::UpsertTouchKey(statement.route->entry->id, UpsertHash(statement.filter));
    plan[HomeOf(shards, key)].touches.emplace_back(key, false);
  }
  return plan;
}

wire::Message BeginningMessage(const CommandContext& context, const KeylessStatement& statement,
                               const Beginning& beginning) {
  bson::Builder body;
  body.Append(beginning.may_have_record ? "_findRecord" : "_touch", int32_t{1});
  body.Append("$db", statement.route->entry->database());
  body.OpenArray("touch");
  bson::ArrayAppender touches(body);
  for (const auto& [key, ends] : beginning.touches) {
    body.OpenDocument(touches.NextKey()).AppendBinary("k", 0, key).Append("ends", ends).Close();
  }
  body.Close();
  if (beginning.may_have_record) {
    body.Append("lsid", context.body()["lsid"]).Append("txnNumber", context.body()["txnNumber"]);
    body.Append("statement", *statement.retryable_id);
    wire::AppendEnvelope(body, EnvelopeOf(*statement.route));
  }
  return MakeMessage(body.Finish());
}

std::optional<KeylessOutcome> RecordIn(bson::View reply) {
  const bson::Value found = reply["found"], kind = reply["kind"], result = reply["result"];
  if (!found.Is(bson::Type::kBool) || !found.AsBool()) return std::nullopt;
  KeylessOutcome outcome;
  outcome.done = true;
  outcome.kind = kind.IsNumber() ? static_cast<int32_t>(bson::ToInt64Truncated(kind)) : 0;
  if (result.Is(bson::Type::kObject)) outcome.reply = bson::Document(result.AsDocument());
  return outcome;
}

}  // namespace

int64_t UpsertHash(bson::View filter) {
  if (const bson::Value id = filter["_id"]; EqualsOneValue(id)) return bson::HashValue(id);
  return bson::HashValue(bson::Value(bson::Type::kObject, filter.data()));
}

std::string TurnOf(std::string_view ns, bson::View filter, bson::View sort, bool upsert) {
  if (!upsert && sort.empty()) return {};
  return std::string(ns).append(1, '\0').append(std::to_string(UpsertHash(filter)));
}

Awaitable<absl::StatusOr<std::optional<KeylessOutcome>>> BeginKeyless(
    CommandContext& context, const KeylessStatement& statement, bool upsert) {
  std::vector<ShardCall> calls;
  for (const auto& [shard, beginning] : PlanBeginning(context, statement, upsert))
    calls.push_back({shard, BeginningMessage(context, statement, beginning)});
  const auto replies = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  std::optional<KeylessOutcome> outcome;
  for (const auto& reply : replies) {
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
    if (auto record = RecordIn(reply->body)) outcome = std::move(record);
  }
  // What was touched for nothing is given back.
  if (outcome) context.transaction->discarded = true;
  co_return outcome;
}

Awaitable<absl::StatusOr<KeylessOutcome>> RunKeyless(CommandContext& context,
                                                     const KeylessStatement& statement) {
  for (int attempt = 0;; ++attempt) {
    if (context.router.wall->Now() >= context.request.deadline) {
      co_return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
    }
    if (const absl::Duration pause = PauseBefore(attempt); pause > absl::ZeroDuration()) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(pause, context.cancelled));
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<Choice> choices,
                                 co_await ChooseOnAll(context, statement));
    if (choices.empty()) co_return KeylessOutcome();
    EVENKEEL_CO_ASSIGN_OR_RETURN(const Choice* choice, Pick(statement, choices));
    wire::ShardEnvelope envelope = EnvelopeOf(*statement.route, context.times);
    envelope.target = choice->target;
    ShardCall call{choice->shard, statement.make(envelope)};
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply, co_await context.router.cluster->Send(
                                                                std::move(call), context.scope()));
    if (IsMissed(reply.body)) continue;
    KeylessOutcome outcome;
    outcome.done = true;
    outcome.reply = ReplyFields(reply.body);
    co_return outcome;
  }
}

}  // namespace evenkeel::router::write
