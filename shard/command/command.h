// What every command of a shard is, and the steps that they share: opening a collection, waiting
// for a write.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/cancellation.h"
#include "base/bson/document.h"
#include "catalog/shard_catalog.h"
#include "query/context.h"
#include "shard/command/service.h"
#include "shard/commit/shard_state.h"
#include "wire/protocol/message.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::shard {

// What a command has examined, as far as it was noted for the log.
struct Figures {
  std::string plan;
  int64_t keys_examined = 0, docs_examined = 0;
};

// One command under way.
struct CommandContext {
  ShardService& service;
  const wire::Message& message;
  absl::Time deadline;
  base::CancellationToken cancelled;
  std::shared_ptr<Transaction> transaction;  // null: the command is not a part of one
  bool records_statements = false;           // the transaction is of one retryable statement
  absl::Time begun = absl::InfinitePast();
  std::optional<Figures> figures = {};

  // The state that the command reads, for one slice of work: the latest, or the transaction's
  // snapshot with its own writes on top. Errors: SnapshotTooOld.
  absl::StatusOr<storage::ReadSlice> Read() const;
  // Waits for the outcome of a transaction whose effects a read has met. Errors: MaxTimeMSExpired,
  // Interrupted; ExceededTimeLimit when a command without a deadline has waited for long.
  Awaitable<absl::Status> WaitFor(std::shared_ptr<Transaction> prepared) const;
  bson::View body() const { return message.body; }
  // The documents of a sequence, or of the body's array of that name.
  absl::StatusOr<std::vector<bson::View>> Documents(std::string_view name) const;
  // Errors: MaxTimeMSExpired, Interrupted.
  absl::Status CheckInterrupt() const;
};

using CommandResult = absl::StatusOr<bson::Document>;
using CommandHandler = Awaitable<CommandResult> (*)(CommandContext& context);

// The handler of a command's name, or null. shard/command/table.cc
CommandHandler FindHandler(std::string_view name);

// A collection as one command uses it: its entry, and the catalog that it came from.
struct Collection {
  std::shared_ptr<const catalog::CollectionEntry> entry;
  std::shared_ptr<const catalog::Assignment> assignment;  // null for unsharded ones
  std::shared_ptr<const catalog::Assignment> next;        // while ranges are moved: those it gets
  ShardId shard;
  std::optional<wire::CommandTimes> times;  // the command's, from its router

  // True when documents with this hash of the shard key belong to this shard.
  bool Owns(int64_t hash) const { return assignment == nullptr || assignment->Owns(shard, hash); }
  // True when this stored document does.
  bool Owns(std::string_view doc_key, bson::View document) const;
  // The same by the ranges that the collection gets. Requires entry->moves_ranges().
  bool OwnsNext(std::string_view doc_key, bson::View document) const;
  // True when they belong to this shard now, and to another one when the ranges have moved.
  // Requires entry->moves_ranges().
  bool Leaves(int64_t hash) const { return Owns(hash) && !next->Owns(shard, hash); }

 private:
  bool IsOwner(const catalog::Assignment& ranges, std::string_view doc_key,
               bson::View document) const;
};

// An entry with the ranges that it names. Errors: StaleConfig when the shard does not know them.
absl::StatusOr<Collection> WithRanges(std::shared_ptr<const catalog::CollectionEntry> entry,
                                      const catalog::ShardCatalog& catalog);
// Finds the collection that the envelope names. Errors: StaleConfig when the shard knows it in
// another version or not at all.
absl::StatusOr<Collection> OpenCollection(const catalog::ShardCatalog& catalog,
                                          const wire::ShardEnvelope& envelope);
// The same from the state of a slice.
absl::StatusOr<Collection> OpenCollection(const storage::ReadSlice& slice,
                                          const wire::ShardEnvelope& envelope);

// Context for compiling the query of a command on this collection; `let` of the command included:
// values that its router has evaluated.
absl::StatusOr<std::unique_ptr<query::QueryContext>> MakeQueryContext(const CommandContext& context,
                                                                      const Collection& collection);

}  // namespace evenkeel::shard
