// How ranges change when shards join or leave: equal shares again, and nothing moves that need not.
// Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "catalog/assignment.h"
#include "storage/table.h"

namespace evenkeel::catalog {

// True when each of `members` owns its equal share, to within 1 in 2^20 of the space, and nobody
// else anything.
bool IsBalanced(const Assignment& assignment, std::span<const ShardId> members);

// The next version of it, under another name: every one of `members` owns an equal share (they
// differ by at most 1 hash), and others nothing. Shards with too much give the ends of their ranges
// away; what stays with its owner is as much as can be. Requires members, each once.
Assignment Rebalanced(const Assignment& assignment, std::string name,
                      std::span<const ShardId> members);

// What `shard` owns in `from` and another shard in `to`; ascending, apart from each other.
std::vector<storage::HashSpan> SpansLeaving(const Assignment& from, const Assignment& to,
                                            ShardId shard);
// The part of what `shard` owns in `from` that another shard owns in `to`: 0 to 1.
double ShareLeaving(const Assignment& from, const Assignment& to, ShardId shard);
// What others than `shard` own.
std::vector<storage::HashSpan> SpansOfOthers(const Assignment& assignment, ShardId shard);

}  // namespace evenkeel::catalog
