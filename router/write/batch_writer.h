// Carries out the statements of one insert, update or delete command: where each goes, in which
// order, what comes back.
//
// Ordered: runs of neighbouring statements for the same shard, one run after the other, up to the
// first error. Unordered: all shards at once. A statement that StaleConfig has turned away was not
// carried out and is targeted again. Statements that concern several shards are the subclass's
// work, one at a time.
//
// Invariants
//   W1  No statement is sent again once a shard may have carried it out.
//   W2  Errors and upserted ids carry the index that the client knows.
//   W3  The reply is made when everything it counts is durable.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/cluster.h"
#include "router/command.h"
#include "router/retry.h"
#include "router/target.h"
#include "router/write/results.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router::write {

enum class WriteKind : uint8_t { kInsert, kUpdate, kDelete };

// Where one statement goes.
struct Placement {
  Targets targets;
  bool special = false;  // RunSpecial carries it out, whatever the targets are
  bool one_shard() const { return !special && targets.shards.size() == 1; }
};

class BatchWriter {
 public:
  // `statements` point into the client's message or into what `keep` owns.
  struct Batch {
    WriteKind kind = WriteKind::kInsert;
    std::string ns;
    std::vector<bson::View> statements;
    std::vector<int32_t> ids;  // statement ids of a retryable command; empty: 0, 1, 2 …
    bool ordered = true;
    bool may_create = false;  // an absent collection is made first
    std::shared_ptr<const void> keep;
  };

  BatchWriter(CommandContext& context, Batch batch);
  virtual ~BatchWriter() = default;
  // The reply's fields. Errors: what keeps the whole command from running.
  Awaitable<CommandResult> Run();

 protected:
  // Errors end up in writeErrors.
  virtual absl::StatusOr<Placement> Place(const catalog::Route& route, size_t index) = 0;
  // A statement that concerns several shards; adds to results(). Errors: StaleConfig when nothing
  // was done, others go into writeErrors.
  virtual Awaitable<absl::Status> RunSpecial(RoutePtr route, size_t index, Placement placement) = 0;
  // True for one that has to be a transaction of its own.
  virtual bool IsTransaction(size_t, const Placement&) const { return false; }
  // The name of its turns then (router/transaction/statement.h).
  virtual std::string TurnOf(const catalog::Route&, size_t) const { return {}; }
  // RunSpecial as a transaction of its own.
  Awaitable<absl::Status> RunAsOwn(RoutePtr route, size_t index, Placement placement);
  // What can be checked of a statement without its collection.
  virtual absl::Status Check(size_t index) const = 0;

  CommandContext& context() const { return context_; }
  const Batch& batch() const { return batch_; }
  WriteResults& results() { return results_; }
  bool retryable() const { return context_.request.is_retryable_write(); }
  int32_t StatementId(size_t index) const;
  // Adds the reply to a command that had this statement only.
  void AbsorbOne(ShardId shard, size_t index, bson::View reply);
  // A command with these statements; `ids` are their statement ids.
  wire::Message MakePart(const catalog::Route& route, std::vector<bson::View> statements,
                         const std::vector<int32_t>& ids, wire::ShardEnvelope envelope) const;

 private:
  struct Part {
    ShardId shard;
    std::vector<size_t> indexes;  // into the statements, ascending
  };
  // What a part leaves to be done.
  struct PartOutcome {
    std::vector<size_t> again;  // turned away by StaleConfig
    bool stopped = false;       // ordered: an error ends the command
    absl::Status failure;       // of the request as a whole: nothing is known of its statements
  };
  using Placements = std::vector<absl::StatusOr<Placement>>;  // of the statements left, in order

  Awaitable<absl::StatusOr<RoutePtr>> OpenRoute(RouteRetry& retry);
  // Each takes the statements that are done out of `left`.
  Awaitable<absl::Status> RunOrdered(RoutePtr route, std::vector<size_t>& left);
  Awaitable<absl::Status> RunUnordered(RoutePtr route, std::vector<size_t>& left);
  Awaitable<PartOutcome> RunPart(RoutePtr route, const Part& part, bool early);
  Awaitable<PartOutcome> RunOne(RoutePtr route, size_t index, Placement placement);
  absl::StatusOr<Placement> PlaceOrMove(const catalog::Route& route, size_t index);
  Part TakeRun(const std::vector<size_t>& left, const Placements& placements, size_t at);
  wire::Message MessageOf(const catalog::Route& route, const Part& part, bool early) const;
  PartOutcome Absorb(const Part& part, const absl::StatusOr<wire::Message>& reply, bool early);
  void AbsorbReply(const Part& part, bson::View reply, PartOutcome& outcome);
  void AbsorbErrors(const Part& part, bson::View list, PartOutcome& outcome);
  void CheckAbsent(const std::vector<size_t>& left);
  using Failures = std::vector<std::pair<std::vector<size_t>, absl::Status>>;
  // Puts failures of parts into writeErrors, or returns the one that ends the command.
  absl::Status Settle(const Failures& failures);
  // True when the error is the whole command's, false when it goes into writeErrors.
  bool EndsCommand(const absl::Status& status) const;
  Awaitable<absl::Status> WaitDurable();

  CommandContext& context_;
  Batch batch_;
  WriteResults results_;
  std::set<size_t> moving_;                  // statements that move their documents
  std::map<ShardId, Timestamp> durable_at_;  // of shards that have answered before durability
};

// The collection may be written by clients. Errors: Unauthorized for parts of `config` that only
// DDL changes.
absl::Status CheckWritable(std::string_view ns);
// The ids of `count` statements: stmtIds, or stmtId as the first of them; empty when neither is
// given. Errors: InvalidOptions, InvalidLength.
absl::StatusOr<std::vector<int32_t>> StatementIds(bson::Value stmt_id, bson::Value stmt_ids,
                                                  size_t count);
// 166, naming the view.
absl::Status ViewError(std::string_view ns);

}  // namespace evenkeel::router::write
