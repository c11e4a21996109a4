// A move of ranges between shards, step by step as its job does it (docs/moving_data.md), and what
// the shards have to show, count and keep at every point of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/assignment.h"
#include "storage/store.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::tests {

// Documents are {_id: n, a: n, b: …, t: text}: n has the same hash in both fields, so that a
// collection which is sharded by either one lies alike.
class RangeMove {
 public:
  struct Options {
    bool by_bucket = true;  // sharded, and so placed, by `_id`; else by `a`, placed by hash
    std::vector<catalog::HashRange> before, after;
    std::vector<std::string> indexes = {R"({"key": {"b": 1}, "name": "b_1"})"};
    uint32_t shards = 2;
  };
  explicit RangeMove(Options options);

  ShardFixture& shard(uint32_t number) { return *shards_[number]; }
  // The collection as the shards know it now.
  const TestCollection& now() const { return now_; }

  // ---- what clients do, on the shard that owns the document ----
  void Insert(int32_t n, int b = 1, size_t text = 0);
  void Replace(int32_t n, int b, size_t text = 0);
  void Delete(int32_t n);

  // ---- the steps of the job ----
  void Begin();    // from now on changes are noted
  void Copy();     // every source, page by page, to where documents will belong
  void CatchUp();  // takes over what was noted
  void Close();    // for writes
  // Tells every source how many of its documents others have now; `more` of them. The first code.
  int NoteLeaving(storage::Count more = {});
  void Switch();  // the ranges have moved
  void GiveUp();  // they have not

  // The next version of the entry, on all shards.
  void Put(const std::function<void(TestCollection&)>& change = [](TestCollection&) {});

  // What _copyOut says behind a place.
  bson::Document Page(uint32_t source, const std::string& after = "");
  // Sends rows to the shards that will own the documents. The first code that is not 0.
  int Send(std::string_view command, std::string_view rows, bson::View array,
           const std::function<int64_t(bson::View)>& hash_of);
  // How many of its documents each shard shows, counts and has indexed: "" when these are just the
  // ones that clients have written and it owns; else what differs.
  std::string Difference();
  // Documents of others that lie there.
  storage::Count Foreign(uint32_t number);
  int64_t RemoveOrphans(uint32_t number);
  int64_t HashOf(int32_t n) const;
  ShardId OwnerOf(int32_t n) const { return ranges_->OwnerOf(HashOf(n)); }

 private:
  void Write(int32_t n, std::string_view command, const std::string& rest);
  void TakeOverNotes(uint32_t source);
  std::string DifferenceAt(uint32_t number);

  const catalog::Assignment before_, after_;
  const catalog::Assignment* ranges_ = &before_;  // the present ones
  TestCollection now_;
  std::vector<std::unique_ptr<ShardFixture>> shards_;
  std::map<int32_t, bson::Document> documents_;
};

}  // namespace evenkeel::tests
