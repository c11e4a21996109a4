// checkMetadataConsistency: of one collection, one database, or (on admin) the whole cluster.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "query/request/fields.h"
#include "router/cursor/cursors.h"
#include "router/local/local.h"
#include "router/local/metadata_check.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

constexpr std::string_view kName = "checkMetadataConsistency";

struct Options {
  bson::View cursor;
  bool check_indexes = false;  // no effect: comparing them costs nothing here
  std::optional<int64_t> batch_size;
};
constexpr query::FieldRule kFields[] = {
    {"cursor", query::fields::Object<&Options::cursor>},
    {"checkIndexes", query::fields::SafeBool<&Options::check_indexes>},
};
constexpr query::FieldRule kCursorFields[] = {
    {"batchSize", query::fields::NonNegative<&Options::batch_size>},
};

std::function<bool(std::string_view)> WhatConcerns(const wire::Request& request) {
  const bson::Value argument = request.argument;
  const std::string database(request.database);
  if (argument.Is(bson::Type::kString)) {
    return [ns = database + "." + std::string(argument.AsString())](std::string_view other) {
      return other == ns;
    };
  }
  if (database == "admin") return [](std::string_view) { return true; };
  return [prefix = database + "."](std::string_view ns) { return ns.starts_with(prefix); };
}

// What an inconsistency is, without figures that change meanwhile.
std::string NameOf(bson::View found) {
  const bson::View details = found["details"].AsDocument();
  std::string name(found["type"].AsString());
  for (const char* field : {"namespace", "shard"}) {
    const bson::Value value = details[field];
    name.append("/").append(value.Is(bson::Type::kString) ? value.AsString() : "");
  }
  return name;
}

Awaitable<absl::StatusOr<std::vector<bson::Document>>> Look(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const MetadataSnapshot snapshot,
                               co_await ReadMetadata(context.router, context.scope()));
  Inconsistencies found(WhatConcerns(context.request));
  CheckMetadata(snapshot, &found);
  co_return found.found();
}

}  // namespace

Awaitable<CommandResult> CheckMetadataConsistencyCommand(CommandContext& context) {
  Options options;
  EVENKEEL_CO_RETURN_IF_ERROR(
      query::ReadFields(context.body(), kName, query::FieldScope::kCommand, kFields, &options));
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(options.cursor, std::string(kName) + ".cursor",
                                                query::FieldScope::kStruct, kCursorFields,
                                                &options));
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<bson::Document> found, co_await Look(context));
  if (!found.empty()) {
    // Nothing stands still meanwhile: only what is still so counts.
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> again, co_await Look(context));
    std::set<std::string> names;
    for (const bson::Document& row : again) names.insert(NameOf(row));
    std::erase_if(found,
                  [&names](const bson::Document& row) { return !names.contains(NameOf(row)); });
  }
  co_return co_await ReplyWithRows(context,
                                   std::string(context.request.database) + ".$cmd.aggregate",
                                   std::move(found), options.batch_size);
}

}  // namespace evenkeel::router::local
