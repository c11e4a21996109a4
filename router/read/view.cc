// find, count and distinct as pipelines.
#include "router/read/view.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "router/cursor/cursors.h"
#include "router/read/aggregate.h"
#include "router/read/distinct_values.h"

namespace evenkeel::router::read {
namespace {

// Appends stages, one document each.
class Stages {
 public:
  template <typename T>
  void Add(std::string_view name, const T& value) {
    builder_.OpenDocument(array_.NextKey()).Append(name, value).Close();
  }
  bson::Document Finish() { return builder_.Finish(); }

 private:
  bson::Builder builder_;
  bson::ArrayAppender array_{builder_};
};

AggregateCall CallOn(const catalog::Route& route, bson::Document pipeline) {
  AggregateCall call;
  call.ns = route.entry->ns;
  call.ns_shown = route.entry->ns;
  call.pipeline = std::move(pipeline);
  return call;
}

absl::Status CheckOptions(const query::FindRequest& find) {
  const bool unsupported = !find.min.empty() || !find.max.empty() || find.return_key ||
                           find.show_record_id || find.tailable;
  if (!unsupported) return absl::OkStatus();
  return MakeError(ErrorCode::kInvalidPipelineOperatorForView,
                   "min, max, returnKey, showRecordId and tailable cannot be used on a view");
}

}  // namespace

Awaitable<CommandResult> FindOnView(CommandContext& context, RoutePtr route,
                                    const query::FindRequest& find) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckOptions(find));
  Stages stages;
  if (!find.filter.empty()) stages.Add("$match", find.filter);
  if (!find.sort.empty()) stages.Add("$sort", find.sort);
  if (find.skip > 0) stages.Add("$skip", find.skip);
  if (find.limit && *find.limit > 0) stages.Add("$limit", *find.limit);
  if (!find.projection.empty()) stages.Add("$project", find.projection);
  AggregateCall call = CallOn(*route, stages.Finish());
  call.let = find.let;
  call.collation = bson::Document(find.collation);
  call.hint = find.hint;
  call.batch_size = find.batch_size;
  call.allow_disk_use = find.allow_disk_use;
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::unique_ptr<ClientCursor> cursor,
                               co_await OpenAggregate(context, std::move(call)));
  FirstBatch first;
  if (find.batch_size) first.rows = find.batch_size;
  first.single = find.single_batch;
  first.no_timeout = find.no_cursor_timeout;
  co_return co_await BeginCursor(context, route->entry->ns, std::move(cursor), first);
}

Awaitable<CommandResult> CountOnView(CommandContext& context, RoutePtr route,
                                     const query::CountRequest& count) {
  Stages stages;
  if (!count.query.empty()) stages.Add("$match", count.query);
  if (count.skip > 0) stages.Add("$skip", count.skip);
  if (count.limit > 0) stages.Add("$limit", count.limit);
  stages.Add("$count", "n");
  AggregateCall call = CallOn(*route, stages.Finish());
  call.collation = bson::Document(count.collation);
  call.hint = count.hint;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await CollectAggregate(context, std::move(call)));
  bson::Builder reply;
  if (rows.empty()) {
    reply.Append("n", int32_t{0});
  } else {
    reply.Append("n", rows[0]["n"]);
  }
  co_return reply.Finish();
}

Awaitable<CommandResult> DistinctOnView(CommandContext& context, RoutePtr route,
                                        const query::DistinctRequest& distinct) {
  Stages stages;
  if (!distinct.query.empty()) stages.Add("$match", distinct.query);
  bson::Builder projection;
  projection.Append("_id", int32_t{0}).Append(distinct.key, int32_t{1});
  stages.Add("$project", projection.Finish());
  AggregateCall call = CallOn(*route, stages.Finish());
  call.collation = bson::Document(distinct.collation);
  call.hint = distinct.hint;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await CollectAggregate(context, std::move(call)));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const query::Collation* collation,
      query::Collation::ForCommand(distinct.collation,
                                   query::CollationOption(route->entry->options)));
  DistinctValues values(collation);
  const bson::Path path(distinct.key);
  for (const bson::Document& row : rows) values.AddFrom(row, path);
  co_return values.Reply();
}

}  // namespace evenkeel::router::read
