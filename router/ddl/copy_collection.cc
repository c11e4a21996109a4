// Takes documents and notes of changes page by page from the shards that have them to those that
// get them.
#include "router/ddl/copy_collection.h"

#include <absl/time/clock.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/rebalance.h"
#include "router/cluster.h"
#include "router/ddl/entries.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router::ddl {
namespace {

using catalog::CollectionEntry;

// A round with no more notes than these leaves little for the time when writes are closed.
constexpr int64_t kShortRound = 200;
// Rounds that do not get short all the same: clients write faster than a round takes.
constexpr int kRoundsMax = 50;

// Where documents come from and where they go to.
struct Move {
  RouterState& router;
  const catalog::Route from, into;
  const CheckGoOn& go_on;

  // Of its ranges, not to a new incarnation.
  bool IsWithinCollection() const { return from.entry->moves_ranges(); }
  // Of what the shard has.
  double ShareCopied(ShardId shard) const {
    return IsWithinCollection() ? catalog::ShareLeaving(*from.assignment, *into.assignment, shard)
                                : 1;
  }
  ShardId OwnerOf(int64_t hash) const {
    return into.assignment ? into.assignment->OwnerOf(hash) : into.entry->primary;
  }
};

Awaitable<absl::StatusOr<Move>> OpenMove(RouterState& router, CollectionEntry from,
                                         CollectionEntry into, const CheckGoOn& go_on) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::Route source, co_await RouteOf(router, std::move(from)));
  EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::Route target, co_await RouteOf(router, std::move(into)));
  co_return Move{router, std::move(source), std::move(target), go_on};
}

bson::Builder Command(std::string_view name, const CollectionEntry& entry) {
  bson::Builder body;
  body.Append(name, int32_t{1}).Append("$db", entry.database());
  wire::AppendEnvelope(body, {.collection = entry.id, .version = entry.version});
  return body;
}

Awaitable<absl::Status> SendAll(const Move& move, std::vector<ShardCall> calls) {
  for (const auto& reply :
       co_await move.router.cluster->CallAll(std::move(calls), absl::InfiniteFuture(), {})) {
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
  }
  co_return absl::OkStatus();
}

// Rows by the shard that gets them, as a sequence of that command. The views live as long as
// `keep`.
class Parts {
 public:
  void Add(ShardId shard, bson::View row) { parts_[shard].push_back(row); }
  std::vector<ShardCall> Calls(std::string_view command, std::string_view sequence,
                               const CollectionEntry& entry, std::shared_ptr<const void> keep) {
    std::vector<ShardCall> calls;
    for (auto& [shard, rows] : parts_) {
      wire::Message message = MakeMessage(Command(command, entry).Finish(), keep);
      message.sequences.push_back({sequence, std::move(rows)});
      calls.push_back({shard, std::move(message)});
    }
    return calls;
  }

 private:
  std::map<ShardId, std::vector<bson::View>> parts_;
};

// ---- documents ----

absl::StatusOr<std::vector<ShardCall>> Split(const Move& move, bson::View rows,
                                             std::shared_ptr<const void> keep) {
  const CollectionEntry& into = *move.into.entry;
  Parts parts;
  for (const auto& [key, row] : rows) {
    int64_t hash = 0;
    if (into.sharded()) {
      EVENKEEL_ASSIGN_OR_RETURN(hash, into.shard_key->HashOf(row.AsDocument()));
    }
    parts.Add(move.OwnerOf(hash), row.AsDocument());
  }
  return parts.Calls("_copyIn", "documents", into, std::move(keep));
}

Awaitable<absl::Status> CopyDocuments(const Move& move, ShardId shard) {
  std::string after;
  std::optional<int64_t> served;  // by the shard, for clients
  for (bool more = true; more;) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await move.go_on());
    const absl::Time asked = absl::Now();
    bson::Builder body = Command("_copyOut", *move.from.entry);
    if (!after.empty()) body.AppendBinary("after", 0, after);
    ShardCall call{shard, MakeMessage(body.Finish())};
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message page,
                                 co_await move.router.cluster->Send(std::move(call), {}));
    EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<ShardCall> calls,
                                 Split(move, page.body["documents"].AsDocument(), page.owner));
    const bson::View documents = page.body["documents"].AsDocument();
    absl::Duration took = absl::Now() - asked;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await move.go_on.AwaitTurn(documents));
    const absl::Time sent = absl::Now();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SendAll(move, std::move(calls)));
    took += absl::Now() - sent;
    const int64_t served_now = bson::ToInt64Truncated(page.body["served"]);
    if (served && served_now > *served) move.go_on.GiveWay(took);
    served = served_now;
    move.go_on.Copied(documents);
    after = std::string(page.body["after"].AsBinary().bytes);
    more = bson::Truthy(page.body["more"]);
  }
  co_return absl::OkStatus();
}

// ---- changes ----

// One page of a shard's notes: taken over by the copy, then forgotten.
Awaitable<absl::Status> TakeOver(const Move& move, ShardId shard, const wire::Message& page) {
  Parts parts, done;
  for (const auto& [key, value] : page.body["notes"].AsDocument()) {
    const bson::View note = value.AsDocument();
    parts.Add(move.OwnerOf(note["h"].AsInt64()), note);
    done.Add(shard, note);
  }
  std::vector<ShardCall> apply =
      parts.Calls("_applyChanges", "notes", *move.into.entry, page.owner);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SendAll(move, std::move(apply)));
  std::vector<ShardCall> forget =
      done.Calls("_forgetChanges", "notes", *move.from.entry, page.owner);
  co_return co_await SendAll(move, std::move(forget));
}

// Once through the notes of one shard; adds their number to `count`.
Awaitable<absl::Status> RunRound(const Move& move, ShardId shard, int64_t* count) {
  std::string after;
  for (bool more = true; more;) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await move.go_on());
    bson::Builder body = Command("_changes", *move.from.entry);
    if (!after.empty()) body.AppendBinary("after", 0, after);
    ShardCall call{shard, MakeMessage(body.Finish())};
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message page,
                                 co_await move.router.cluster->Send(std::move(call), {}));
    for (const auto& [key, note] : page.body["notes"].AsDocument()) {
      after = std::string(note.AsDocument()["k"].AsBinary().bytes);
      ++*count;
    }
    more = bson::Truthy(page.body["more"]);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await TakeOver(move, shard, page));
  }
  co_return absl::OkStatus();
}

using OnShard = std::function<Awaitable<absl::Status>(ShardId shard)>;

Awaitable<void> RunInto(const OnShard& work, ShardId shard, absl::Status& result) {
  result = co_await work(shard);
}

// The same on all shards of `from` at once.
Awaitable<absl::Status> OnSources(const Move& move, OnShard work) {
  const std::vector<ShardId> shards = move.from.Shards();
  std::vector<absl::Status> results(shards.size());
  std::vector<std::function<Awaitable<void>()>> tasks;
  for (size_t i = 0; i < shards.size(); ++i) {
    tasks.emplace_back(
        [&work, shard = shards[i], &result = results[i]] { return RunInto(work, shard, result); });
  }
  co_await base::WhenAll(std::move(tasks));
  for (const absl::Status& result : results) EVENKEEL_CO_RETURN_IF_ERROR(result);
  co_return absl::OkStatus();
}

Awaitable<absl::StatusOr<int64_t>> RunRounds(const Move& move) {
  int64_t count = 0;
  OnShard work = [&move, &count](ShardId shard) { return RunRound(move, shard, &count); };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await OnSources(move, std::move(work)));
  co_return count;
}

// ---- the end ----

// Puts one page of rows of retryable writes on every shard: a retry finds its result on whichever
// shard it is routed to now.
Awaitable<absl::Status> CopyRows(const Move& move, const bson::Document& page) {
  std::vector<ShardCall> calls;
  const std::vector<ShardId> owners = move.into.Shards();
  for (const ShardId shard : owners) {
    bson::Builder body = Command("_copyIn", *move.into.entry);
    body.AppendArray("sessions", page["rows"].AsDocument());
    wire::Message message = MakeMessage(body.Finish());
    message.sequences.push_back({"documents", {}});
    calls.push_back({shard, std::move(message)});
  }
  co_return co_await SendAll(move, std::move(calls));
}

Awaitable<absl::Status> CopySessions(const Move& move, ShardId shard) {
  bson::Document page;
  do {
    bson::Builder body = Command("_copySessions", *move.from.entry);
    if (const bson::Value after = page["after"]; !after.missing()) body.Append("after", after);
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        page, co_await move.router.cluster->Call(shard, body.Finish(), absl::InfiniteFuture(), {}));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await CopyRows(move, page));
  } while (!page["after"].missing());
  co_return absl::OkStatus();
}

Awaitable<absl::Status> CheckClashes(const Move& move) {
  std::vector<ShardCall> calls;
  for (const ShardId shard : move.into.Shards()) {
    calls.push_back({shard, MakeMessage(Command("_checkClashes", *move.into.entry).Finish())});
  }
  co_return co_await SendAll(move, std::move(calls));
}

Awaitable<absl::StatusOr<int64_t>> CountOf(const Move& move, const catalog::Route& route) {
  int64_t count = 0;
  for (const ShardId shard : route.Shards()) {
    bson::Builder body;
    body.Append("count", route.entry->name()).Append("$db", route.entry->database());
    wire::AppendEnvelope(body, {.collection = route.entry->id, .version = route.entry->version});
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        const bson::Document reply,
        co_await move.router.cluster->Call(shard, body.Finish(), absl::InfiniteFuture(), {}));
    count += bson::ToInt64Truncated(reply["n"]);
  }
  co_return count;
}

Awaitable<absl::Status> CheckCounts(const Move& move) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t before, co_await CountOf(move, move.from));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t after, co_await CountOf(move, move.into));
  if (before == after) co_return absl::OkStatus();
  co_return Error(ErrorCode::kDuplicateKey,
                  "{} has {} documents, but its copy {}: several of one _id would lie on one shard",
                  move.from.entry->ns, before, after);
}

using Counts = std::map<ShardId, storage::Count>;

// Adds what has arrived at one shard, by the shards that it comes from.
Awaitable<absl::Status> AddArrivals(const Move& move, ShardId shard, Counts* counts) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document reply,
      co_await move.router.cluster->Call(shard, Command("_arrivals", *move.into.entry).Finish(),
                                         absl::InfiniteFuture(), {}));
  for (const auto& [key, value] : reply["arrivals"].AsDocument()) {
    const bson::View row = value.AsDocument();
    storage::Count& count = (*counts)[move.from.assignment->OwnerOf(row["min"].AsInt64())];
    count.documents += row["documents"].AsInt64();
    count.bytes += row["bytes"].AsInt64();
  }
  co_return absl::OkStatus();
}

// Tells every shard how many of its documents others have now: its counters are exact from the
// switch on.
Awaitable<absl::Status> TellLeaving(const Move& move) {
  Counts counts;
  for (const ShardId shard : move.into.Shards()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await AddArrivals(move, shard, &counts));
  }
  std::vector<ShardCall> calls;
  for (const ShardId shard : move.from.Shards()) {
    bson::Builder body = Command("_noteLeaving", *move.from.entry);
    body.Append("documents", counts[shard].documents).Append("bytes", counts[shard].bytes);
    calls.push_back({shard, MakeMessage(body.Finish())});
  }
  co_return co_await SendAll(move, std::move(calls));
}

}  // namespace

Awaitable<absl::Status> CopyCollection(RouterState& router, CollectionEntry from,
                                       CollectionEntry into, CheckGoOn go_on) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Move move,
                               co_await OpenMove(router, std::move(from), std::move(into), go_on));
  OnShard measure = [&move](ShardId shard) {
    return move.go_on.Measure(shard, *move.from.entry, move.ShareCopied(shard));
  };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await OnSources(move, std::move(measure)));
  OnShard work = [&move](ShardId shard) { return CopyDocuments(move, shard); };
  co_return co_await OnSources(move, std::move(work));
}

Awaitable<absl::Status> CatchUp(RouterState& router, CollectionEntry from, CollectionEntry into,
                                CheckGoOn go_on) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Move move,
                               co_await OpenMove(router, std::move(from), std::move(into), go_on));
  for (int round = 0; round < kRoundsMax; ++round) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t count, co_await RunRounds(move));
    if (count <= kShortRound) break;
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> CatchUpToTheEnd(RouterState& router, CollectionEntry from,
                                        CollectionEntry into, CheckGoOn go_on) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Move move,
                               co_await OpenMove(router, std::move(from), std::move(into), go_on));
  for (int64_t count = 1; count > 0;) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(count, co_await RunRounds(move));
  }
  OnShard sessions = [&move](ShardId shard) { return CopySessions(move, shard); };
  EVENKEEL_CO_RETURN_IF_ERROR(co_await OnSources(move, std::move(sessions)));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await CheckClashes(move));
  if (move.IsWithinCollection()) co_return co_await TellLeaving(move);
  co_return co_await CheckCounts(move);
}

}  // namespace evenkeel::router::ddl
