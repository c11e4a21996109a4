// Encoded values: their order is the order of the values, equal values have equal bytes, none is
// the beginning of another.
#include "storage/keys/key_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/storage/keys/key_test_lib.h"

namespace evenkeel::storage {
namespace {

TEST(KeyEncoding, AllPairsOfOtherValuesAreInOrder) {
  std::vector<bson::OwnedValue> pool = OtherPool();
  EXPECT_GT(pool.size(), 200u);
  for (const double number : {-2.5, 0.0, 1.0, 7e300}) pool.push_back(Double(number));
  ExpectSameOrder(pool);
}

TEST(KeyEncoding, RandomValuesAreInOrder) {
  ValueMaker maker(1);
  for (int round = 0; round < 10; ++round) {
    std::vector<bson::OwnedValue> pool;
    for (int i = 0; i < 150; ++i) pool.push_back(maker.Next());
    ExpectSameOrder(pool);
  }
}

TEST(KeyEncoding, NoEncodingIsTheBeginningOfAnother) {
  ValueMaker maker(4);
  std::vector<bson::OwnedValue> pool = ValuePool();
  for (int i = 0; i < 3000; ++i) pool.push_back(maker.Next());
  for (const Direction direction : {Direction::kAscending, Direction::kDescending}) {
    std::vector<std::string> keys;
    for (const bson::OwnedValue& value : pool) keys.push_back(Encoded(value, direction));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (size_t i = 1; i < keys.size(); ++i) {
      ASSERT_FALSE(std::string_view(keys[i]).starts_with(keys[i - 1])) << i;
    }
  }
}

TEST(KeyEncoding, CompoundKeysAreInOrder) {
  ValueMaker maker(5);
  for (int round = 0; round < 3000; ++round) {
    std::string a, b;
    int expected = 0;
    for (int field = 0; field < 3; ++field) {
      const Direction direction =
          maker.random().Chance(0.5) ? Direction::kAscending : Direction::kDescending;
      const bson::OwnedValue x = maker.Next(1);
      const bson::OwnedValue y = maker.random().Chance(0.5) ? x : maker.Next(1);
      AppendEncoded(x.value(), direction, &a);
      AppendEncoded(y.value(), direction, &b);
      const int order = SignOf(bson::Compare(x.value(), y.value()));
      if (expected == 0) expected = direction == Direction::kAscending ? order : -order;
    }
    ASSERT_EQ(SignOf(a.compare(b)), expected) << "round " << round;
  }
}

TEST(KeyEncoding, CommonValuesAreShort) {
  EXPECT_EQ(Encoded(Int32(0)).size(), 1u);
  EXPECT_EQ(Encoded(Int32(100)).size(), 2u);
  EXPECT_EQ(Encoded(Int32(-30'000)).size(), 3u);
  EXPECT_LE(Encoded(Int64(std::numeric_limits<int64_t>::max())).size(), 9u);
  EXPECT_LE(Encoded(Double(3.14159)).size(), 9u);
  EXPECT_EQ(Encoded({bson::Type::kObjectId, std::string(12, 'x')}).size(), 13u);
  EXPECT_EQ(Encoded(Text("hello")).size(), 5u + 2);
  EXPECT_EQ(Encoded({bson::Type::kDate, BytesOf(int64_t{1})}).size(), 9u);
}

TEST(KeyEncoding, MissingIsEncodedAsNull) {
  EXPECT_EQ(Encoded(bson::OwnedValue()), Encoded(Plain(bson::Type::kNull)));
  EXPECT_NE(Encoded(Plain(bson::Type::kUndefined)), Encoded(Plain(bson::Type::kNull)));
}

TEST(KeyEncoding, RankBoundsEncloseTheirClassAndNothingElse) {
  std::vector<bson::OwnedValue> pool = ValuePool();
  for (const Direction direction : {Direction::kAscending, Direction::kDescending}) {
    for (const bson::OwnedValue& of_rank : pool) {
      const int rank = bson::CanonicalRank(of_rank.value().type());
      const std::string low = LowestOfRank(rank, direction);
      const std::string high = AboveRank(rank, direction);
      for (size_t i = 0; i < pool.size(); i += 3) {
        const std::string key = Encoded(pool[i], direction);
        const bool inside = low <= key && key < high;
        ASSERT_EQ(inside, bson::CanonicalRank(pool[i].value().type()) == rank) << Show(pool[i]);
      }
    }
  }
}

TEST(KeyEncoding, StringsBeginWithTheEncodingOfTheirBeginning) {
  std::string prefix = Encoded(Text("abc"));
  prefix.pop_back();  // without its end: a bound for all strings that begin so
  EXPECT_TRUE(Encoded(Text("abcd")).starts_with(prefix));
  EXPECT_TRUE(Encoded(Text(std::string_view("abc\0x", 5))).starts_with(prefix));
}

class UpperCase final : public bson::StringComparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return SortKey(a).compare(SortKey(b));
  }
  std::string SortKey(std::string_view text) const override {
    std::string key(text);
    for (char& c : key) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return key;
  }
};

TEST(KeyEncoding, ACollationReplacesStringsAtAnyDepth) {
  const UpperCase collation;
  const auto encode = [&](const bson::OwnedValue& value, const bson::StringComparator* maker) {
    std::string out;
    AppendEncoded(value.value(), Direction::kAscending, &out, maker);
    return out;
  };
  EXPECT_EQ(encode(Text("aBc"), &collation), encode(Text("ABC"), nullptr));
  EXPECT_EQ(encode(Text("x", bson::Type::kSymbol), &collation), encode(Text("X"), nullptr));
  EXPECT_EQ(encode(Array({Object({{"a", Text("x")}})}), &collation),
            encode(Array({Object({{"a", Text("X")}})}), nullptr));
  EXPECT_EQ(encode(Text("code", bson::Type::kCode), &collation),
            encode(Text("code", bson::Type::kCode), nullptr));
}

}  // namespace
}  // namespace evenkeel::storage
