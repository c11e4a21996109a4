// Writes and reads the collections beside the envelope's own.
#include "wire/protocol/foreign_collections.h"

#include <utility>

#include "base/status.h"

namespace evenkeel::wire {
namespace {

absl::StatusOr<ForeignCollection> ParseOne(bson::Value value) {
  const bson::View fields = value.Is(bson::Type::kObject) ? value.AsDocument() : bson::View();
  const bson::Value ns = fields["n"], id = fields["c"], version = fields["v"];
  if (!ns.Is(bson::Type::kString) || !id.Is(bson::Type::kInt64) ||
      !version.Is(bson::Type::kInt64)) {
    return Error(ErrorCode::kInvalidOptions, "the field '$shard.f' is malformed");
  }
  return ForeignCollection{std::string(ns.AsString()),
                           {static_cast<uint64_t>(id.AsInt64())},
                           {static_cast<uint64_t>(version.AsInt64())}};
}

}  // namespace

void AppendEnvelope(bson::Builder& builder, const ShardEnvelope& envelope,
                    const std::vector<ForeignCollection>& foreign) {
  if (foreign.empty()) return AppendEnvelope(builder, envelope);
  bson::Builder plain;
  AppendEnvelope(plain, envelope);
  const bson::Document document = plain.Finish();
  builder.OpenDocument(kShardField);
  builder.AppendFields(document[kShardField].AsDocument());
  builder.OpenArray(kForeignField);
  bson::ArrayAppender array(builder);
  for (const ForeignCollection& one : foreign) {
    builder.OpenDocument(array.NextKey())
        .Append("n", one.ns)
        .Append("c", static_cast<int64_t>(one.collection.value))
        .Append("v", static_cast<int64_t>(one.version.value))
        .Close();
  }
  builder.Close().Close();
}

absl::StatusOr<std::vector<ForeignCollection>> ParseForeign(bson::View body) {
  std::vector<ForeignCollection> foreign;
  const bson::Value envelope = body[kShardField];
  if (!envelope.Is(bson::Type::kObject)) return foreign;
  const bson::Value list = envelope.AsDocument()[kForeignField];
  if (!list.Is(bson::Type::kArray)) return foreign;
  for (const bson::Element& element : list.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(ForeignCollection one, ParseOne(element.value));
    foreign.push_back(std::move(one));
  }
  return foreign;
}

}  // namespace evenkeel::wire
