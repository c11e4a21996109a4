// Namespaces and query contexts of commands.
#include "router/command.h"

#include "base/status.h"
#include "catalog/collection.h"
#include "query/collation/collation.h"
#include "query/request/fields.h"
#include "router/query_context.h"
#include "router/router.h"

namespace evenkeel::router {

absl::StatusOr<std::string> CommandContext::Namespace() const {
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view name, query::CollectionName(request.argument));
  EVENKEEL_RETURN_IF_ERROR(catalog::CheckCollectionName(request.database, name));
  std::string ns;
  ns.reserve(request.database.size() + 1 + name.size());
  ns.append(request.database).append(".").append(name);
  return ns;
}

wire::CommandTimes TimesNow(const RouterState& router) {
  return {absl::ToUnixMillis(router.wall->Now()), router.clock->Now()};
}

std::unique_ptr<query::QueryContext> MakeQueryContext(const RouterState& router,
                                                      const wire::CommandTimes& times,
                                                      std::string_view ns, bson::View let) {
  auto context = std::make_unique<query::QueryContext>();
  context->ns = std::string(ns);
  context->now_ms = times.now_ms;
  context->cluster_time = times.cluster_time;
  router.options.query_settings->ApplyTo(context.get());
  if (!let.empty()) context->let = bson::Document(let);
  return context;
}

absl::Status SetCollation(query::QueryContext* context, bson::View own,
                          const catalog::CollectionEntry& entry) {
  EVENKEEL_ASSIGN_OR_RETURN(
      context->collation, query::Collation::ForCommand(own, query::CollationOption(entry.options)));
  return absl::OkStatus();
}

absl::StatusOr<Targets> TargetStatement(const RouterState& router, const wire::CommandTimes& times,
                                        const catalog::Route& route, bson::View filter,
                                        bson::View collation, bson::View let) {
  if (auto simple = TargetAtOnce(route, filter, collation)) return *std::move(simple);
  const auto context = MakeQueryContext(router, times, route.entry->ns, let);
  EVENKEEL_RETURN_IF_ERROR(SetCollation(context.get(), collation, *route.entry));
  return TargetFilter(route, filter, collation, *context);
}

}  // namespace evenkeel::router
