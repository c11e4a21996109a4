// The cursors of clients by id: who owns them, which are in use, which have been idle too long.
//
// Ids are random, so they cannot be guessed. Any thread; a cursor itself is used by one command at
// a time.
//
// Invariants
//   C1  A cursor is either in the table or checked out by exactly one command.
//   C2  A cursor killed while checked out is not put back; the command that has it closes it.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/clock.h"
#include "base/types.h"
#include "router/cursor/client_cursor.h"

namespace evenkeel::router {

struct CursorOwner {
  std::string ns;
  std::string lsid;                      // 16 bytes, or empty
  std::optional<TxnNumber> transaction;  // that it belongs to: it ends with it
  bool no_timeout = false;               // lives as long as its session
  bson::Document command;                // that has begun it; empty when it is large
};

// Who asks for a cursor.
struct CursorUser {
  std::string_view lsid;                 // 16 bytes, or empty
  std::optional<TxnNumber> transaction;  // that the command is a statement of
};

class CursorTable {
 public:
  explicit CursorTable(const base::WallClock* wall) : wall_(wall) {}

  // An id that no cursor has.
  CursorId NewId();
  // Errors: ExceededMemoryLimit when there are too many cursors; the cursor is given back in
  // `cursor` then.
  absl::Status Put(CursorId id, std::unique_ptr<ClientCursor>& cursor, CursorOwner owner);

  // Takes a cursor out for one command.
  // Errors: CursorNotFound, CursorInUse, Unauthorized for another namespace, 50736 … 50738 for
  // another session, 50739 … 50741 for another transaction.
  absl::StatusOr<std::unique_ptr<ClientCursor>> CheckOut(CursorId id, std::string_view ns,
                                                         const CursorUser& user);
  // Puts it back; returns it when it was killed meanwhile, to be closed.
  std::unique_ptr<ClientCursor> Return(CursorId id, std::unique_ptr<ClientCursor> cursor);
  // Forgets a cursor that is checked out.
  void Drop(CursorId id);

  // Ends one: returns it for closing, or null when it is in use (it ends when its command does).
  // Errors: CursorNotFound, Unauthorized for another namespace.
  absl::StatusOr<std::unique_ptr<ClientCursor>> Kill(CursorId id, std::string_view ns);
  // Takes out those of the list that are there.
  std::vector<std::unique_ptr<ClientCursor>> Take(const std::vector<CursorId>& ids);
  // Takes out those that were idle too long, all of a session, all.
  std::vector<std::unique_ptr<ClientCursor>> TakeIdle();
  std::vector<std::unique_ptr<ClientCursor>> TakeOfSession(std::string_view lsid);
  std::vector<std::unique_ptr<ClientCursor>> TakeAll();

  struct Counts {
    size_t open = 0, pinned = 0, no_timeout = 0;
    uint64_t timed_out = 0;
  };
  Counts counts() const;
  // Cursors that no command uses.
  struct Listed {
    CursorId id;
    std::string ns, lsid;
    std::optional<TxnNumber> transaction;
    bool no_timeout = false;
    bson::Document command;
    absl::Time created, last_use;
    int64_t batches = 0;
  };
  std::vector<Listed> ListIdle() const;

 private:
  struct Entry {
    std::unique_ptr<ClientCursor> cursor;  // null while checked out
    CursorOwner owner;
    absl::Time created, last_use;
    int64_t batches = 1;
    bool killed = false;
  };
  // The cursor of an entry, which is removed; null when it is in use: it is marked then.
  std::unique_ptr<ClientCursor> TakeAt(absl::flat_hash_map<CursorId, Entry>::iterator at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename Predicate>
  std::vector<std::unique_ptr<ClientCursor>> TakeIf(Predicate predicate)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::WallClock* wall_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<CursorId, Entry> cursors_ ABSL_GUARDED_BY(mutex_);
  uint64_t timed_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

inline constexpr absl::Duration kCursorIdleTime = absl::Minutes(10);

}  // namespace evenkeel::router
