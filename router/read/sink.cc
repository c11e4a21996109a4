// Writing of results.
#include "router/read/sink.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/bson/path.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/expr/expression.h"
#include "query/stage/write_spec.h"
#include "router/ddl/ddl.h"
#include "router/query_context.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/write/write.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::read {
namespace {

using Rows = std::vector<bson::Document>;

constexpr size_t kWriteBytesMax = 4 << 20;  // of the rows in one write command

// Runs a command of the router as a client's would be. Errors: the command's, or its first write
// error.
Awaitable<CommandResult> RunCommand(CommandContext& context, CommandHandler handler,
                                    bson::Document body) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      wire::Request request,
      wire::ParseRequest(MakeMessage(std::move(body)), context.router.wall->Now()));
  request.deadline = context.request.deadline;
  CommandContext inner{context.router, request, context.client, context.cancelled, context.times};
  inner.trace = context.trace;
  CommandResult result = co_await handler(inner);
  if (!result.ok()) co_return result;
  const bson::Value errors = (*result)["writeErrors"];
  if (!errors.Is(bson::Type::kArray) || errors.AsDocument().empty()) co_return result;
  const bson::View first = errors.AsDocument().Front().value.AsDocument();
  co_return MakeError(static_cast<ErrorCode>(bson::ToInt64Truncated(first["code"])),
                      first["errmsg"].AsString());
}

int64_t CountOf(const bson::Document& reply) {
  return reply["n"].IsNumber() ? bson::ToInt64Truncated(reply["n"]) : 0;
}

// Takes rows one batch after the other.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Awaitable<absl::Status> Begin() = 0;
  virtual Awaitable<absl::Status> Write(Rows rows) = 0;
  virtual Awaitable<absl::Status> Finish() = 0;
  // After a failure.
  virtual Awaitable<void> Abandon() = 0;
};

bson::Document WithId(bson::Document row) {
  if (row.view().Contains("_id")) return row;
  bson::Builder builder;
  builder.AppendObjectId("_id", bson::NewObjectId()).AppendFields(row);
  return builder.Finish();
}

bson::Document InsertBody(std::string_view database, std::string_view collection,
                          const Rows& rows) {
  bson::Builder body;
  body.Append("insert", collection).OpenArray("documents");
  bson::ArrayAppender documents(body);
  for (const bson::Document& row : rows) documents.Add(row);
  body.Close().Append("$db", database);
  return body.Finish();
}

// The collation by name, "simple" for none: commands and indexes that name it do not inherit one.
bson::Document CollationSpec(const bson::StringComparator* collation) {
  if (collation != nullptr) return static_cast<const query::Collation*>(collation)->spec();
  bson::Builder simple;
  return simple.Append("locale", "simple").Finish();
}

// The specification of an index as createIndexes has to be given it to make the same one.
bson::Document WithCollation(const catalog::IndexEntry& index) {
  bson::Builder spec(index.spec.view());
  if (!index.spec.view().Contains("collation")) {
    spec.Append("collation", CollationSpec(index.collation));
  }
  return spec.Finish();
}

Awaitable<absl::StatusOr<RoutePtr>> RouteOf(CommandContext& context, std::string ns) {
  RouteRetry retry(context.router, std::move(ns), context.scope());
  co_return co_await retry.Route();
}

absl::Status CheckTarget(const RoutePtr& route, std::string_view stage) {
  if (!route || route->entry->kind != catalog::CollectionKind::kView) return absl::OkStatus();
  return Error(ErrorCode::kCommandNotSupportedOnView, "{} cannot write to the view {}", stage,
               route->entry->ns);
}

class OutSink final : public Sink {
 public:
  OutSink(CommandContext& context, query::OutSpec spec)
      : context_(context),
        spec_(std::move(spec)),
        temporary_("tmp.agg_out." + Hex(bson::NewObjectId())) {}

  Awaitable<absl::Status> Begin() override {
    EVENKEEL_CO_RETURN_IF_ERROR(catalog::CheckCollectionName(spec_.database, spec_.collection));
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr target, co_await RouteOf(context_, Target()));
    EVENKEEL_CO_RETURN_IF_ERROR(CheckTarget(target, "$out"));
    if (target && target->entry->sharded()) {
      co_return Error(Location(28769), "{} cannot be sharded", target->entry->ns);
    }
    bson::Builder create;
    create.Append("create", temporary_).Append("$db", spec_.database);
    if (target) create.Append("collation", target->entry->options["collation"]);
    EVENKEEL_CO_RETURN_IF_ERROR(
        (co_await RunCommand(context_, ddl::CreateCommand, create.Finish())).status());
    begun_ = true;
    if (!target || target->entry->indexes.size() < 2) co_return absl::OkStatus();
    bson::Builder indexes;
    indexes.Append("createIndexes", temporary_).OpenArray("indexes");
    bson::ArrayAppender specs(indexes);
    for (const catalog::IndexEntry& index : target->entry->indexes) {
      if (!index.IsIdIndex()) specs.Add(WithCollation(index));
    }
    indexes.Close().Append("$db", spec_.database);
    co_return (co_await RunCommand(context_, ddl::CreateIndexesCommand, indexes.Finish())).status();
  }
  Awaitable<absl::Status> Write(Rows rows) override {
    bson::Document body = InsertBody(spec_.database, temporary_, rows);
    co_return (co_await RunCommand(context_, write::InsertCommand, std::move(body))).status();
  }
  Awaitable<absl::Status> Finish() override {
    bson::Builder rename;
    rename.Append("renameCollection", spec_.database + "." + temporary_).Append("to", Target());
    rename.Append("dropTarget", true).Append("$db", "admin");
    const auto renamed =
        co_await RunCommand(context_, ddl::RenameCollectionCommand, rename.Finish());
    begun_ = begun_ && !renamed.ok();
    co_return renamed.status();
  }
  Awaitable<void> Abandon() override {
    if (!begun_) co_return;
    bson::Builder drop;
    drop.Append("drop", temporary_).Append("$db", spec_.database);
    (void)co_await RunCommand(context_, ddl::DropCommand, drop.Finish());
  }

 private:
  static std::string Hex(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const char byte : bytes) {
      out.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
      out.push_back(kDigits[static_cast<uint8_t>(byte) & 15]);
    }
    return out;
  }
  std::string Target() const { return spec_.database + "." + spec_.collection; }

  CommandContext& context_;
  const query::OutSpec spec_;
  const std::string temporary_;
  bool begun_ = false;
};

class MergeSink final : public Sink {
 public:
  MergeSink(CommandContext& context, query::MergeSpec spec,
            std::unique_ptr<query::QueryContext> query_context)
      : context_(context),
        spec_(std::move(spec)),
        query_context_(std::move(query_context)),
        evaluation_(*query_context_) {}

  Awaitable<absl::Status> Begin() override {
    const std::string ns = spec_.database + "." + spec_.collection;
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr target, co_await RouteOf(context_, ns));
    EVENKEEL_CO_RETURN_IF_ERROR(CheckTarget(target, "$merge"));
    EVENKEEL_CO_RETURN_IF_ERROR(ChooseOn(target));
    for (const auto& [name, value] : spec_.let) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(query::ExpressionPtr parsed,
                                   query::Expression::Parse(value, *query_context_));
      let_.emplace_back(std::string(name), std::move(parsed));
    }
    co_return absl::OkStatus();
  }
  Awaitable<absl::Status> Write(Rows rows) override {
    // Rows that are found by other fields get an `_id` only where they are inserted.
    if (std::find(spec_.on.begin(), spec_.on.end(), "_id") != spec_.on.end()) {
      for (bson::Document& row : rows) row = WithId(std::move(row));
    }
    if (spec_.when_matched == query::WhenMatched::kFail) {
      bson::Document body = InsertBody(spec_.database, spec_.collection, rows);
      co_return (co_await RunCommand(context_, write::InsertCommand, std::move(body))).status();
    }
    if (spec_.when_matched != query::WhenMatched::kPipeline) {
      co_return co_await Update(rows);
    }
    for (bson::Document& row : rows) {
      Rows one;
      one.push_back(std::move(row));
      EVENKEEL_CO_RETURN_IF_ERROR(co_await Update(one));
    }
    co_return absl::OkStatus();
  }
  Awaitable<absl::Status> Finish() override { co_return absl::OkStatus(); }
  Awaitable<void> Abandon() override { co_return; }

 private:
  // The fields that identify a document of the target. Errors: 51183 when no unique index has just
  // them.
  absl::Status ChooseOn(const RoutePtr& target) {
    if (spec_.on.empty()) {
      spec_.on.push_back("_id");
      if (target && target->entry->sharded()) {
        for (const bson::Element& field : target->entry->shard_key->pattern()) {
          if (field.key != "_id") spec_.on.emplace_back(field.key);
        }
      }
      return absl::OkStatus();
    }
    if (spec_.on.size() == 1 && spec_.on.front() == "_id") return absl::OkStatus();
    if (target) {
      for (const catalog::IndexEntry& index : target->entry->indexes) {
        if (index.collation == query_context_->collation && IsUniqueOn(index.spec)) {
          return absl::OkStatus();
        }
      }
    }
    return Error(Location(51183), "Cannot find index to verify that join fields will be unique");
  }
  bool IsUniqueOn(bson::View index) const {
    const bson::Value key = index["key"];
    if (!bson::Truthy(index["unique"]) || !key.Is(bson::Type::kObject)) return false;
    if (!index["partialFilterExpression"].missing()) return false;
    if (key.AsDocument().CountFields() != spec_.on.size()) return false;
    for (const std::string& field : spec_.on) {
      if (!key.AsDocument().Contains(field)) return false;
    }
    return true;
  }
  // Appends {field: value, …}. Errors: 51132 for a value that cannot identify, 51185 for an array.
  absl::Status AppendFilter(const bson::Document& row, bson::Builder& out) const {
    for (const std::string& field : spec_.on) {
      const bson::Value value = bson::LookupPlain(row, bson::Path(field));
      if (value.Is(bson::Type::kArray)) {
        return Error(Location(51185), "$merge write error: 'on' field '{}' is an array", field);
      }
      if (value.IsNullish() && field != "_id") {
        return Error(Location(51132),
                     "$merge write error: 'on' field '{}' cannot be missing, null or undefined",
                     field);
      }
      out.OpenDocument(field).Append("$eq", value).Close();
    }
    return absl::OkStatus();
  }
  void AppendUpdate(const bson::Document& row, bson::Builder& out) const {
    switch (spec_.when_matched) {
      case query::WhenMatched::kReplace:
        out.Append("u", row);
        return;
      case query::WhenMatched::kKeepExisting:
        out.OpenDocument("u").Append("$setOnInsert", row).Close();
        return;
      case query::WhenMatched::kPipeline:
        out.AppendArray("u", spec_.pipeline);
        return;
      default:
        break;
    }
    out.OpenArray("u").OpenDocument("0").OpenDocument("$replaceWith").OpenArray("$mergeObjects");
    out.Append("0", "$$ROOT").OpenDocument("1").Append("$literal", row).Close();
    out.Close().Close().Close().Close();
  }
  // {new: row} or the variables of `let`.
  absl::Status AppendVariables(const bson::Document& row, bson::Builder& out) {
    out.OpenDocument("let");
    bool has_new = false;
    evaluation_.Begin(row);
    for (const auto& [name, expression] : let_) {
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, expression->Evaluate(evaluation_));
      has_new = has_new || name == "new";
      out.Append(name, value.missing() ? query::NullValue() : value);
    }
    if (!has_new) out.Append("new", row);
    out.Close();
    return absl::OkStatus();
  }
  Awaitable<absl::Status> Update(const Rows& rows) {
    const bool pipeline = spec_.when_matched == query::WhenMatched::kPipeline;
    const bool inserts = spec_.when_not_matched == query::WhenNotMatched::kInsert;
    bson::Builder body;
    body.Append("update", spec_.collection).OpenArray("updates");
    bson::ArrayAppender statements(body);
    for (const bson::Document& row : rows) {
      body.OpenDocument(statements.NextKey()).OpenDocument("q");
      EVENKEEL_CO_RETURN_IF_ERROR(AppendFilter(row, body));
      body.Close();
      AppendUpdate(row, body);
      body.Append("collation", CollationSpec(query_context_->collation));
      body.Append("upsert", inserts && !pipeline).Close();
    }
    body.Close();
    if (pipeline) EVENKEEL_CO_RETURN_IF_ERROR(AppendVariables(rows.front(), body));
    body.Append("$db", spec_.database);
    const auto reply = co_await RunCommand(context_, write::UpdateCommand, body.Finish());
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
    const bool all = CountOf(*reply) == static_cast<int64_t>(rows.size());
    if (all || spec_.when_not_matched == query::WhenNotMatched::kDiscard) {
      co_return absl::OkStatus();
    }
    if (pipeline && inserts) {
      // What is not matched is inserted as it is, not as the pipeline would make it.
      bson::Document insert = InsertBody(spec_.database, spec_.collection, rows);
      co_return (co_await RunCommand(context_, write::InsertCommand, std::move(insert))).status();
    }
    if (inserts) co_return absl::OkStatus();
    co_return Error(Location(13113),
                    "$merge could not find a matching document in the target collection for at "
                    "least one document in the source collection");
  }

  CommandContext& context_;
  query::MergeSpec spec_;
  std::unique_ptr<query::QueryContext> query_context_;
  query::Evaluation evaluation_;
  std::vector<std::pair<std::string, query::ExpressionPtr>> let_;
};

// All rows of the cursor into the sink.
Awaitable<absl::Status> Pump(CommandContext& context, ClientCursor& cursor, Sink& sink) {
  while (!cursor.exhausted()) {
    const auto reply = co_await cursor.Next({}, context.scope());
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
    Rows rows;
    size_t size_bytes = 0;
    for (const auto& [key, row] : reply->view()["cursor"].AsDocument()["nextBatch"].AsDocument()) {
      rows.emplace_back(row.AsDocument());
      size_bytes += rows.back().SizeBytes();
      if (size_bytes < kWriteBytesMax && rows.size() < 1000) continue;
      size_bytes = 0;
      EVENKEEL_CO_RETURN_IF_ERROR(co_await sink.Write(std::exchange(rows, {})));
    }
    if (!rows.empty()) EVENKEEL_CO_RETURN_IF_ERROR(co_await sink.Write(std::move(rows)));
  }
  co_return absl::OkStatus();
}

struct DividedPipeline {
  bson::Document reads;  // without the last stage
  bson::Element last;    // points into the whole
};

DividedPipeline Divide(bson::View pipeline) {
  DividedPipeline divided;
  const size_t count = pipeline.CountFields();
  size_t i = 0;
  bson::Builder builder;
  bson::ArrayAppender stages(builder);
  for (const bson::Element& stage : pipeline) {
    if (++i == count) {
      divided.last = stage.value.AsDocument().Front();
    } else {
      stages.Add(stage.value);
    }
  }
  divided.reads = builder.Finish();
  return divided;
}

// The pipeline's collation: its own, else the one of what it reads.
Awaitable<absl::StatusOr<const query::Collation*>> CollationOf(CommandContext& context,
                                                               const AggregateCall& call) {
  if (!call.collation.empty()) co_return query::Collation::Get(call.collation);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await RouteOf(context, call.ns));
  if (!route) co_return static_cast<const query::Collation*>(nullptr);
  co_return query::Collation::Get(query::CollationOption(route->entry->options));
}

}  // namespace

Awaitable<CommandResult> AggregateInto(CommandContext& context, AggregateCall call) {
  if (context.request.generic.read_concern.level == wire::ReadConcernLevel::kLinearizable) {
    co_return MakeError(ErrorCode::kInvalidOptions,
                        "a pipeline that writes cannot read with concern 'linearizable'");
  }
  const bson::Document whole = call.pipeline;  // what the specifications point into
  DividedPipeline divided = Divide(whole);
  auto query_context = MakeQueryContext(context.router, context.times, call.ns, call.let);
  EVENKEEL_CO_ASSIGN_OR_RETURN(query_context->collation, co_await CollationOf(context, call));
  std::unique_ptr<Sink> sink;
  if (divided.last.key == "$out") {
    EVENKEEL_CO_ASSIGN_OR_RETURN(query::OutSpec spec,
                                 query::ParseOut(divided.last.value, *query_context));
    sink = std::make_unique<OutSink>(context, std::move(spec));
  } else {
    EVENKEEL_CO_ASSIGN_OR_RETURN(query::MergeSpec spec,
                                 query::ParseMerge(divided.last.value, *query_context));
    sink = std::make_unique<MergeSink>(context, std::move(spec), std::move(query_context));
  }
  const std::string ns = call.ns_shown;
  call.pipeline = std::move(divided.reads);
  call.batch_size = std::nullopt;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::unique_ptr<ClientCursor> cursor,
                               co_await OpenAggregate(context, std::move(call)));
  absl::Status status = co_await sink->Begin();
  if (status.ok()) status = co_await Pump(context, *cursor, *sink);
  if (status.ok()) status = co_await sink->Finish();
  co_await cursor->Close();
  if (!status.ok()) {
    co_await sink->Abandon();
    co_return status;
  }
  co_return EmptyCursorReply(ns);
}

}  // namespace evenkeel::router::read
