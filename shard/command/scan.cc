// Turns plans into key ranges and walks them.
#include "shard/command/scan.h"

#include <algorithm>
#include <utility>

#include "base/bson/hash.h"
#include "base/status.h"
#include "shard/command/index_keys.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"

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

bool IsUnbounded(const std::vector<query::Interval>& intervals) {
  return intervals.size() == 1 && intervals[0].IsUnbounded();
}

bool ArePoints(const std::vector<query::Interval>& intervals) {
  return !intervals.empty() && std::all_of(intervals.begin(), intervals.end(),
                                           [](const query::Interval& i) { return i.IsPoint(); });
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
    description.collation = index.collation;
    description.multikey = catalog.IsMultikey(index.id);
    for (const catalog::IndexField& field : index.fields) {
      description.fields.push_back({field.path, field.direction == storage::Direction::kAscending});
      description.hashed.push_back(field.hashed);
    }
    out.push_back(std::move(description));
  }
  return out;
}

Scan::Scan(const Collection& collection, storage::TableRange docs)
    : collection_(collection), index_(collection.entry->indexes.front().id), hashes_(docs.hashes) {
  ranges_.push_back(std::move(docs));
}

Scan::Scan(const Collection& collection)
    : Scan(collection, storage::DocsOf(collection.entry->id)) {}

Scan::Scan(const Collection& collection, const storage::HashSpan& hashes)
    : Scan(collection,
           storage::DocsOf(collection.entry->id, collection.entry->placed_by(), hashes)) {}

Scan::Scan(const Collection& collection, const query::Plan& plan)
    : collection_(collection),
      index_(collection.entry->indexes.front().id),
      reverse_(plan.reverse) {
  const catalog::CollectionEntry& entry = *collection_.entry;
  switch (plan.kind) {
    case query::PlanKind::kNothing:
      break;
    case query::PlanKind::kCollectionScan:
      ranges_.push_back(storage::DocsOf(entry.id));
      break;
    case query::PlanKind::kById: {
      if (!entry.IsKeyedById()) {
        std::vector<query::Interval> points;
        for (const bson::OwnedValue& id : plan.ids) points.push_back({id, id});
        AddIndexRanges(entry.indexes.front(), {std::move(points)});
        break;
      }
      for (const bson::OwnedValue& id : plan.ids) points_.push_back(entry.DocKeyOfId(id.value()));
      // Equal values of different types are one document.
      std::sort(points_.begin(), points_.end());
      points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
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
      const std::vector<query::Interval> all = {{}};
      for (const query::Interval& interval : plan.bounds.empty() ? all : plan.bounds[0]) {
        AddRange(index->fields[0], interval, storage::DocPrefix(entry.id));
      }
      break;
    }
  }
  MergeRanges();
}

bool Scan::KeepsOrder(const query::Plan& plan, const catalog::ShardCatalog& catalog) const {
  if (!plan.sorted) return false;
  // Documents that are addressed one by one come in the order of their places.
  if (points_.size() > 1 && collection_.entry->sharded()) return false;
  return !catalog.HasLongKeys(index_);
}

void Scan::AddRange(const catalog::IndexField& field, const query::Interval& interval,
                    const std::string& prefix) {
  const bool descending = field.direction == storage::Direction::kDescending;
  const bson::Value first = descending ? interval.high.value() : interval.low.value();
  const bson::Value last = descending ? interval.low.value() : interval.high.value();
  const bool first_inclusive = descending ? interval.high_inclusive : interval.low_inclusive;
  const bool last_inclusive = descending ? interval.low_inclusive : interval.high_inclusive;
  std::string begin = prefix, end = prefix;
  if (!first.missing()) storage::AppendEncoded(first, field.direction, &begin);
  if (!last.missing()) storage::AppendEncoded(last, field.direction, &end);
  // Where a stored key is shortened it has no order: all keys with that head are looked at.
  const bool first_cut = storage::CutBound(&begin), last_cut = storage::CutBound(&end);
  widened_ |= first_cut || last_cut;
  if (!first.missing() && !first_inclusive && !first_cut) begin = storage::PrefixEnd(begin);
  if (last.missing() || last_inclusive || last_cut) end = storage::PrefixEnd(end);
  ranges_.push_back({std::move(begin), std::move(end)});
}

void Scan::AddIndexRanges(const catalog::IndexEntry& index,
                          const std::vector<std::vector<query::Interval>>& bounds) {
  table_ = storage::Table::kIndex;
  index_ = index.id;
  std::vector<std::string> prefixes = {storage::IndexPrefix(index.id, "")};
  size_t whole = 0;  // fields that the prefixes hold
  for (size_t f = 0; f < bounds.size(); ++f) {
    const auto& intervals = bounds[f];
    const catalog::IndexField& field = index.fields[f];
    const bool points = ArePoints(intervals);
    if (prefixes.size() * intervals.size() > kPrefixCountMax || (!points && field.hashed)) {
      widened_ |=
          !std::all_of(bounds.begin() + static_cast<std::ptrdiff_t>(f), bounds.end(), IsUnbounded);
      break;
    }
    if (!points) {
      widened_ |= !std::all_of(bounds.begin() + static_cast<std::ptrdiff_t>(f) + 1, bounds.end(),
                               IsUnbounded);
      for (const std::string& prefix : prefixes) {
        for (const query::Interval& interval : intervals) AddRange(field, interval, prefix);
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
    widened_ |= field.hashed;  // values share hashes
    ++whole;
  }
  for (std::string& prefix : prefixes) {
    if (whole == index.fields.size()) {
      // All fields are given: keys are shortened from just these bytes.
      prefix = storage::IndexPrefix(index.id, std::string_view(prefix).substr(sizeof(uint64_t)));
    } else {
      widened_ |= storage::CutBound(&prefix);
    }
    std::string end = storage::PrefixEnd(prefix);
    ranges_.push_back({std::move(prefix), std::move(end)});
  }
}

// Brings the ranges into key order and joins those that overlap, so that nothing is shown twice.
void Scan::MergeRanges() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<storage::TableRange> merged;
  for (storage::TableRange& range : ranges_) {
    if (range.begin >= range.end) continue;
    if (merged.empty() || merged.back().end < range.begin) {
      merged.push_back(std::move(range));
    } else {
      merged.back().end = std::max(merged.back().end, range.end);
    }
  }
  ranges_ = std::move(merged);
  if (reverse_) std::reverse(ranges_.begin(), ranges_.end());
}

absl::Status Scan::Begin(const storage::ReadSlice& slice) {
  slice_bytes_ = 0;
  blocked_on_ = nullptr;
  const auto entry = CatalogOf(slice).Find(collection_.entry->id);
  if (entry == nullptr) {
    return Error(ErrorCode::kQueryPlanKilled, "collection dropped: '{}'", collection_.entry->ns);
  }
  // By the ranges that the collection has now nobody reads orphans.
  if (collection_.entry->assignment != entry->assignment &&
      collection_.entry->version < CatalogOf(slice).CleanedSince(entry->id)) {
    return Error(ErrorCode::kQueryPlanKilled,
                 "documents of '{}' that the query could still read have moved to another shard",
                 collection_.entry->ns);
  }
  if (table_ != storage::Table::kIndex) return absl::OkStatus();
  const auto is_it = [this](const catalog::IndexEntry& index) { return index.id == index_; };
  if (std::none_of(entry->indexes.begin(), entry->indexes.end(), is_it)) {
    return Error(ErrorCode::kQueryPlanKilled, "index dropped while it was read: '{}'",
                 collection_.entry->ns);
  }
  if (!deduplicate_ && CatalogOf(slice).IsMultikey(index_)) {
    // The first array has come while the scan was under way.
    deduplicate_ = true;
    widened_ = true;
  }
  return absl::OkStatus();
}

bool Scan::IsSeen(const std::string& doc_key) {
  if (!seen_.insert(doc_key).second) return true;
  seen_bytes_ += doc_key.size() + sizeof(std::string) + 1;
  if (seen_bytes_ > kSeenBytesMax) {
    failed_ = Error(ErrorCode::kExceededMemoryLimit,
                    "the scan of a multikey index of '{}' has met too many documents to remember",
                    collection_.entry->ns);
  }
  return false;
}

bool Scan::IsPrepared(const storage::ReadSlice& slice, std::string_view doc_key) {
  const ShardState& state = StateOf(slice);
  if (state.prepared.empty()) return false;
  blocked_on_ = PreparedOn(state, storage::Table::kDocs, doc_key, slice.timestamp());
  return blocked_on_ != nullptr;
}

std::optional<PreparedEffect> Scan::StopInRange(const storage::ReadSlice& slice) const {
  const ShardState& state = StateOf(slice);
  if (state.prepared.empty()) return std::nullopt;
  std::string begin = ranges_[at_].begin, end = ranges_[at_].end;
  if (!resume_.empty()) {
    if (reverse_) {
      end = resume_;
    } else {
      begin = resume_ + '\0';
    }
  }
  return FirstPreparedIn(state, table_, begin, end, reverse_, slice.timestamp());
}

bool Scan::Show(const storage::ReadSlice& slice, std::string_view key,
                const storage::Record& record, Visitor visit) {
  std::string_view doc_key = key;
  storage::Record doc = record;
  std::string owned_key;
  if (table_ == storage::Table::kIndex) {
    ++keys_examined_;
    owned_key = storage::DocKeyOfIndexRecord(collection_.entry->id, key, record.value);
    if (IsPrepared(slice, owned_key)) return false;
    if (deduplicate_ && IsSeen(owned_key)) return true;
    if (!failed_.ok()) return false;
    auto found = slice.Get(storage::Table::kDocs, owned_key);
    if (!found) return true;
    doc_key = owned_key;
    doc = *found;
  }
  const bson::View document(doc.value.data());
  if (!collection_.Owns(doc_key, document)) return true;
  if (!storage::HoldsDocument(hashes_, doc_key, document)) return true;
  ++docs_examined_;
  slice_bytes_ += doc.value.size();
  return visit({doc_key, document, doc.commit_timestamp}) == Visit::kContinue;
}

bool Scan::RunPoints(const storage::ReadSlice& slice, size_t examined_max, Visitor visit) {
  for (size_t examined = 0; at_ < points_.size(); ++examined) {
    if (examined == examined_max || slice_bytes_ > kSliceBytesMax) return false;
    const std::string& key = points_[reverse_ ? points_.size() - 1 - at_ : at_];
    if (IsPrepared(slice, key)) return false;
    ++at_;
    auto record = slice.Get(storage::Table::kDocs, key);
    if (record && !Show(slice, key, *record, visit)) return at_ == points_.size();
  }
  return true;
}

void Scan::Position(storage::Cursor& cursor) const {
  const storage::TableRange& range = ranges_[at_];
  if (reverse_) {
    cursor.SeekBack(resume_.empty() ? range.end : resume_, range.begin);
    return;
  }
  cursor.Seek(resume_.empty() ? range.begin : resume_, range.end);
  if (!resume_.empty() && cursor.Valid() && cursor.key() == resume_) cursor.Next();
}

// True when the present range has ended; else `resume_` is the last key looked at.
bool Scan::RunRange(const storage::ReadSlice& slice, storage::Cursor& cursor, size_t* left,
                    Visitor visit) {
  const bool any_prepared = !StateOf(slice).prepared.empty();
  const std::optional<PreparedEffect> stop = StopInRange(slice);
  for (Position(cursor); cursor.Valid(); reverse_ ? cursor.Previous() : cursor.Next()) {
    if (stop && (reverse_ ? cursor.key() <= stop->key : cursor.key() >= stop->key)) break;
    const bool go_on = Show(slice, cursor.key(), cursor.record(), visit);
    if (blocked_on_ != nullptr) return false;
    if (*left > 0) --*left;
    const bool pause = !go_on || *left == 0 || slice_bytes_ > kSliceBytesMax;
    // With transactions prepared the next record may be the one to stop at.
    if (pause || any_prepared) resume_ = std::string(cursor.key());
    if (pause) return false;
  }
  if (stop) blocked_on_ = stop->transaction;
  return !stop;
}

bool Scan::RunRanges(const storage::ReadSlice& slice, size_t examined_max, Visitor visit) {
  if (at_ == ranges_.size()) return true;
  const auto cursor = slice.NewCursor(table_);
  size_t left = examined_max;
  for (; at_ < ranges_.size(); ++at_, resume_.clear()) {
    if (left == 0) return false;
    --left;  // an empty range costs a search too
    if (!RunRange(slice, *cursor, &left, visit)) return false;
  }
  return true;
}

absl::StatusOr<bool> Scan::Run(const storage::ReadSlice& slice, size_t examined_max,
                               Visitor visit) {
  EVENKEEL_RETURN_IF_ERROR(Begin(slice));
  const bool ended = points_.empty() ? RunRanges(slice, examined_max, visit)
                                     : RunPoints(slice, examined_max, visit);
  EVENKEEL_RETURN_IF_ERROR(failed_);
  return ended;
}

}  // namespace evenkeel::shard
