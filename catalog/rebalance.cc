// Implements equal shares with few moves.
#include "catalog/rebalance.h"

#include <absl/numeric/int128.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace evenkeel::catalog {
namespace {

// A number of hashes; the whole space does not fit into 64 bits.
using Width = absl::uint128;
const Width kSpace = Width(1) << 64;
const Width kTolerance = kSpace >> 20;

Width WidthOf(const storage::HashSpan& span) {
  return Width(static_cast<uint64_t>(span.last) - static_cast<uint64_t>(span.first)) + 1;
}

// The hash that lies `distance` behind another.
int64_t Behind(int64_t hash, Width distance) {
  return static_cast<int64_t>(static_cast<uint64_t>(hash) + absl::Uint128Low64(distance));
}

std::map<ShardId, Width> SharesOf(const Assignment& assignment) {
  std::map<ShardId, Width> shares;
  for (size_t i = 0; i < assignment.ranges().size(); ++i) {
    shares[assignment.ranges()[i].owner] += WidthOf(assignment.SpanOf(i));
  }
  return shares;
}

// The share of the member with that number: the first ones have one hash more where it does not
// come out even.
Width WantedShare(size_t member, size_t count) {
  return kSpace / count + (Width(member) < kSpace % count ? 1 : 0);
}

std::vector<HashRange> Merged(std::vector<HashRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const HashRange& a, const HashRange& b) { return a.min < b.min; });
  const auto same = [](const HashRange& a, const HashRange& b) { return a.owner == b.owner; };
  ranges.erase(std::unique(ranges.begin(), ranges.end(), same), ranges.end());
  return ranges;
}

// Adds what lies in `span` to those before, as one where it touches the last.
void AddSpan(const storage::HashSpan& span, std::vector<storage::HashSpan>* spans) {
  if (!spans->empty() && spans->back().last == span.first - 1) {
    spans->back().last = span.last;
  } else {
    spans->push_back(span);
  }
}

}  // namespace

bool IsBalanced(const Assignment& assignment, std::span<const ShardId> members) {
  std::map<ShardId, Width> shares = SharesOf(assignment);
  if (shares.size() != members.size()) return false;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto share = shares.find(members[i]);
    if (share == shares.end()) return false;
    const Width wanted = WantedShare(i, members.size());
    const Width off = share->second > wanted ? share->second - wanted : wanted - share->second;
    if (off > kTolerance) return false;
  }
  return true;
}

Assignment Rebalanced(const Assignment& assignment, std::string name,
                      std::span<const ShardId> members) {
  EVENKEEL_CHECK(!members.empty());
  std::map<ShardId, Width> surplus = SharesOf(assignment), missing;
  for (size_t i = 0; i < members.size(); ++i) {
    const Width wanted = WantedShare(i, members.size()), has = surplus[members[i]];
    surplus[members[i]] = has > wanted ? has - wanted : Width(0);
    missing[members[i]] = wanted > has ? wanted - has : Width(0);
  }
  std::vector<HashRange> ranges;
  std::vector<storage::HashSpan> freed;
  for (size_t i = 0; i < assignment.ranges().size(); ++i) {
    const HashRange& range = assignment.ranges()[i];
    const storage::HashSpan span = assignment.SpanOf(i);
    const Width width = WidthOf(span), given = std::min(width, surplus[range.owner]);
    surplus[range.owner] -= given;
    if (given < width) ranges.push_back(range);
    if (given > 0) freed.push_back({Behind(span.first, width - given), span.last});
  }
  auto taker = missing.begin();
  for (storage::HashSpan span : freed) {
    while (true) {
      while (taker->second == 0) ++taker;
      const Width width = WidthOf(span), taken = std::min(width, taker->second);
      ranges.push_back({span.first, taker->first});
      taker->second -= taken;
      if (taken == width) break;
      span.first = Behind(span.first, taken);
    }
  }
  return Assignment(std::move(name), assignment.version() + 1, Merged(std::move(ranges)));
}

std::vector<storage::HashSpan> SpansLeaving(const Assignment& from, const Assignment& to,
                                            ShardId shard) {
  std::vector<storage::HashSpan> spans;
  size_t i = 0, j = 0;
  while (i < from.ranges().size()) {
    const storage::HashSpan here = from.SpanOf(i), there = to.SpanOf(j);
    const storage::HashSpan both{std::max(here.first, there.first),
                                 std::min(here.last, there.last)};
    if (from.ranges()[i].owner == shard && to.ranges()[j].owner != shard) AddSpan(both, &spans);
    if (here.last == both.last) ++i;
    if (there.last == both.last) ++j;
  }
  return spans;
}

double ShareLeaving(const Assignment& from, const Assignment& to, ShardId shard) {
  const Width owned = SharesOf(from)[shard];
  Width leaving = 0;
  for (const storage::HashSpan& span : SpansLeaving(from, to, shard)) leaving += WidthOf(span);
  return owned == 0 ? 0 : static_cast<double>(leaving) / static_cast<double>(owned);
}

std::vector<storage::HashSpan> SpansOfOthers(const Assignment& assignment, ShardId shard) {
  std::vector<storage::HashSpan> spans;
  for (size_t i = 0; i < assignment.ranges().size(); ++i) {
    if (assignment.ranges()[i].owner != shard) AddSpan(assignment.SpanOf(i), &spans);
  }
  return spans;
}

}  // namespace evenkeel::catalog
