// Implements the set of shards.
#include "router/members/membership.h"

#include <utility>

namespace evenkeel::router {

Membership::Membership(std::vector<ShardMember> members, OpenChannel open)
    : open_(std::move(open)) {
  auto first = std::make_shared<Members>();
  for (ShardMember& member : members) first->emplace(member.row.shard, std::move(member));
  absl::MutexLock lock(&mutex_);
  members_ = std::move(first);
}

std::shared_ptr<const Membership::Members> Membership::Get() const {
  absl::MutexLock lock(&mutex_);
  return members_;
}

std::shared_ptr<wire::ShardChannel> Membership::ChannelTo(ShardId shard) const {
  const auto members = Get();
  const auto found = members->find(shard);
  return found == members->end() ? nullptr : found->second.channel;
}

uint64_t Membership::BeginReading() {
  absl::MutexLock lock(&mutex_);
  return ++readings_;
}

std::vector<std::shared_ptr<wire::ShardChannel>> Membership::Set(
    uint64_t reading, const std::vector<ShardRow>& rows) {
  absl::MutexLock lock(&mutex_);
  if (reading < newest_set_) return {};
  newest_set_ = reading;
  auto next = std::make_shared<Members>();
  for (const ShardRow& row : rows) {
    const auto before = members_->find(row.shard);
    const bool known = before != members_->end();
    if (known && (before->second.row.host == row.host || !open_)) {
      next->emplace(row.shard, ShardMember{row, before->second.channel});
    } else if (open_) {
      auto channel = open_(ShardName(row.shard), row.host);
      if (channel != nullptr) next->emplace(row.shard, ShardMember{row, std::move(channel)});
    }
  }
  std::vector<std::shared_ptr<wire::ShardChannel>> given_up;
  for (const auto& [shard, member] : *members_) {
    const auto after = next->find(shard);
    if (after == next->end() || after->second.channel != member.channel)
      given_up.push_back(member.channel);
  }
  members_ = std::move(next);
  return given_up;
}

}  // namespace evenkeel::router
