// The statements of update and delete commands: which go to one shard, which to all, which need a
// choice.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "router/write/batch_writer.h"
#include "router/write/keyless.h"
#include "router/write/upsert.h"

namespace evenkeel::router::write {

// One statement of either command. Views point into the client's message.
struct ModifyStatement {
  bson::View statement;  // as the client wrote it
  bson::View filter, sort, collation, constants;
  bson::Value hint;
  bool multi = false;
  bool upsert = false;
  bson::Value update;  // missing: a delete
  bson::View array_filters;
};

class ModifyWriter final : public BatchWriter {
 public:
  ModifyWriter(CommandContext& context, Batch batch, std::vector<ModifyStatement> statements,
               bson::View let)
      : BatchWriter(context, std::move(batch)), statements_(std::move(statements)), let_(let) {}

 protected:
  absl::StatusOr<Placement> Place(const catalog::Route& route, size_t index) override;
  Awaitable<absl::Status> RunSpecial(RoutePtr route, size_t index, Placement placement) override;
  bool IsTransaction(size_t index, const Placement& placement) const override;
  std::string TurnOf(const catalog::Route& route, size_t index) const override;
  absl::Status Check(size_t index) const override;

 private:
  // All documents that match, on all targets at once.
  Awaitable<absl::Status> RunMulti(RoutePtr route, size_t index, const Targets& targets);
  // One document, wherever it is. True when there was one.
  Awaitable<absl::StatusOr<bool>> RunChosen(RoutePtr route, size_t index, const Targets& targets);
  // Begins a transaction of the statement's own. True when an earlier attempt has done it.
  Awaitable<absl::StatusOr<bool>> Begin(RoutePtr route, size_t index, const Targets& targets);
  // All documents that match; if there are none, the upsert, as a transaction.
  Awaitable<absl::Status> RunMultiUpsert(RoutePtr route, size_t index, Placement placement);
  // One document of one shard, without upsert. True when there was one.
  Awaitable<absl::StatusOr<bool>> RunOnShard(RoutePtr route, size_t index, ShardId shard);
  Awaitable<absl::Status> RunUpsert(RoutePtr route, size_t index, const Targets& targets);
  Awaitable<absl::StatusOr<bool>> TryWithoutUpsert(RoutePtr route, size_t index,
                                                   const Targets& targets);
  KeylessStatement KeylessOf(const RoutePtr& route, size_t index, const Targets& targets) const;
  // The statement alone as a command, without its upsert.
  wire::Message MakeSingle(const catalog::Route& route, size_t index,
                           wire::ShardEnvelope envelope) const;
  UpsertParts PartsOf(size_t index) const;
  std::optional<int32_t> RetryableId(size_t index) const;

  std::vector<ModifyStatement> statements_;
  bson::View let_;
  // What attempts at a multi statement have done, which StaleConfig has interrupted on other
  // shards.
  struct MultiProgress {
    RoutePtr route;          // of the last attempt
    std::set<ShardId> done;  // by it, or by others with the same ranges
    bool matched = false;
    // Parts (catalog/part.h) that shards with other ranges have left undone.
    std::vector<bson::Document> only;
  };
  std::map<size_t, MultiProgress> multi_;
};

}  // namespace evenkeel::router::write
