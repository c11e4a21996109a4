// The keys of the docs and index tables: prefixes, lengths, and that no two records share a key by
// accident or on purpose.
#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

#include <set>

#include "base/limits.h"
#include "tests/unit/storage/keys/key_test_lib.h"

namespace evenkeel::storage {
namespace {

constexpr CollectionId kCollection{77};
constexpr IndexId kIndex{5};

TEST(ShortenKey, KeepsShortKeysAndTheHeadsOfLongOnes) {
  EXPECT_EQ(ShortenKey(std::string(99, 'a'), 100), std::string(99, 'a'));
  const std::string shortened = ShortenKey(std::string(100, 'a'), 100);
  EXPECT_EQ(shortened.size(), 100u);
  EXPECT_EQ(shortened.substr(0, 84), std::string(84, 'a'));
  // The first half of SHA-256 of a hundred times "a".
  EXPECT_EQ(absl::BytesToHexString(shortened.substr(84)), "2816597888e4a0d3a36b82b83316ab32");
}

TEST(ShortenKey, LongKeysStayDistinct) {
  std::set<std::string> keys;
  for (int i = 0; i < 1000; ++i)
    keys.insert(ShortenKey(std::string(600, 'h') + std::to_string(i), 511));
  EXPECT_EQ(keys.size(), 1000u);
}

TEST(ShortenKey, NobodyCanBuildAShortKeyThatEqualsAShortenedOne) {
  const std::string shortened = ShortenKey(std::string(600, 'h'), 511);
  EXPECT_NE(ShortenKey(shortened, 511), shortened);
}

TEST(PrefixEnd, IsAboveEverythingWithThePrefix) {
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd("a\xFF\xFF"), "b");
  EXPECT_EQ(PrefixEnd("\xFF\xFF"), "");
  EXPECT_EQ(PrefixEnd(""), "");
}

TEST(DocKey, IsCollectionThenPlacementThenId) {
  const std::string key = DocKey(kCollection, "placed", Int32(7).value());
  EXPECT_TRUE(key.starts_with(DocPrefix(kCollection)));
  EXPECT_LT(key, DocPrefixEnd(kCollection));
  EXPECT_LT(DocKey({76}, "zzz", Int32(7).value()), DocPrefix(kCollection));
  EXPECT_GE(DocKey({78}, "", Int32(7).value()), DocPrefixEnd(kCollection));
  EXPECT_EQ(WithoutCollection(key), "placed" + Encoded(Int32(7)));
}

TEST(DocKey, LongIdsKeepTheirPlacementAndStayDistinct) {
  const std::string placement(limits::kPlacementKeyBytesMax, 'p');
  std::set<std::string> keys;
  for (const char last : {'a', 'b', 'c'}) {
    const std::string key =
        DocKey(kCollection, placement, Text(std::string(5000, 'i') + last).value());
    EXPECT_EQ(key.size(), limits::kLmdbKeyBytesMax);
    EXPECT_TRUE(WithoutCollection(key).starts_with(placement));
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 3u);
}

struct RecordCase {
  const char* name;
  size_t field_bytes;
  size_t id_bytes;
  bool fields_shortened;
};

class IndexRecordTest : public testing::TestWithParam<RecordCase> {};

TEST_P(IndexRecordTest, LeadsToItsDocument) {
  const std::string fields = Encoded(Text(std::string(GetParam().field_bytes, 'f')));
  const std::string doc_key =
      DocKey(kCollection, "8 bytes ", Text(std::string(GetParam().id_bytes, 'i')).value());
  const std::string type_bits("\x02\x01\0\0", 4);
  const std::string key = IndexKey(kIndex, fields, doc_key);
  const std::string value = IndexValue(type_bits, fields, doc_key);
  EXPECT_LE(key.size(), limits::kLmdbKeyBytesMax);
  EXPECT_TRUE(key.starts_with(IndexPrefix(kIndex, fields)));
  EXPECT_TRUE(key.starts_with(IndexPrefix(kIndex, "")));
  EXPECT_LT(key, IndexEnd(kIndex));
  EXPECT_EQ(DocKeyOfIndexRecord(kCollection, key, value), doc_key);
  EXPECT_EQ(TypeBitsOfIndexRecord(value), "\x02\x01");
  const std::string_view stored = FieldsOfIndexRecord(key, value);
  EXPECT_EQ(FieldsAreShortened(stored), GetParam().fields_shortened);
  if (!GetParam().fields_shortened) {
    EXPECT_EQ(stored, fields);
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, IndexRecordTest,
                         testing::Values(RecordCase{"short", 10, 5, false},
                                         RecordCase{"long_id", 10, 480, false},
                                         RecordCase{"longest_id", 10, 5000, false},
                                         RecordCase{"both_fit_just", 462, 10, false},
                                         RecordCase{"id_does_not_fit", 462, 100, false},
                                         RecordCase{"fields_too_long", 463, 5, true},
                                         RecordCase{"both_too_long", 5000, 5000, true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(IndexKey, EveryLengthOfFieldsAndIdHasItsOwnKeys) {
  std::set<std::string> keys;
  size_t count = 0;
  for (size_t field_bytes = 440; field_bytes < 500; field_bytes += 3) {
    for (size_t id_bytes = 0; id_bytes < 80; ++id_bytes, ++count) {
      const std::string fields = Encoded(Text(std::string(field_bytes, 'f')));
      const std::string doc_key = DocKey(kCollection, "", Text(std::string(id_bytes, 'f')).value());
      const std::string key = IndexKey(kIndex, fields, doc_key);
      ASSERT_LE(key.size(), limits::kLmdbKeyBytesMax);
      ASSERT_EQ(DocKeyOfIndexRecord(kCollection, key, IndexValue("", fields, doc_key)), doc_key);
      keys.insert(key);
    }
  }
  EXPECT_EQ(keys.size(), count);
}

TEST(IndexKey, OrderIsByFieldsThenDocument) {
  const std::string low = Encoded(Int32(1)), high = Encoded(Int32(2));
  const std::string first = DocKey(kCollection, "", Int32(1).value());
  const std::string second = DocKey(kCollection, "", Int32(2).value());
  EXPECT_LT(IndexKey(kIndex, low, second), IndexKey(kIndex, high, first));
  EXPECT_LT(IndexKey(kIndex, low, first), IndexKey(kIndex, low, second));
}

// A client knows the digest and tries to build fields, or a document key, that continue as a
// shortened key does.
TEST(IndexKey, ShortenedFieldsCannotBeImitated) {
  const std::string fields = Encoded(Text(std::string(600, 'f')));
  const std::string prefix = IndexPrefix(kIndex, fields);
  const std::string tail = prefix.substr(prefix.size() - 16);
  const std::string head = prefix.substr(8, prefix.size() - 8 - 16);
  for (size_t taken = 0; taken <= tail.size(); ++taken) {
    // The text whose encoding is the head and `taken` bytes of the digest, and a document key that
    // goes on with the rest.
    const std::string text = head.substr(1) + tail.substr(0, taken);
    const std::string other_fields = Encoded(Text(text));
    const std::string other_doc = DocPrefix(kCollection) + tail.substr(taken);
    EXPECT_FALSE(IndexKey(kIndex, other_fields, other_doc).starts_with(prefix)) << taken;
  }
}

TEST(IndexKey, ShortenedDocumentKeysCannotBeImitated) {
  const std::string fields = Encoded(Text(std::string(462, 'f')));
  const std::string doc_key = DocKey(kCollection, "", Text(std::string(300, 'i')).value());
  const std::string key = IndexKey(kIndex, fields, doc_key);
  const std::string imitation = DocPrefix(kCollection) + key.substr(8 + fields.size());
  EXPECT_NE(IndexKey(kIndex, fields, imitation), key);
}

TEST(CutBound, CutsToWhatIsInOrder) {
  std::string bound = IndexPrefix(kIndex, "") + Encoded(Text("short"));
  const std::string before = bound;
  EXPECT_FALSE(CutBound(&bound));
  EXPECT_EQ(bound, before);
  base::Random random(1);
  for (int round = 0; round < 500; ++round) {
    const std::string text = std::string(440 + random.Uniform(60), 'f') + random.Bytes(3);
    const std::string other = std::string(440 + random.Uniform(60), 'f') + random.Bytes(3);
    const std::string fields = Encoded(Text(text)), bound_fields = Encoded(Text(other));
    const std::string key = IndexKey(kIndex, fields, DocKey(kCollection, "", Int32(1).value()));
    std::string begin = IndexPrefix(kIndex, "") + bound_fields;
    const bool cut = CutBound(&begin);
    const std::string end = cut ? PrefixEnd(begin) : begin;
    if (fields >= bound_fields) {
      EXPECT_GE(key, begin) << round;
    } else {
      EXPECT_LT(key, end) << round;
    }
  }
}

TEST(IndexRecord, DamagedRecordsAreEmpty) {
  for (const std::string_view value :
       {std::string_view(""), std::string_view("\xFF\xFF\xFF\xFF\xFF"),
        std::string_view("\x03\x7F"), std::string_view("\xFE\x7F")}) {
    EXPECT_EQ(DocKeyOfIndexRecord(kCollection, "short", value), "");
    EXPECT_EQ(FieldsOfIndexRecord("short", value), "");
  }
}

}  // namespace
}  // namespace evenkeel::storage
