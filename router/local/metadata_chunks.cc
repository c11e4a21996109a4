// Checks routing tables: the rows of config.chunks.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/compare.h"
#include "router/cluster.h"
#include "router/local/metadata_check.h"

namespace evenkeel::router::local {
namespace {

using catalog::CollectionEntry;

constexpr uint8_t kUuidSubtype = 4;

bson::View Bound(bson::View chunk, std::string_view name) {
  const bson::Value value = chunk[name];
  return value.Is(bson::Type::kObject) ? value.AsDocument() : bson::View();
}

std::string_view ShardOf(bson::View chunk) {
  const bson::Value value = chunk["shard"];
  return value.Is(bson::Type::kString) ? value.AsString() : std::string_view();
}

// {a: MinKey, b: MinKey}, or MaxKey.
bson::Document End(const catalog::ShardKeyPattern& key, bool is_max) {
  bson::Builder out;
  for (const bson::Path& field : key.fields()) {
    is_max ? out.AppendMaxKey(field.dotted()) : out.AppendMinKey(field.dotted());
  }
  return out.Finish();
}

bool HasFieldsOf(bson::View bound, const catalog::ShardKeyPattern& key) {
  size_t count = 0;
  for (const auto& [name, value] : bound) {
    if (count == key.fields().size() || key.fields()[count].dotted() != name) return false;
    ++count;
  }
  return count == key.fields().size();
}

class ChunkCheck {
 public:
  ChunkCheck(const MetadataSnapshot& snapshot, const CollectionEntry& entry,
             std::vector<bson::View> chunks, Inconsistencies* out)
      : snapshot_(snapshot), entry_(entry), chunks_(std::move(chunks)), out_(*out) {
    std::sort(chunks_.begin(), chunks_.end(), [](bson::View a, bson::View b) {
      return bson::CompareDocuments(Bound(a, "min"), Bound(b, "min"), nullptr, false) < 0;
    });
  }

  void Run() {
    if (chunks_.empty()) {
      out_.Add("MissingRoutingTable", "config.chunks has nothing of a sharded collection",
               Details());
      return;
    }
    for (const bson::View chunk : chunks_) CheckChunk(chunk);
    CheckEnds();
    for (size_t i = 0; i + 1 < chunks_.size(); ++i) CheckNeighbours(chunks_[i], chunks_[i + 1]);
    CheckOwners();
  }

 private:
  bson::Builder Details() const {
    bson::Builder details = Inconsistencies::Details(entry_.ns);
    details.AppendBinary("collectionUUID", kUuidSubtype, entry_.uuid);
    return details;
  }

  void CheckChunk(bson::View chunk) {
    const catalog::ShardKeyPattern& key = *entry_.shard_key;
    if (!HasFieldsOf(Bound(chunk, "min"), key) || !HasFieldsOf(Bound(chunk, "max"), key)) {
      bson::Builder details = Details();
      details.Append("chunk", chunk).Append("shardKeyPattern", key.pattern());
      out_.Add("CorruptedChunkShardKey",
               "the bounds of a chunk have other fields than the shard key", std::move(details));
    }
    if (!snapshot_.HasShard(ShardOf(chunk))) {
      bson::Builder details = Details();
      details.Append("chunk", chunk);
      out_.Add("ChunkOnUnknownShard", "a chunk lies on a shard that does not exist",
               std::move(details));
    }
  }

  void CheckEnds() {
    const bson::Document lowest = End(*entry_.shard_key, false);
    const bson::Document highest = End(*entry_.shard_key, true);
    if (Compare(Bound(chunks_.front(), "min"), lowest) != 0) {
      bson::Builder details = Details();
      details.Append("minKeyObj", Bound(chunks_.front(), "min")).Append("globalMin", lowest);
      out_.Add("RoutingTableMissingMinKey", "the first chunk does not begin at MinKey",
               std::move(details));
    }
    if (Compare(Bound(chunks_.back(), "max"), highest) != 0) {
      bson::Builder details = Details();
      details.Append("maxKeyObj", Bound(chunks_.back(), "max")).Append("globalMax", highest);
      out_.Add("RoutingTableMissingMaxKey", "the last chunk does not end at MaxKey",
               std::move(details));
    }
  }

  void CheckNeighbours(bson::View a, bson::View b) {
    const int order = Compare(Bound(a, "max"), Bound(b, "min"));
    if (order == 0) return;
    bson::Builder details = Details();
    details.Append("chunkA", a).Append("chunkB", b);
    out_.Add(order < 0 ? "RoutingTableRangeGap" : "RoutingTableRangeOverlap",
             order < 0 ? "there is a gap between two chunks" : "two chunks overlap",
             std::move(details));
  }

  // Ranges are the truth, chunks their picture for tools.
  void CheckOwners() {
    const auto assignment = snapshot_.assignments.find(entry_.assignment);
    if (assignment == snapshot_.assignments.end()) return;
    for (const bson::View chunk : chunks_) {
      const bson::Value first = Bound(chunk, "min").Front().value;
      const int64_t hash = first.Is(bson::Type::kInt64) ? first.AsInt64() : INT64_MIN;
      const std::string owner = Cluster::ShardName(assignment->second.OwnerOf(hash));
      if (owner == ShardOf(chunk)) continue;
      bson::Builder details = Details();
      details.Append("chunk", chunk).Append("owner", owner);
      out_.Add("ChunkOwnerMismatch", "config.assignments has another owner of a chunk's range",
               std::move(details));
    }
  }

  static int Compare(bson::View a, bson::View b) {
    return bson::CompareDocuments(a, b, nullptr, false);
  }

  const MetadataSnapshot& snapshot_;
  const CollectionEntry& entry_;
  std::vector<bson::View> chunks_;
  Inconsistencies& out_;
};

}  // namespace

void CheckChunks(const MetadataSnapshot& snapshot, Inconsistencies* out) {
  std::map<std::string_view, std::vector<bson::View>> by_uuid;
  for (const bson::Document& chunk : snapshot.chunks) {
    const bson::Value uuid = chunk["uuid"];
    by_uuid[uuid.Is(bson::Type::kBinary) ? uuid.AsBinary().bytes : std::string_view()].push_back(
        chunk.view());
  }
  for (const CollectionEntry& entry : snapshot.catalog) {
    if (!entry.sharded()) continue;
    auto own = by_uuid.extract(entry.uuid);
    if (snapshot.IsBusy(entry.ns) || !out->Concerns(entry.ns)) continue;
    ChunkCheck(snapshot, entry, own.empty() ? std::vector<bson::View>() : std::move(own.mapped()),
               out)
        .Run();
  }
  // A job that is under way may be the reason.
  if (!snapshot.busy.empty() || !out->Concerns("config.chunks")) return;
  for (const auto& [uuid, chunks] : by_uuid) {
    bson::Builder details = Inconsistencies::Details("config.chunks");
    details.AppendBinary("collectionUUID", kUuidSubtype, uuid).Append("chunk", chunks.front());
    out->Add("UnknownChunks", "config.chunks has chunks of no sharded collection",
             std::move(details));
  }
}

}  // namespace evenkeel::router::local
