// dataSize: documents and bytes of a collection, or of those between two keys.
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/read/aggregate.h"
#include "router/router.h"
#include "router/stats/figures.h"
#include "router/stats/stats.h"
#include "router/write/batch_writer.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::stats {
namespace {

struct DataSizeRequest {
  bson::View key_pattern, min, max;
  bool estimate = false;
};
constexpr query::FieldRule kFields[] = {
    {"keyPattern", query::fields::Object<&DataSizeRequest::key_pattern>},
    {"min", query::fields::Object<&DataSizeRequest::min>},
    {"max", query::fields::Object<&DataSizeRequest::max>},
    {"estimate", query::fields::SafeBool<&DataSizeRequest::estimate>},
};

// The namespace is the command's argument. Errors: 40414, TypeMismatch, InvalidNamespace.
absl::StatusOr<std::string> NamespaceOf(const CommandContext& context) {
  const bson::Value argument = context.request.argument;
  if (argument.IsNullish()) return query::MissingField("dataSize", "dataSize");
  if (!argument.Is(bson::Type::kString)) {
    return query::WrongType("dataSize", "dataSize", argument, "string");
  }
  std::string ns(argument.AsString());
  const auto [database, collection] = catalog::SplitNamespace(ns);
  EVENKEEL_RETURN_IF_ERROR(catalog::CheckCollectionName(database, collection));
  return ns;
}

// Errors: BadValue for one bound without the other, OperationFailed for bounds without a pattern.
absl::Status CheckBounds(const DataSizeRequest& request) {
  if (request.min.empty() != request.max.empty()) {
    return MakeError(ErrorCode::kBadValue, "min and max must be given together");
  }
  if (!request.min.empty() && request.key_pattern.empty()) {
    return MakeError(ErrorCode::kOperationFailed, "min and max need a keyPattern");
  }
  return absl::OkStatus();
}

// {operator: [[fields of the pattern], [values of the bound]]}: arrays compare as keys do.
void AppendBound(bson::Builder& out, std::string_view name, bson::View pattern, bson::View bound) {
  out.OpenArray(name).OpenArray("0");
  bson::ArrayAppender keys(out);
  for (const auto& field : pattern) keys.Add("$" + std::string(field.key));
  out.Close().OpenArray("1");
  bson::ArrayAppender values(out);
  for (const auto& field : pattern) {
    out.OpenDocument(values.NextKey());
    const bson::Value value = bound[field.key];
    if (value.missing()) {
      out.AppendNull("$literal");
    } else {
      out.Append("$literal", value);
    }
    out.Close();
  }
  out.Close().Close();
}

// [{$match: {$expr: min <= key < max}}, {$group: {_id: null, n, size}}].
bson::Document RangePipeline(const DataSizeRequest& request) {
  bson::Builder out;
  out.OpenDocument("0").OpenDocument("$match").OpenDocument("$expr").OpenArray("$and");
  out.OpenDocument("0");
  AppendBound(out, "$gte", request.key_pattern, request.min);
  out.Close().OpenDocument("1");
  AppendBound(out, "$lt", request.key_pattern, request.max);
  out.Close().Close().Close().Close().Close();
  out.OpenDocument("1").OpenDocument("$group").AppendNull("_id");
  out.OpenDocument("n").Append("$sum", int64_t{1}).Close();
  out.OpenDocument("size").OpenDocument("$sum").Append("$bsonSize", "$$ROOT").Close().Close();
  out.Close().Close();
  return out.Finish();
}

Awaitable<absl::StatusOr<Figures>> FiguresBetween(CommandContext& context, std::string ns,
                                                  const DataSizeRequest& request) {
  read::AggregateCall call;
  call.ns_shown = ns;
  call.ns = std::move(ns);
  call.pipeline = RangePipeline(request);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                               co_await read::CollectAggregate(context, std::move(call)));
  Figures figures;
  if (!rows.empty()) {
    figures.count = bson::ToInt64Truncated(rows[0]["n"]);
    figures.size_bytes = bson::ToInt64Truncated(rows[0]["size"]);
  }
  co_return figures;
}

}  // namespace

Awaitable<CommandResult> DataSizeCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, NamespaceOf(context));
  DataSizeRequest request;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(context.body(), "dataSize",
                                                query::FieldScope::kCommand, kFields, &request));
  EVENKEEL_CO_RETURN_IF_ERROR(CheckBounds(request));
  RouteRetry retry(context.router, ns, context.scope());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
  if (route && route->entry->kind == catalog::CollectionKind::kView) co_return write::ViewError(ns);
  Figures figures;
  if (route && request.min.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardFigures> parts,
                                 co_await FiguresOf(context, ns));
    figures = Sum(parts);
  } else if (route) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(figures, co_await FiguresBetween(context, ns, request));
  }
  bson::Builder reply;
  reply.Append("estimate", request.estimate)
      .Append("size", figures.size_bytes)
      .Append("numObjects", figures.count)
      .Append("millis", int32_t{0});
  co_return reply.Finish();
}

}  // namespace evenkeel::router::stats
