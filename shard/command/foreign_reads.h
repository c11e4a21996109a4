// Reads of other collections on the same shard, for the operators of one cursor.
//
// The router has made sure that what the operators ask for lies here (router/read/colocation.h),
// and has named each collection with its version. A read is a cursor of its own, advanced batch by
// batch, in the state or snapshot that the command reads.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "query/exec/foreign.h"
#include "shard/command/command.h"
#include "shard/command/read_cursor.h"
#include "shard/command/versions_in_use.h"

namespace evenkeel::shard {

class ForeignCollections {
 public:
  // Errors: StaleConfig when the shard knows one of them in another version or not at all.
  static absl::StatusOr<ForeignCollections> Open(const CommandContext& context,
                                                 const wire::ShardEnvelope& envelope);
  bool empty() const { return collections_.empty(); }
  // Errors: InternalError for a collection that the envelope has not named.
  absl::StatusOr<Collection> Find(const std::string& ns) const;

 private:
  std::map<std::string, Collection> collections_;  // by the names that the stages use
  std::vector<VersionsInUse::Use> uses_;           // of them all, also between two reads
};

class ForeignReader {
 public:
  // `outer` is the context of the cursor's pipeline, whose settings and collation the reads share;
  // it outlives the reader.
  ForeignReader(ForeignCollections collections, const query::QueryContext& outer)
      : collections_(std::move(collections)), outer_(outer) {}

  bool HasWanted() const { return outer_.foreign->HasWanted(); }
  // Gives every wanted read its next rows. Suspends: as ReadCursor::NextBatch. Errors: of the
  // pipelines and scans.
  Awaitable<absl::Status> Serve(CommandContext& context);

 private:
  struct Open {
    query::ForeignReadPtr read;
    std::unique_ptr<ReadCursor> cursor;
  };
  absl::StatusOr<std::unique_ptr<ReadCursor>> Begin(const CommandContext& context,
                                                    const query::ForeignRead& read) const;
  Awaitable<absl::Status> Advance(CommandContext& context, query::ForeignReadPtr read);

  const ForeignCollections collections_;
  const query::QueryContext& outer_;
  std::map<const query::ForeignRead*, Open> open_;
};

}  // namespace evenkeel::shard
