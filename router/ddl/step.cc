// Makes steps, and keeps them as documents.
#include "router/ddl/step.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"

namespace evenkeel::router::ddl {

Step Step::Apply(ShardId shard, std::vector<catalog::CollectionEntry> put,
                 std::vector<CollectionId> drop) {
  Step step;
  step.shard = shard;
  step.entries = std::move(put);
  step.drop = std::move(drop);
  return step;
}

Step Step::On(Kind kind, ShardId shard, catalog::CollectionEntry entry) {
  Step step;
  step.kind = kind;
  step.shard = shard;
  step.entries.push_back(std::move(entry));
  return step;
}

Step Step::Commit(bson::Document writes) {
  Step step;
  step.kind = Kind::kCommit;
  step.writes = std::move(writes);
  return step;
}

Step Step::Build(ShardId shard, catalog::CollectionEntry entry, IndexId index) {
  Step step = On(Kind::kBuild, shard, std::move(entry));
  step.index = index;
  return step;
}

Step Step::Copying(Kind kind, catalog::CollectionEntry from, catalog::CollectionEntry into) {
  Step step;
  step.kind = kind;
  step.entries.push_back(std::move(from));
  step.entries.push_back(std::move(into));
  return step;
}

bson::Document Step::ToBson() const {
  bson::Builder out;
  out.Append("kind", static_cast<int32_t>(kind)).Append("shard", static_cast<int32_t>(shard.value));
  out.OpenArray("entries");
  bson::ArrayAppender array(out);
  for (const catalog::CollectionEntry& entry : entries) array.Add(entry.ToBson());
  out.Close().OpenArray("assignments");
  bson::ArrayAppender ranges(out);
  for (const catalog::Assignment& assignment : assignments) ranges.Add(assignment.ToBson());
  out.Close().OpenArray("drop");
  bson::ArrayAppender ids(out);
  for (const CollectionId id : drop) ids.Add(static_cast<int64_t>(id.value));
  out.Close().AppendArray("writes", writes).Append("index", static_cast<int64_t>(index.value));
  return out.Finish();
}

absl::StatusOr<Step> Step::FromBson(bson::View document) {
  Step step;
  step.kind = static_cast<Kind>(document["kind"].AsInt32());
  step.shard = ShardId{static_cast<uint32_t>(document["shard"].AsInt32())};
  for (const auto& [key, value] : document["entries"].AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(catalog::CollectionEntry entry,
                              catalog::CollectionEntry::FromBson(value.AsDocument()));
    step.entries.push_back(std::move(entry));
  }
  for (const auto& [key, value] : document["assignments"].AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(catalog::Assignment assignment,
                              catalog::Assignment::FromBson(value.AsDocument()));
    step.assignments.push_back(std::move(assignment));
  }
  for (const auto& [key, value] : document["drop"].AsDocument()) {
    step.drop.push_back(CollectionId{static_cast<uint64_t>(value.AsInt64())});
  }
  step.writes = bson::Document(document["writes"].AsDocument());
  step.index = IndexId{static_cast<uint64_t>(document["index"].AsInt64())};
  return step;
}

}  // namespace evenkeel::router::ddl
