// Cursors for the reads of operators.
#include "shard/command/foreign_reads.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"
#include "shard/command/cursor_commands.h"
#include "wire/protocol/foreign_collections.h"

namespace evenkeel::shard {

absl::StatusOr<ForeignCollections> ForeignCollections::Open(const CommandContext& context,
                                                            const wire::ShardEnvelope& envelope) {
  ForeignCollections out;
  EVENKEEL_ASSIGN_OR_RETURN(const auto named_ones, wire::ParseForeign(context.body()));
  for (const wire::ForeignCollection& foreign : named_ones) {
    wire::ShardEnvelope named;
    named.collection = foreign.collection;
    named.version = foreign.version;
    named.times = envelope.times;
    EVENKEEL_ASSIGN_OR_RETURN(Collection collection,
                              OpenCollection(*context.service.catalog(), named));
    out.uses_.push_back(context.service.open_reads().Begin(*collection.entry));
    out.collections_.emplace(foreign.ns, std::move(collection));
  }
  return out;
}

absl::StatusOr<Collection> ForeignCollections::Find(const std::string& ns) const {
  const auto at = collections_.find(ns);
  if (at != collections_.end()) return at->second;
  return Error(ErrorCode::kInternalError, "a shard is to read '{}' without knowing its version",
               ns);
}

absl::StatusOr<std::unique_ptr<ReadCursor>> ForeignReader::Begin(
    const CommandContext& context, const query::ForeignRead& read) const {
  EVENKEEL_ASSIGN_OR_RETURN(const Collection collection, collections_.Find(read.ns));
  auto query_context = std::make_unique<query::QueryContext>(outer_);
  query_context->ns = collection.entry->ns;
  query_context->let = read.let;
  query_context->foreign = nullptr;
  const auto stages = std::make_shared<const bson::Document>(read.pipeline);
  ReadSpec spec{.command = stages, .query_context = std::move(query_context)};
  return OpenPipeline(context, collection, *stages, std::move(spec));
}

Awaitable<absl::Status> ForeignReader::Advance(CommandContext& context,
                                               query::ForeignReadPtr read) {
  auto at = open_.find(read.get());
  if (at == open_.end()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(auto cursor, Begin(context, *read));
    at = open_.emplace(read.get(), Open{read, std::move(cursor)}).first;
  }
  bson::Builder batch;
  const ReadCursor::BatchLimits limits{std::nullopt, limits::kReplyBatchBytesMax};
  const auto ended = co_await at->second.cursor->NextBatch(context, limits, &batch);
  EVENKEEL_CO_RETURN_IF_ERROR(ended.status());
  const bson::Document rows = batch.Finish();
  for (const bson::Element& row : rows.view()) read->rows.emplace_back(row.value.AsDocument());
  read->ended = *ended;
  if (*ended) open_.erase(at);
  co_return absl::OkStatus();
}

Awaitable<absl::Status> ForeignReader::Serve(CommandContext& context) {
  for (const query::ForeignReadPtr& read : outer_.foreign->TakeDropped()) open_.erase(read.get());
  const std::vector<query::ForeignReadPtr> wanted = outer_.foreign->TakeWanted();
  for (const query::ForeignReadPtr& read : wanted) {
    const absl::Status status = co_await Advance(context, read);
    EVENKEEL_CO_RETURN_IF_ERROR(status);
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::shard
