// Sessions by id.
#include "router/session/session_table.h"

#include <utility>

#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::router {
namespace {

constexpr absl::Duration kTimeout = absl::Minutes(limits::kSessionTimeoutMinutes);
constexpr size_t kSessionsMax = 1'000'000;  // as MongoDB's maxSessions
constexpr uint8_t kUuidSubtype = 4;

}  // namespace

std::shared_ptr<Session> SessionTable::Use(std::string_view id) {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  if (const auto found = sessions_.find(id); found != sessions_.end()) {
    found->second->last_use = now;
    return found->second;
  }
  if (sessions_.size() >= kSessionsMax) return nullptr;
  auto session = std::make_shared<Session>();
  session->id = std::string(id);
  session->last_use = now;
  sessions_.emplace(session->id, session);
  return session;
}

void SessionTable::Refresh(std::string_view id) {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  if (const auto found = sessions_.find(id); found != sessions_.end()) {
    found->second->last_use = now;
  }
}

std::shared_ptr<Session> SessionTable::End(std::string_view id) {
  absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  auto session = std::move(found->second);
  sessions_.erase(found);
  return session;
}

std::vector<std::shared_ptr<Session>> SessionTable::Expire() {
  const absl::Time oldest = wall_->Now() - kTimeout;
  std::vector<std::shared_ptr<Session>> expired;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, session] : sessions_) {
    if (session->last_use < oldest) expired.push_back(session);
  }
  for (const auto& session : expired) sessions_.erase(session->id);
  return expired;
}

std::vector<SessionTable::Listed> SessionTable::List() const {
  std::vector<Listed> all;
  absl::MutexLock lock(&mutex_);
  all.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) all.push_back({id, session->last_use});
  return all;
}

size_t SessionTable::size() const {
  absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

absl::StatusOr<std::string_view> SessionIdOf(bson::View lsid) {
  const bson::Value id = lsid["id"];
  if (!id.Is(bson::Type::kBinary) || id.AsBinary().subtype != kUuidSubtype ||
      id.AsBinary().bytes.size() != 16) {
    return MakeError(ErrorCode::kTypeMismatch, "a session's field 'id' must be a UUID");
  }
  return id.AsBinary().bytes;
}

}  // namespace evenkeel::router
