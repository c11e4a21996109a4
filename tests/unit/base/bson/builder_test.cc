// Tests of the BSON builder.
#include "base/bson/builder.h"

#include <bson/bson.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/bson/validate.h"
#include "base/thread.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

TEST(BuilderTest, EmptyDocument) { EXPECT_EQ(Builder().Finish().bytes(), Document().bytes()); }

TEST(BuilderTest, BytesAreTheOnesOfTheSpecification) {
  // The two examples on bsonspec.org.
  const Document hello = Builder().Append("hello", "world").Finish();
  EXPECT_EQ(hello.bytes(), std::string("\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0", 22));
  Builder b;
  b.OpenArray("BSON").Append("0", "awesome").Append("1", 5.05).Append("2", 1986);
  EXPECT_EQ(b.Finish().bytes(), std::string("1\0\0\0\x04"
                                            "BSON\0&\0\0\0\x02"
                                            "0\0\x08\0\0\0awesome\0\x01"
                                            "1\0"
                                            "333333\x14@\x10"
                                            "2\0\xc2\x07\0\0\0\0",
                                            49));
}

TEST(BuilderTest, EveryTypeIsValidForUsAndLibbson) {
  const Document document = EveryType();
  EXPECT_TRUE(Validate(document.bytes()).ok());
  bson_t foreign;
  ASSERT_TRUE(bson_init_static(&foreign, reinterpret_cast<const uint8_t*>(document.bytes().data()),
                               document.bytes().size()));
  EXPECT_TRUE(bson_validate(&foreign, BSON_VALIDATE_NONE, nullptr));
}

TEST(BuilderTest, CopyingFieldByFieldGivesTheSameBytes) {
  base::Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Document document = RandomDocument(random, 3);
    Builder copy;
    for (const Element& element : document.view()) copy.Append(element.key, element.value);
    EXPECT_EQ(copy.Finish().bytes(), document.bytes());
    EXPECT_EQ(Builder(document.view()).Finish().bytes(), document.bytes());
    Builder fields;
    fields.AppendFields(document);
    EXPECT_EQ(fields.Finish().bytes(), document.bytes());
  }
}

TEST(BuilderTest, SizeIsTheOneAfterFinish) {
  Builder b;
  b.Append("a", 1).OpenDocument("b").OpenArray("c").Append("0", "x");
  const size_t size = b.SizeBytes();
  const Document document = b.Finish();
  EXPECT_EQ(document.SizeBytes(), size);
  EXPECT_TRUE(Validate(document.bytes()).ok());
}

TEST(BuilderTest, IsReusableAfterFinish) {
  Builder b;
  b.OpenDocument("open").Append("a", 1);
  b.Finish();
  EXPECT_EQ(b.Append("b", 2).Finish().bytes(), Builder().Append("b", 2).Finish().bytes());
}

TEST(BuilderTest, MissingAppendsNothing) {
  EXPECT_TRUE(Builder().Append("a", Value()).Finish().empty());
  EXPECT_TRUE(Builder().Append("a", OwnedValue()).Finish().empty());
}

TEST(BuilderTest, ExtendsABase) {
  const Document base = Json(R"({"a": 1})");
  EXPECT_EQ(Builder(base).Append("b", 2).Finish().bytes(), Json(R"({"a": 1, "b": 2})").bytes());
}

TEST(BuilderTest, NamesEndAtTheirFirstZero) {
  Builder b;
  b.Append(std::string_view("ab\0cd", 5), 1);
  b.AppendRegex("r", std::string_view("x\0y", 3), std::string_view("i\0", 2));
  const Document document = b.Finish();
  EXPECT_TRUE(Validate(document.bytes()).ok());
  EXPECT_EQ(document["ab"].AsInt32(), 1);
  EXPECT_EQ(document["r"].AsRegex().pattern, "x");
}

TEST(BuilderDeathTest, MoreClosesThanOpens) {
  EXPECT_DEATH(Builder().Close().Close(), "check failed");
  EXPECT_DEATH(Builder().AppendObjectId("id", "short"), "check failed");
}

TEST(ArrayAppenderTest, NumbersTheElements) {
  Builder b;
  b.OpenArray("a");
  ArrayAppender array(b);
  for (int i = 0; i < 12; ++i) array.Add(i);
  b.AppendNull(array.NextKey());
  EXPECT_EQ(array.count(), 13u);
  const Document document = b.Finish();
  int expected = 0;
  for (const Element& element : document["a"].AsDocument()) {
    EXPECT_EQ(element.key, std::to_string(expected++));
  }
  EXPECT_EQ(expected, 13);
}

TEST(NewObjectIdTest, IsUniqueAndStartsWithTheTime) {
  constexpr int kCount = 2000;
  std::set<std::string> ids;
  std::set<std::string> other_ids;
  {
    base::Thread other("ids", [&other_ids] {
      for (int i = 0; i < kCount; ++i) other_ids.insert(NewObjectId());
    });
    for (int i = 0; i < kCount; ++i) ids.insert(NewObjectId());
  }
  ids.merge(other_ids);
  EXPECT_EQ(ids.size(), size_t{2 * kCount});
  const std::string& id = *ids.begin();
  ASSERT_EQ(id.size(), 12u);
  bson_oid_t oid;
  bson_oid_init_from_data(&oid, reinterpret_cast<const uint8_t*>(id.data()));
  EXPECT_NEAR(static_cast<double>(bson_oid_get_time_t(&oid)), static_cast<double>(time(nullptr)),
              5);
  for (const std::string& each : ids) EXPECT_EQ(each.substr(4, 5), id.substr(4, 5));
}

}  // namespace
}  // namespace evenkeel::bson
