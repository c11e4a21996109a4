// Implements the steps of a move of ranges.
#include "tests/lib/shard/range_move.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/check.h"
#include "tests/lib/hashed_ids.h"

namespace evenkeel::tests {
namespace {

int CodeOf(const bson::Document& reply) {
  return reply["code"].missing() ? 0 : static_cast<int>(bson::ToInt64Truncated(reply["code"]));
}

bson::Document DocumentOf(int32_t n, int b, size_t text) {
  bson::Builder document;
  document.Append("_id", n).Append("a", n).Append("b", b).Append("t", std::string(text, 'x'));
  return document.Finish();
}

int64_t HashOfField(bson::View document) { return bson::HashValue(document["a"]); }

std::string Show(storage::Count count) {
  return std::to_string(count.documents) + " documents of " + std::to_string(count.bytes);
}

}  // namespace

RangeMove::RangeMove(Options options)
    : before_("before", 2, std::move(options.before)),
      after_("after", 3, std::move(options.after)) {
  now_.shard_key = options.by_bucket ? R"({"_id": "hashed"})" : R"({"a": "hashed"})";
  now_.indexes = std::move(options.indexes);
  now_.assignment = before_.name();
  for (uint32_t i = 0; i < options.shards; ++i) {
    shards_.push_back(std::make_unique<ShardFixture>(
        ShardFixture::Options{.shard = i, .shards = options.shards}));
    bson::Builder command;
    command.Append("_applyCatalog", 1).OpenArray("assignments");
    bson::ArrayAppender rows(command);
    for (const catalog::Assignment* each : {&before_, &after_}) rows.Add(each->ToBson().view());
    command.Close();
    EVENKEEL_CHECK(CodeOf(shards_.back()->Run(command.Finish())) == 0);
    shards_.back()->Put(now_);
  }
}

int64_t RangeMove::HashOf(int32_t n) const { return HashedIdOf(n).hash; }

// ---- clients ----

void RangeMove::Write(int32_t n, std::string_view command, const std::string& rest) {
  const bson::Document reply = shard(OwnerOf(n).value).Run(now_.Command(command, rest));
  EVENKEEL_CHECK(CodeOf(reply) == 0 && reply["writeErrors"].missing());
  EVENKEEL_CHECK(bson::ToInt64Truncated(reply["n"]) == 1);
}

void RangeMove::Insert(int32_t n, int b, size_t text) {
  bson::Document document = DocumentOf(n, b, text);
  Write(n, "insert", R"("documents": [)" + bson::ToJson(document) + "]");
  documents_[n] = std::move(document);
}

void RangeMove::Replace(int32_t n, int b, size_t text) {
  bson::Document document = DocumentOf(n, b, text);
  Write(n, "update",
        R"("updates": [{"q": {"_id": )" + std::to_string(n) + R"(, "a": )" + std::to_string(n) +
            R"(}, "u": )" + bson::ToJson(document) + "}]");
  documents_[n] = std::move(document);
}

void RangeMove::Delete(int32_t n) {
  Write(n, "delete",
        R"("deletes": [{"q": {"_id": )" + std::to_string(n) + R"(, "a": )" + std::to_string(n) +
            R"(}, "limit": 1}])");
  documents_.erase(n);
}

// ---- steps ----

void RangeMove::Put(const std::function<void(TestCollection&)>& change) {
  change(now_);
  ++now_.version;
  for (const auto& shard : shards_) shard->Put(now_);
}

void RangeMove::Begin() {
  Put([](TestCollection& entry) {
    entry.copied_to = R"({"id": {"$numberLong": "5000"}, "key": )" + entry.shard_key +
                      R"(, "assignment": "after"})";
  });
}

void RangeMove::Close() {
  Put([](TestCollection& entry) { entry.writes_closed = true; });
}

void RangeMove::Switch() {
  Put([this](TestCollection& entry) {
    entry.copied_to.clear();
    entry.writes_closed = false;
    entry.assignment = after_.name();
  });
  ranges_ = &after_;
}

void RangeMove::GiveUp() {
  Put([](TestCollection& entry) {
    entry.copied_to.clear();
    entry.writes_closed = false;
  });
}

bson::Document RangeMove::Page(uint32_t source, const std::string& after) {
  bson::Builder command(Json(now_.Command("_copyOut", "")).view());
  if (!after.empty()) command.AppendBinary("after", 0, after);
  return shard(source).Run(command.Finish());
}

int RangeMove::Send(std::string_view command, std::string_view rows, bson::View array,
                    const std::function<int64_t(bson::View)>& hash_of) {
  std::map<ShardId, std::vector<bson::View>> parts;
  for (const auto& [key, row] : array) {
    parts[after_.OwnerOf(hash_of(row.AsDocument()))].push_back(row.AsDocument());
  }
  for (const auto& [owner, part] : parts) {
    bson::Builder body(Json(now_.Command(command, "")).view());
    body.OpenArray(rows);
    bson::ArrayAppender list(body);
    for (const bson::View row : part) list.Add(row);
    body.Close();
    if (const int code = CodeOf(shard(owner.value).Run(body.Finish())); code != 0) return code;
  }
  return 0;
}

void RangeMove::Copy() {
  for (uint32_t source = 0; source < shards_.size(); ++source) {
    std::string after;
    for (bool more = true; more;) {
      const bson::Document page = Page(source, after);
      EVENKEEL_CHECK(CodeOf(page) == 0);
      EVENKEEL_CHECK(Send("_copyIn", "documents", page["documents"].AsDocument(), HashOfField) ==
                     0);
      after = std::string(page["after"].AsBinary().bytes);
      more = page["more"].AsBool();
    }
  }
}

void RangeMove::TakeOverNotes(uint32_t source) {
  const bson::Document page = shard(source).Run(now_.Command("_changes", ""));
  EVENKEEL_CHECK(CodeOf(page) == 0);
  const bson::View notes = page["notes"].AsDocument();
  const auto hash_of = [](bson::View note) { return note["h"].AsInt64(); };
  EVENKEEL_CHECK(Send("_applyChanges", "notes", notes, hash_of) == 0);
  bson::Builder forget(Json(now_.Command("_forgetChanges", "")).view());
  forget.AppendArray("notes", notes);
  EVENKEEL_CHECK(CodeOf(shard(source).Run(forget.Finish())) == 0);
}

void RangeMove::CatchUp() {
  for (uint32_t source = 0; source < shards_.size(); ++source) TakeOverNotes(source);
}

int RangeMove::NoteLeaving(storage::Count more) {
  std::map<ShardId, storage::Count> leaving;
  for (const auto& shard : shards_) {
    const bson::Document reply = shard->Run(now_.Command("_arrivals", ""));
    EVENKEEL_CHECK(CodeOf(reply) == 0);
    for (const auto& [key, value] : reply["arrivals"].AsDocument()) {
      const bson::View row = value.AsDocument();
      storage::Count& count = leaving[before_.OwnerOf(row["min"].AsInt64())];
      count.documents += row["documents"].AsInt64();
      count.bytes += row["bytes"].AsInt64();
    }
  }
  for (uint32_t source = 0; source < shards_.size(); ++source) {
    const storage::Count count = leaving[ShardId{source}];
    bson::Builder body(Json(now_.Command("_noteLeaving", "")).view());
    body.Append("documents", count.documents + more.documents);
    body.Append("bytes", count.bytes + more.bytes);
    if (const int code = CodeOf(shard(source).Run(body.Finish())); code != 0) return code;
  }
  return 0;
}

// ---- what there has to be ----

storage::Count RangeMove::Foreign(uint32_t number) {
  const bson::Document stats = shard(number).Run(now_.Command("_collStats", ""));
  return {stats["numOrphanDocs"].AsInt64(), stats["orphanBytes"].AsInt64()};
}

int64_t RangeMove::RemoveOrphans(uint32_t number) {
  const bson::Document reply = shard(number).Run(now_.Command("_removeOrphans", ""));
  return CodeOf(reply) == 0 ? reply["removed"].AsInt64() : -CodeOf(reply);
}

std::string RangeMove::DifferenceAt(uint32_t number) {
  std::vector<std::string> owned;
  storage::Count expected;
  for (const auto& [n, document] : documents_) {
    if (OwnerOf(n) != ShardId{number}) continue;
    owned.push_back(bson::ToJson(document));
    ++expected.documents;
    expected.bytes += static_cast<int64_t>(document.SizeBytes());
  }
  std::sort(owned.begin(), owned.end());
  ShardFixture& at = shard(number);
  for (const char* rest : {R"("filter": {})", R"("filter": {"b": {"$gte": 0}}, "hint": "b_1")",
                           R"("filter": {"_id": {"$gte": 0}}, "hint": "_id_")"}) {
    std::vector<std::string> shown = at.Find(now_, rest);
    std::sort(shown.begin(), shown.end());
    if (shown != owned) return std::string("wrong documents in find of ") + rest;
  }
  for (const char* rest : {"", R"("query": {"b": {"$gte": 0}})"}) {
    const int64_t count = bson::ToInt64Truncated(at.Run(now_.Command("count", rest))["n"]);
    if (count != expected.documents) return "count " + std::to_string(count);
  }
  const bson::Document stats = at.Run(now_.Command("_collStats", ""));
  const storage::Count counted{stats["count"].AsInt64(), stats["size"].AsInt64()};
  if (counted != expected) return Show(counted) + " bytes counted, not " + Show(expected);
  return at.Validate(now_);
}

std::string RangeMove::Difference() {
  for (uint32_t number = 0; number < shards_.size(); ++number) {
    const std::string difference = DifferenceAt(number);
    if (!difference.empty()) return "shard" + std::to_string(number) + ": " + difference;
  }
  return "";
}

}  // namespace evenkeel::tests
