// Reads the pinned values of the shard key out of filters.
#include "router/target.h"

#include <algorithm>
#include <vector>

#include "base/bson/hash.h"
#include "base/status.h"
#include "query/match/filter.h"

namespace evenkeel::router {
namespace {

// True for a value whose equality means the value itself: no operators, no arrays (which match
// element by element), no regexes, and not null (which matches missing fields).
bool IsPlainEquality(bson::Value value) {
  switch (value.type()) {
    case bson::Type::kEod:
    case bson::Type::kNull:
    case bson::Type::kUndefined:
    case bson::Type::kArray:
    case bson::Type::kRegex:
      return false;
    case bson::Type::kObject:
      return !value.AsDocument().Front().key.starts_with('$');
    default:
      return true;
  }
}

// Values that hold text compare by the collation's rules.
bool MayHoldText(bson::Value value) {
  return value.Is(bson::Type::kString) || value.Is(bson::Type::kObject) ||
         value.Is(bson::Type::kSymbol) || value.Is(bson::Type::kArray);
}

bool HasCollation(const catalog::CollectionEntry& entry, bson::View collation) {
  const auto applies = [](bson::View spec) {
    const bson::Value locale = spec["locale"];
    return locale.Is(bson::Type::kString) && locale.AsString() != "simple";
  };
  if (!collation.empty()) return applies(collation);
  const bson::Value fallback = entry.options["collation"];
  return fallback.Is(bson::Type::kObject) && applies(fallback.AsDocument());
}

Targets OwnersOf(const catalog::Route& route, const std::vector<bson::Value>& values) {
  Targets targets;
  targets.by_key = true;
  for (const bson::Value value : values) {
    targets.shards.push_back(route.assignment->OwnerOf(bson::HashValue(value)));
  }
  std::sort(targets.shards.begin(), targets.shards.end());
  targets.shards.erase(std::unique(targets.shards.begin(), targets.shards.end()),
                       targets.shards.end());
  // Nothing can match ({$in: []}): any one shard says so, and checks the rest of the statement.
  if (targets.shards.empty()) targets.shards.push_back(route.assignment->ranges().front().owner);
  return targets;
}

}  // namespace

Targets TargetAll(const catalog::Route& route) {
  Targets targets;
  if (!route.assignment) {
    targets.shards.push_back(route.entry->primary);
    return targets;
  }
  const std::vector<ShardId> owners = route.assignment->Owners();
  targets.shards.assign(owners.begin(), owners.end());
  return targets;
}

std::optional<Targets> TargetAtOnce(const catalog::Route& route, bson::View filter,
                                    bson::View collation) {
  if (!route.assignment || filter.empty()) return TargetAll(route);
  const bson::Value value = filter[route.entry->shard_key->hashed_field().dotted()];
  if (!IsPlainEquality(value)) return std::nullopt;
  if (MayHoldText(value) && HasCollation(*route.entry, collation)) return std::nullopt;
  Targets targets;
  targets.by_key = true;
  targets.shards.push_back(route.assignment->OwnerOf(bson::HashValue(value)));
  return targets;
}

absl::StatusOr<Targets> TargetFilter(const catalog::Route& route, bson::View filter,
                                     bson::View collation, const query::QueryContext& context) {
  if (auto simple = TargetAtOnce(route, filter, collation)) return *std::move(simple);
  const std::string& path = route.entry->shard_key->hashed_field().dotted();
  EVENKEEL_ASSIGN_OR_RETURN(const query::Filter compiled, query::Filter::Parse(filter, context));
  const auto pinned = compiled.PinnedValues(path);
  if (!pinned) return TargetAll(route);
  if (std::any_of(pinned->begin(), pinned->end(), MayHoldText) &&
      HasCollation(*route.entry, collation)) {
    return TargetAll(route);
  }
  return OwnersOf(route, *pinned);
}

absl::StatusOr<ShardId> TargetDocument(const catalog::Route& route, bson::View document) {
  if (!route.assignment) return route.entry->primary;
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t hash, route.entry->shard_key->HashOf(document));
  return route.assignment->OwnerOf(hash);
}

}  // namespace evenkeel::router
