// The context in which the router compiles filters, updates and pipelines.
#pragma once

#include <memory>
#include <string_view>

#include "base/bson/view.h"
#include "query/context.h"
#include "router/command.h"
#include "router/target.h"

namespace evenkeel::router {

// The moment at which a command begins.
wire::CommandTimes TimesNow(const RouterState& router);

// `let` is the command's with its values evaluated (router/let.h), copied.
std::unique_ptr<query::QueryContext> MakeQueryContext(const RouterState& router,
                                                      const wire::CommandTimes& times,
                                                      std::string_view ns, bson::View let = {});

// Sets the collation of a command on a collection: the command's own, else the collection's.
// Errors: as query::Collation::Get.
absl::Status SetCollation(query::QueryContext* context, bson::View own,
                          const catalog::CollectionEntry& entry);

// The shards of one statement, with a context of its own where its filter has to be compiled.
// Errors: of the filter.
absl::StatusOr<Targets> TargetStatement(const RouterState& router, const wire::CommandTimes& times,
                                        const catalog::Route& route, bson::View filter,
                                        bson::View collation, bson::View let);

}  // namespace evenkeel::router
