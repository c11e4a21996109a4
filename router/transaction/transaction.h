// A client's transaction as its router runs it: the snapshot, the shards that take part, and how
// far it has come.
//
// Statements come one at a time (the session's turn); one statement may call several shards at
// once. Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/hash_map.h"
#include "base/types.h"
#include "wire/protocol/message.h"

namespace evenkeel::router {

class ClientTransaction {
 public:
  enum class State : uint8_t { kOpen, kCommitting, kCommitted, kAborted };

  // `lsid`: the 16 bytes of the session's UUID. It reads at `read_at` on every shard.
  ClientTransaction(std::string lsid, TxnNumber number, Timestamp read_at)
      : lsid_(std::move(lsid)), number_(number), read_at_(read_at) {}
  // A transaction of the router's own, for one statement of a client: it has a session of its own,
  // and the results of a retryable statement are recorded with its writes.
  static std::shared_ptr<ClientTransaction> OfStatement(Timestamp read_at);
  // One that only reads: it lives as long as its cursor.
  static std::shared_ptr<ClientTransaction> OfSnapshot(Timestamp read_at);
  bool only_reads() const { return only_reads_; }
  // True for one of a statement.
  bool is_statement() const { return records_; }
  // True for one that a client has begun.
  bool is_clients() const { return !records_ && !only_reads_; }

  const std::string& lsid() const { return lsid_; }
  TxnNumber number() const { return number_; }
  Timestamp read_at() const { return read_at_; }

  // Adds what makes `message` a statement of the transaction on `shard`, which takes part from now
  // on.
  void Join(ShardId shard, wire::Message* message);
  // A collection that was created for it after its snapshot: it is empty there, not unknown.
  void NoteCreated(std::string ns);
  bool HasCreated(std::string_view ns) const;
  // A cursor that one of its statements has begun.
  void NoteCursor(CursorId cursor);
  // Those cursors, once: they end with it.
  std::vector<CursorId> TakeCursors();
  // Takes from a shard's reply whether it has written, and what leaves it.
  void Note(ShardId shard, bson::View reply);
  // {_name: 1, lsid, txnNumber}, for the end of the transaction.
  bson::Document EndCommand(std::string_view name) const;

  // Documents that an update has taken from one shard and that another one has to get.
  struct Leaving {
    std::string ns;
    bson::Document document;
  };
  std::vector<Leaving> TakeLeaving();

  // When it has begun, and how long statements of it have been under way.
  struct Times {
    absl::Time begun;
    absl::Time statement_begun = absl::InfiniteFuture();  // of the one under way
    absl::Duration active;                                // of those that are over
    bool has_statement() const { return statement_begun != absl::InfiniteFuture(); }
  };
  Times times() const;
  void BeginStatement(absl::Time now);
  void EndStatement(absl::Time now);
  // The level of its read concern, as the client wrote it; empty: none.
  std::string read_concern;

  std::vector<ShardId> participants() const;
  // Those that have changed something, the first one first: it is the coordinator.
  std::vector<ShardId> writers() const;

  // The session's turn is held where these are used.
  State state = State::kOpen;
  Timestamp prepared_at;   // the highest of the votes
  bool discarded = false;  // a statement's that has found that there is nothing to do

 private:
  void AppendId(bson::Builder& out) const;

  const std::string lsid_;
  const TxnNumber number_;
  const Timestamp read_at_;
  bool records_ = false;
  bool only_reads_ = false;
  mutable absl::Mutex mutex_;
  std::vector<ShardId> participants_ ABSL_GUARDED_BY(mutex_);
  std::vector<ShardId> writers_ ABSL_GUARDED_BY(mutex_);
  std::vector<Leaving> leaving_ ABSL_GUARDED_BY(mutex_);
  base::StringSet created_ ABSL_GUARDED_BY(mutex_);
  std::vector<CursorId> cursors_ ABSL_GUARDED_BY(mutex_);
  Times times_ ABSL_GUARDED_BY(mutex_) = {absl::InfinitePast()};
};

}  // namespace evenkeel::router
