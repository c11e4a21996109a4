// The shards of the cluster as one router reaches them: a set that changes while calls run.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "router/members/shard_row.h"
#include "wire/net/channel.h"

namespace evenkeel::router {

// A member's row and the way to it.
struct ShardMember {
  ShardRow row;
  std::shared_ptr<wire::ShardChannel> channel;
};

// Opens the way to a shard in another process. `name` is for messages; `host` is an address that
// ParseHostPort reads. Null where there is no way.
using OpenChannel = std::function<std::shared_ptr<wire::ShardChannel>(const std::string& name,
                                                                      const std::string& host)>;

// Any thread. A call holds the channel that it uses: one that is given up lives until its last call
// has ended.
class Membership {
 public:
  using Members = std::map<ShardId, ShardMember>;

  // open  empty where the shards are in this process: none can be added then.
  Membership(std::vector<ShardMember> members, OpenChannel open);

  // As of now; what is returned does not change any more.
  std::shared_ptr<const Members> Get() const;
  // Null for a shard that is no member.
  std::shared_ptr<wire::ShardChannel> ChannelTo(ShardId shard) const;

  // To be called before config.shards is read for Set, which leaves out what was read earlier than
  // what it has.
  uint64_t BeginReading();
  // Takes the rows of config.shards: opens channels to new members, and to those at a new address.
  // Returns the channels that nobody is to use any more, for Stop. Rows without an address that
  // can be reached are left out.
  std::vector<std::shared_ptr<wire::ShardChannel>> Set(uint64_t reading,
                                                       const std::vector<ShardRow>& rows);

  const OpenChannel& open() const { return open_; }

 private:
  const OpenChannel open_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Members> members_ ABSL_GUARDED_BY(mutex_);
  uint64_t readings_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t newest_set_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace evenkeel::router
