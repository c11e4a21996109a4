// Compares routes.
#include "router/read/colocation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "query/collation/collation.h"
#include "query/stage/colocation.h"
#include "router/retry.h"
#include "router/router.h"

namespace evenkeel::router::read {
namespace {

// The hashed field of a collection that lies with `own`, "" where both are whole on one shard;
// nothing when they do not lie together.
std::optional<std::string> KeyTogether(const catalog::Route& own, const catalog::Route& other) {
  if (other.entry->kind != catalog::CollectionKind::kCollection) return std::nullopt;
  if (own.entry->sharded() != other.entry->sharded()) return std::nullopt;
  if (!own.entry->sharded()) {
    if (own.entry->primary != other.entry->primary) return std::nullopt;
    return std::string();
  }
  if (!std::ranges::equal(own.assignment->ranges(), other.assignment->ranges())) {
    return std::nullopt;
  }
  return other.entry->shard_key->hashed_field().dotted();
}

}  // namespace

Awaitable<absl::StatusOr<std::vector<wire::ForeignCollection>>> JoinOnShards(
    CommandContext& context, const catalog::Route& route, bson::View collation,
    query::Pipeline& pipeline) {
  std::vector<wire::ForeignCollection> foreign;
  if (!pipeline.NeedsRouter()) co_return foreign;
  query::Colocation colocation;
  if (route.entry->sharded()) colocation.key = route.entry->shard_key->hashed_field().dotted();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Collation* rules, query::Collation::Get(collation));
  colocation.simple_collation = rules == nullptr;
  std::vector<RoutePtr> routes;
  const std::vector<std::string> namespaces = pipeline.ForeignNamespaces();
  for (const std::string& ns : namespaces) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        const RoutePtr other,
        co_await context.router.cluster->Lookup(ns, context.request.deadline, context.cancelled));
    if (!other) continue;
    std::optional<std::string> key = KeyTogether(route, *other);
    if (!key) continue;
    colocation.others.emplace(ns, *std::move(key));
    routes.push_back(other);
  }
  const std::vector<std::string> joined = pipeline.JoinOnShards(colocation);
  for (const RoutePtr& other : routes) {
    const catalog::CollectionEntry& entry = *other->entry;
    if (std::find(joined.begin(), joined.end(), entry.ns) == joined.end()) continue;
    foreign.push_back({entry.ns, entry.id, entry.version});
  }
  co_return foreign;
}

void ForgetIfStale(const CommandContext& context, const absl::Status& status,
                   const std::vector<wire::ForeignCollection>& foreign) {
  if (status.ok() || !Is(status, kStaleRouting)) return;
  for (const wire::ForeignCollection& one : foreign) context.router.cluster->Forget(one.ns);
}

}  // namespace evenkeel::router::read
