// The overlay against a sorted map, under random walks in both directions.
#include "storage/read/overlay.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "tests/lib/store_harness.h"

namespace evenkeel::storage {
namespace {

using Model = std::map<std::string, std::string>;

std::string KeyOf(uint64_t i) { return "k" + std::to_string(100 + i); }

// A base with some keys and an overlay that changes some of them; `model` is what must be seen.
struct Layers {
  tests::StoreHarness harness;
  Overlay overlay;
  Model model;

  Layers() { harness.Open(); }
  void PutBase(const std::string& key, const std::string& value) {
    model[key] = value;
    EXPECT_TRUE(
        harness.Write([&](WriteContext& context) { context.Put(Table::kMeta, key, value); }).ok());
  }
  void Put(const std::string& key, const std::string& value) {
    model[key] = value;
    overlay.Put(Table::kMeta, key, value);
  }
  void Remove(const std::string& key) {
    model.erase(key);
    overlay.Remove(Table::kMeta, key);
  }
  ReadSlice Read() {
    ReadSlice slice = harness.store->Read();
    slice.SetOverlay(&overlay);
    return slice;
  }
};

TEST(Overlay, ShowsItsEffectsOnTop) {
  Layers layers;
  layers.PutBase("a", "1");
  layers.PutBase("b", "1");
  layers.Put("b", "2");
  layers.Put("c", "2");
  layers.Remove("a");
  const ReadSlice slice = layers.Read();
  EXPECT_FALSE(slice.Get(Table::kMeta, "a").has_value());
  EXPECT_EQ(slice.Get(Table::kMeta, "b")->value, "2");
  EXPECT_EQ(slice.Get(Table::kMeta, "c")->value, "2");
  EXPECT_GT(slice.Get(Table::kMeta, "c")->commit_timestamp, slice.timestamp());
  EXPECT_EQ(layers.overlay.Find(Table::kDocs, "b"), nullptr);
}

TEST(Overlay, WalksAsASortedMapDoes) {
  base::Random random(7);
  for (int round = 0; round < 20; ++round) {
    Layers layers;
    for (int i = 0; i < 15; ++i) {
      if (random.Uniform(2) == 0) layers.PutBase(KeyOf(random.Uniform(30)), "base");
    }
    for (int i = 0; i < 15; ++i) {
      const std::string key = KeyOf(random.Uniform(30));
      random.Uniform(3) == 0 ? layers.Remove(key) : layers.Put(key, "layer" + std::to_string(i));
    }
    const ReadSlice slice = layers.Read();
    const auto cursor = slice.NewCursor(Table::kMeta);
    auto at = layers.model.end();
    for (int step = 0; step < 300; ++step) {
      switch (at == layers.model.end() ? random.Uniform(2) : random.Uniform(6)) {
        case 0: {
          const std::string key = KeyOf(random.Uniform(32));
          cursor->Seek(key, {});
          at = layers.model.lower_bound(key);
          break;
        }
        case 1: {
          const std::string key = random.Uniform(5) == 0 ? "" : KeyOf(random.Uniform(32));
          cursor->SeekBack(key, {});
          at = key.empty() ? layers.model.end() : layers.model.lower_bound(key);
          at = at == layers.model.begin() ? layers.model.end() : std::prev(at);
          break;
        }
        case 2:
        case 3:
          cursor->Next();
          ++at;
          break;
        default:
          cursor->Previous();
          at = at == layers.model.begin() ? layers.model.end() : std::prev(at);
      }
      ASSERT_EQ(cursor->Valid(), at != layers.model.end()) << "round " << round << " step " << step;
      if (!cursor->Valid()) continue;
      ASSERT_EQ(cursor->key(), at->first);
      ASSERT_EQ(cursor->record().value, at->second);
    }
  }
}

TEST(Overlay, WalksEndAtTheirLimit) {
  base::Random random(9);
  for (int round = 0; round < 40; ++round) {
    Layers layers;
    for (int i = 0; i < 10; ++i) layers.PutBase(KeyOf(random.Uniform(30)), "base");
    for (int i = 0; i < 10; ++i) {
      const std::string key = KeyOf(random.Uniform(30));
      random.Uniform(2) == 0 ? layers.Remove(key) : layers.Put(key, "layer");
    }
    const std::string begin = KeyOf(random.Uniform(30)), end = KeyOf(random.Uniform(30));
    Model expected, forward, backward;
    for (const auto& [key, value] : layers.model) {
      if (key >= begin && key < end) expected.emplace(key, value);
    }
    const ReadSlice slice = layers.Read();
    const auto cursor = slice.NewCursor(Table::kMeta);
    for (cursor->Seek(begin, end); cursor->Valid(); cursor->Next()) {
      forward.emplace(cursor->key(), cursor->record().value);
    }
    for (cursor->SeekBack(end, begin); cursor->Valid(); cursor->Previous()) {
      backward.emplace(cursor->key(), cursor->record().value);
    }
    EXPECT_EQ(forward, expected) << "round " << round;
    EXPECT_EQ(backward, expected) << "round " << round;
  }
}

TEST(Overlay, TakesBackToAMark) {
  Overlay overlay;
  overlay.Put(Table::kDocs, "a", "1");
  overlay.Put(Table::kDocs, "b", "1");
  const size_t bytes = overlay.bytes();
  const size_t mark = overlay.Mark();
  overlay.Put(Table::kDocs, "a", "22");
  overlay.Put(Table::kDocs, "a", "333");
  overlay.Remove(Table::kDocs, "b");
  overlay.Put(Table::kIndex, "c", "1");
  overlay.RollBackTo(mark);
  EXPECT_EQ(*overlay.Find(Table::kDocs, "a")->value, "1");
  EXPECT_EQ(*overlay.Find(Table::kDocs, "b")->value, "1");
  EXPECT_EQ(overlay.Find(Table::kIndex, "c"), nullptr);
  EXPECT_EQ(overlay.bytes(), bytes);
}

TEST(Overlay, EveryEffectHasAVersionOfItsOwn) {
  Overlay overlay;
  overlay.Put(Table::kDocs, "a", "1");
  const Timestamp first = overlay.Find(Table::kDocs, "a")->version;
  overlay.Put(Table::kDocs, "a", "1");
  EXPECT_GT(overlay.Find(Table::kDocs, "a")->version, first);
}

}  // namespace
}  // namespace evenkeel::storage
