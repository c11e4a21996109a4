// Cursors by id.
#include "router/cursor/cursor_table.h"

#include <utility>

#include "base/limits.h"
#include "base/random.h"
#include "base/status.h"

namespace evenkeel::router {
namespace {

constexpr ErrorCode kNotInSession = Location(50736);
constexpr ErrorCode kWithoutSession = Location(50737);
constexpr ErrorCode kOtherSession = Location(50738);
constexpr ErrorCode kNotInTransaction = Location(50739);
constexpr ErrorCode kWithoutTransaction = Location(50740);
constexpr ErrorCode kOtherTransaction = Location(50741);

absl::Status NotFound(CursorId id) {
  return Error(ErrorCode::kCursorNotFound, "cursor id {} not found", id.value);
}

absl::Status CheckNamespace(CursorId id, std::string_view owned, std::string_view asked) {
  if (owned == asked) return absl::OkStatus();
  return Error(ErrorCode::kUnauthorized, "cursor id {} belongs to the namespace '{}', not to '{}'",
               id.value, owned, asked);
}

absl::Status CheckSession(CursorId id, std::string_view owned, std::string_view asked) {
  if (owned == asked) return absl::OkStatus();
  if (owned.empty()) {
    return Error(kNotInSession, "cursor id {} was not created in a session", id.value);
  }
  if (asked.empty()) {
    return Error(kWithoutSession, "cursor id {} was created in a session", id.value);
  }
  return Error(kOtherSession, "cursor id {} was created in another session", id.value);
}

absl::Status CheckTransaction(CursorId id, std::optional<TxnNumber> owned,
                              std::optional<TxnNumber> asked) {
  if (owned == asked) return absl::OkStatus();
  if (!owned) {
    return Error(kNotInTransaction,
                 "cursor id {} was not created in a transaction and cannot be used in transaction "
                 "{}",
                 id.value, asked->value);
  }
  if (!asked) {
    return Error(kWithoutTransaction,
                 "cursor id {} was created in transaction {} and cannot be used outside of it",
                 id.value, owned->value);
  }
  return Error(kOtherTransaction,
               "cursor id {} was created in transaction {} and cannot be used in transaction {}",
               id.value, owned->value, asked->value);
}

}  // namespace

CursorId CursorTable::NewId() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    const CursorId id{static_cast<int64_t>(base::GlobalRandom64() >> 1)};
    if (id.value != 0 && !cursors_.contains(id)) return id;
  }
}

absl::Status CursorTable::Put(CursorId id, std::unique_ptr<ClientCursor>& cursor,
                              CursorOwner owner) {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  if (cursors_.size() >= limits::kCursorsMax) {
    return Error(ErrorCode::kExceededMemoryLimit, "too many open cursors: {}", cursors_.size());
  }
  Entry entry;
  entry.cursor = std::move(cursor);
  entry.owner = std::move(owner);
  entry.created = entry.last_use = now;
  cursors_.emplace(id, std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ClientCursor>> CursorTable::CheckOut(CursorId id,
                                                                    std::string_view ns,
                                                                    const CursorUser& user) {
  absl::MutexLock lock(&mutex_);
  const auto found = cursors_.find(id);
  if (found == cursors_.end() || found->second.killed) return NotFound(id);
  EVENKEEL_RETURN_IF_ERROR(CheckNamespace(id, found->second.owner.ns, ns));
  EVENKEEL_RETURN_IF_ERROR(CheckSession(id, found->second.owner.lsid, user.lsid));
  EVENKEEL_RETURN_IF_ERROR(CheckTransaction(id, found->second.owner.transaction, user.transaction));
  if (!found->second.cursor) {
    return Error(ErrorCode::kCursorInUse, "cursor id {} is already in use", id.value);
  }
  return std::move(found->second.cursor);
}

std::unique_ptr<ClientCursor> CursorTable::Return(CursorId id,
                                                  std::unique_ptr<ClientCursor> cursor) {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  const auto found = cursors_.find(id);
  if (found == cursors_.end()) return cursor;
  if (found->second.killed) {
    cursors_.erase(found);
    return cursor;
  }
  found->second.cursor = std::move(cursor);
  found->second.last_use = now;
  ++found->second.batches;
  return nullptr;
}

void CursorTable::Drop(CursorId id) {
  absl::MutexLock lock(&mutex_);
  cursors_.erase(id);
}

absl::StatusOr<std::unique_ptr<ClientCursor>> CursorTable::Kill(CursorId id, std::string_view ns) {
  absl::MutexLock lock(&mutex_);
  const auto found = cursors_.find(id);
  if (found == cursors_.end() || found->second.killed) return NotFound(id);
  EVENKEEL_RETURN_IF_ERROR(CheckNamespace(id, found->second.owner.ns, ns));
  return TakeAt(found);
}

std::unique_ptr<ClientCursor> CursorTable::TakeAt(
    absl::flat_hash_map<CursorId, Entry>::iterator at) {
  if (!at->second.cursor) {
    at->second.killed = true;
    return nullptr;
  }
  auto cursor = std::move(at->second.cursor);
  cursors_.erase(at);
  return cursor;
}

template <typename Predicate>
std::vector<std::unique_ptr<ClientCursor>> CursorTable::TakeIf(Predicate predicate) {
  std::vector<std::unique_ptr<ClientCursor>> taken;
  for (auto at = cursors_.begin(); at != cursors_.end();) {
    const auto here = at++;
    if (!predicate(here->second)) continue;
    if (auto cursor = TakeAt(here)) taken.push_back(std::move(cursor));
  }
  return taken;
}

std::vector<std::unique_ptr<ClientCursor>> CursorTable::Take(const std::vector<CursorId>& ids) {
  std::vector<std::unique_ptr<ClientCursor>> taken;
  absl::MutexLock lock(&mutex_);
  for (const CursorId id : ids) {
    const auto found = cursors_.find(id);
    if (found == cursors_.end()) continue;
    if (auto cursor = TakeAt(found)) taken.push_back(std::move(cursor));
  }
  return taken;
}

std::vector<std::unique_ptr<ClientCursor>> CursorTable::TakeIdle() {
  const absl::Time oldest = wall_->Now() - kCursorIdleTime;
  absl::MutexLock lock(&mutex_);
  auto taken = TakeIf([oldest](const Entry& entry) {
    return entry.cursor && entry.last_use < oldest && !entry.owner.no_timeout;
  });
  timed_out_ += taken.size();
  return taken;
}

std::vector<std::unique_ptr<ClientCursor>> CursorTable::TakeOfSession(std::string_view lsid) {
  absl::MutexLock lock(&mutex_);
  return TakeIf([lsid](const Entry& entry) { return entry.owner.lsid == lsid; });
}

std::vector<std::unique_ptr<ClientCursor>> CursorTable::TakeAll() {
  absl::MutexLock lock(&mutex_);
  return TakeIf([](const Entry&) { return true; });
}

std::vector<CursorTable::Listed> CursorTable::ListIdle() const {
  std::vector<Listed> all;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, entry] : cursors_) {
    if (!entry.cursor) continue;
    const CursorOwner& owner = entry.owner;
    all.push_back({id, owner.ns, owner.lsid, owner.transaction, owner.no_timeout,
                   bson::Document(owner.command.view()), entry.created, entry.last_use,
                   entry.batches});
  }
  return all;
}

CursorTable::Counts CursorTable::counts() const {
  absl::MutexLock lock(&mutex_);
  Counts counts;
  counts.open = cursors_.size();
  counts.timed_out = timed_out_;
  for (const auto& [id, entry] : cursors_) {
    if (!entry.cursor) ++counts.pinned;
    if (entry.owner.no_timeout) ++counts.no_timeout;
  }
  return counts;
}

}  // namespace evenkeel::router
