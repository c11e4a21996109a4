// Turns plans into key ranges and walks them.
#include "shard/command/scan.h"

#include <algorithm>
#include <utility>

#include "base/bson/hash.h"
#include "base/status.h"
#include "catalog/shard_key.h"
#include "shard/command/index_keys.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::shard {
namespace {

// More prefixes than this are not expanded: the rest of the bounds is left to the filter.
constexpr size_t kPrefixCountMax = 10'000;

void AppendPoint(const catalog::IndexField& field, bson::Value value, std::string* out) {
  if (field.hashed) {
    const int64_t hash = bson::HashValue(value);
    storage::AppendEncoded(bson::Value(bson::Type::kInt64, reinterpret_cast<const char*>(&hash)),
                           storage::Direction::kAscending, out);
  } else {
    storage::AppendEncoded(value, field.direction, out);
  }
}

// [begin, end) of the index keys that start with `prefix` and whose next field lies in `interval`.
std::pair<std::string, std::string> RangeOf(const catalog::IndexField& field,
                                            const query::Interval& interval,
                                            const std::string& prefix) {
  const bool descending = field.direction == storage::Direction::kDescending;
  const bson::Value first = descending ? interval.high.value() : interval.low.value();
  const bson::Value last = descending ? interval.low.value() : interval.high.value();
  const bool first_inclusive = descending ? interval.high_inclusive : interval.low_inclusive;
  const bool last_inclusive = descending ? interval.low_inclusive : interval.high_inclusive;
  std::string begin = prefix, end;
  if (!first.missing()) {
    storage::AppendEncoded(first, field.direction, &begin);
    if (!first_inclusive) begin = storage::PrefixEnd(begin);
  }
  if (last.missing()) {
    end = storage::PrefixEnd(prefix);
  } else {
    end = prefix;
    storage::AppendEncoded(last, field.direction, &end);
    if (last_inclusive) end = storage::PrefixEnd(end);
  }
  return {std::move(begin), std::move(end)};
}

}  // namespace

std::vector<query::IndexDescription> DescribeIndexes(const catalog::CollectionEntry& entry,
                                                     const catalog::ShardCatalog& catalog) {
  std::vector<query::IndexDescription> out;
  for (const catalog::IndexEntry& index : entry.indexes) {
    if (!index.ready) continue;
    query::IndexDescription description;
    description.id = index.id;
    description.name = index.name;
    description.unique = index.unique;
    description.sparse = index.sparse;
    description.multikey = catalog.IsMultikey(index.id);
    for (const catalog::IndexField& field : index.fields) {
      description.fields.push_back({field.path, field.direction == storage::Direction::kAscending});
      description.hashed.push_back(field.hashed);
    }
    out.push_back(std::move(description));
  }
  return out;
}

Scan::Scan(const Collection& collection) : collection_(collection) {
  const CollectionId id = collection_.entry->id;
  ranges_.push_back({storage::DocPrefix(id), storage::DocPrefixEnd(id)});
}

Scan::Scan(const Collection& collection, const query::Plan& plan)
    : collection_(collection), reverse_(plan.reverse) {
  const catalog::CollectionEntry& entry = *collection_.entry;
  switch (plan.kind) {
    case query::PlanKind::kNothing:
      break;
    case query::PlanKind::kCollectionScan:
      ranges_.push_back({storage::DocPrefix(entry.id), storage::DocPrefixEnd(entry.id)});
      break;
    case query::PlanKind::kById: {
      if (entry.sharded() && !entry.shard_key->IsById()) {
        std::vector<query::Interval> points;
        for (const bson::OwnedValue& id : plan.ids) points.push_back({id, id});
        AddIndexRanges(entry.indexes.front(), {std::move(points)});
        break;
      }
      for (const bson::OwnedValue& id : plan.ids) {
        const std::string placement =
            entry.sharded() ? catalog::EncodeHash(bson::HashValue(id.value())) : "";
        points_.push_back(storage::DocKey(entry.id, placement, id.value()));
      }
      break;
    }
    case query::PlanKind::kIndexScan: {
      const catalog::IndexEntry* index = entry.FindIndex(plan.index->name);
      if (HasRecords(entry, *index)) {
        deduplicate_ = plan.index->multikey;
        AddIndexRanges(*index, plan.bounds);
        break;
      }
      // The `_id_` index of an unsharded collection is the docs table.
      for (const query::Interval& interval :
           plan.bounds.empty() ? std::vector<query::Interval>{{}} : plan.bounds[0]) {
        auto [begin, end] = RangeOf(index->fields[0], interval, storage::DocPrefix(entry.id));
        ranges_.push_back({std::move(begin), std::move(end)});
      }
      break;
    }
  }
  if (reverse_) std::reverse(ranges_.begin(), ranges_.end());
}

void Scan::AddIndexRanges(const catalog::IndexEntry& index,
                          const std::vector<std::vector<query::Interval>>& bounds) {
  table_ = storage::Table::kIndex;
  index_ = index.id;
  std::vector<std::string> prefixes = {storage::IndexPrefix(index.id, "")};
  for (size_t f = 0; f < bounds.size(); ++f) {
    const auto& intervals = bounds[f];
    const catalog::IndexField& field = index.fields[f];
    const bool points =
        !intervals.empty() && std::all_of(intervals.begin(), intervals.end(),
                                          [](const query::Interval& i) { return i.IsPoint(); });
    if (prefixes.size() * intervals.size() > kPrefixCountMax) break;
    if (!points && field.hashed) break;
    if (!points) {
      for (const std::string& prefix : prefixes) {
        const size_t count = intervals.size();
        for (size_t i = 0; i < count; ++i) {
          const bool descending = field.direction == storage::Direction::kDescending;
          auto [begin, end] = RangeOf(field, intervals[descending ? count - 1 - i : i], prefix);
          ranges_.push_back({std::move(begin), std::move(end)});
        }
      }
      return;
    }
    std::vector<std::string> longer;
    for (const std::string& prefix : prefixes) {
      for (const query::Interval& interval : intervals) {
        std::string key = prefix;
        AppendPoint(field, interval.low.value(), &key);
        longer.push_back(std::move(key));
      }
    }
    // Equal values of different types share an encoding: one range each.
    std::sort(longer.begin(), longer.end());
    longer.erase(std::unique(longer.begin(), longer.end()), longer.end());
    prefixes = std::move(longer);
  }
  for (std::string& prefix : prefixes) {
    // A long prefix is shortened as a whole, as the keys are; see storage::IndexPrefix.
    std::string begin =
        storage::IndexPrefix(index.id, std::string_view(prefix).substr(sizeof(uint64_t)));
    std::string end = storage::PrefixEnd(begin);
    ranges_.push_back({std::move(begin), std::move(end)});
  }
}

absl::Status Scan::CheckStillThere(const storage::ReadSlice& slice) const {
  const auto entry = CatalogOf(slice).Find(collection_.entry->id);
  if (entry == nullptr) {
    return Error(ErrorCode::kQueryPlanKilled, "collection dropped: '{}'", collection_.entry->ns);
  }
  if (table_ != storage::Table::kIndex) return absl::OkStatus();
  for (const catalog::IndexEntry& index : entry->indexes) {
    if (index.id == index_) return absl::OkStatus();
  }
  return Error(ErrorCode::kQueryPlanKilled, "index dropped while it was read: '{}'",
               collection_.entry->ns);
}

bool Scan::Show(const storage::ReadSlice& slice, std::string_view key,
                const storage::Record& record, const Visitor& visit) {
  std::string_view doc_key = key;
  storage::Record doc = record;
  std::string owned_key;
  if (table_ == storage::Table::kIndex) {
    ++keys_examined_;
    owned_key = storage::DocKeyOfIndexRecord(collection_.entry->id, key, record.value);
    if (deduplicate_ && !seen_.insert(owned_key).second) return true;
    auto found = slice.Get(storage::Table::kDocs, owned_key);
    if (!found) return true;
    doc_key = owned_key;
    doc = *found;
  }
  if (collection_.assignment != nullptr && !collection_.Owns(storage::WithoutCollection(doc_key)))
    return true;
  ++docs_examined_;
  return visit({doc_key, bson::View(doc.value.data()), doc.commit_timestamp}) == Visit::kContinue;
}

absl::StatusOr<bool> Scan::RunPoints(const storage::ReadSlice& slice, const Visitor& visit) {
  while (at_ < points_.size()) {
    const std::string& key = points_[reverse_ ? points_.size() - 1 - at_ : at_];
    ++at_;
    auto record = slice.Get(storage::Table::kDocs, key);
    if (record && !Show(slice, key, *record, visit)) return at_ == points_.size();
  }
  return true;
}

absl::StatusOr<bool> Scan::Run(const storage::ReadSlice& slice, size_t examined_max,
                               const Visitor& visit) {
  EVENKEEL_RETURN_IF_ERROR(CheckStillThere(slice));
  if (!points_.empty()) return RunPoints(slice, visit);
  if (at_ >= ranges_.size()) return true;
  auto cursor = slice.NewCursor(table_);
  size_t examined = 0;
  for (; at_ < ranges_.size(); ++at_, resume_.clear()) {
    const KeyRange& range = ranges_[at_];
    if (reverse_) {
      cursor->SeekBack(resume_.empty() ? range.end : resume_);
    } else {
      cursor->Seek(resume_.empty() ? range.begin : resume_);
      if (!resume_.empty() && cursor->Valid() && cursor->key() == resume_) cursor->Next();
    }
    while (cursor->Valid() &&
           (reverse_ ? cursor->key() >= range.begin : cursor->key() < range.end)) {
      if (examined++ == examined_max) return false;
      const bool go_on = Show(slice, cursor->key(), cursor->record(), visit);
      if (!go_on || examined == examined_max) resume_ = std::string(cursor->key());
      if (!go_on) return false;
      if (reverse_) {
        cursor->Previous();
      } else {
        cursor->Next();
      }
    }
  }
  return true;
}

}  // namespace evenkeel::shard
