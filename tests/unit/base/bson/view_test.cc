// Tests of BSON views: accessors, sizes, iteration, look-up.
#include "base/bson/view.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

TEST(ViewTest, EmptyDocument) {
  const View view;
  EXPECT_TRUE(view.empty());
  EXPECT_EQ(view.SizeBytes(), 5u);
  EXPECT_EQ(view.begin(), view.end());
  EXPECT_EQ(view.CountFields(), 0u);
  EXPECT_TRUE(view.Front().value.missing());
  EXPECT_TRUE(view["a"].missing());
}

TEST(ViewTest, ReadsEveryType) {
  const Document document = EveryType();
  const View view = document.view();
  EXPECT_EQ(view["double"].AsDouble(), 1.5);
  EXPECT_EQ(view["string"].AsString(), "text");
  EXPECT_EQ(view["zero"].AsString(), std::string_view("a\0b", 3));
  EXPECT_EQ(view["object"].AsDocument()["b"].AsDocument()["c"].AsBool(), true);
  EXPECT_EQ(view["array"].AsDocument()["1"].AsString(), "x");
  EXPECT_EQ(view["binary"].AsBinary().bytes, "\x01\x02\x03");
  EXPECT_EQ(view["old"].AsBinary().bytes, "old");
  EXPECT_EQ(view["old"].AsBinary().subtype, 2);
  EXPECT_EQ(view["none"].AsBinary().bytes, "");
  EXPECT_EQ(view["id"].AsObjectId(), kSampleId);
  EXPECT_TRUE(view["true"].AsBool());
  EXPECT_FALSE(view["false"].AsBool());
  EXPECT_EQ(view["date"].AsDateMillis(), 1360707177211);
  EXPECT_EQ(view["regex"].AsRegex().pattern, "^a/\"b");
  EXPECT_EQ(view["regex"].AsRegex().options, "im");
  EXPECT_EQ(view["pointer"].AsDbPointerNamespace(), "db.c");
  EXPECT_EQ(view["pointer"].AsDbPointerId(), kSampleId);
  EXPECT_EQ(view["code"].AsString(), "f()");
  EXPECT_EQ(view["symbol"].AsString(), "sym");
  EXPECT_EQ(view["scoped"].AsCodeWithScopeCode(), "g()");
  EXPECT_EQ(view["scoped"].AsCodeWithScopeScope()["x"].AsInt32(), 1);
  EXPECT_EQ(view["int32"].AsInt32(), -7);
  EXPECT_EQ(view["timestamp"].AsTimestamp(), Timestamp::FromParts(5, 6));
  EXPECT_EQ(view["int64"].AsInt64(), int64_t{1} << 40);
  EXPECT_EQ(DecimalToString(view["decimal"].AsDecimal128()), "-1.50E+3");
  for (const char* key : {"undefined", "null", "min", "max"}) EXPECT_EQ(view[key].SizeBytes(), 0u);
}

TEST(ViewTest, SizesAddUpToTheDocument) {
  const Document document = EveryType();
  size_t total = 5;
  std::set<Type> types;
  for (const Element& element : document.view()) {
    total += 1 + element.key.size() + 1 + element.value.SizeBytes();
    types.insert(element.value.type());
  }
  EXPECT_EQ(total, document.SizeBytes());
  EXPECT_EQ(types.size(), 21u) << "every type but the end";
}

TEST(ViewTest, LookUpNeedsTheWholeName) {
  const Document document = Json(R"({"ab": 1, "a": 2, "abc": 3, "a": 4, "": 5})");
  const View view = document.view();
  EXPECT_EQ(view["a"].AsInt32(), 2) << "the first of two";
  EXPECT_EQ(view["abc"].AsInt32(), 3);
  EXPECT_EQ(view[""].AsInt32(), 5);
  EXPECT_TRUE(view["abcd"].missing());
  EXPECT_TRUE(view[std::string_view("a\0", 2)].missing());
  EXPECT_TRUE(view.Contains("ab"));
  EXPECT_FALSE(view.Contains("b"));
  EXPECT_EQ(view.CountFields(), 5u);
  EXPECT_EQ(view.Front().key, "ab");
}

TEST(ValueTest, Predicates) {
  EXPECT_TRUE(Value().missing());
  EXPECT_TRUE(Value().IsNullish());
  EXPECT_TRUE(Value(Type::kNull, nullptr).IsNullish());
  EXPECT_TRUE(Value(Type::kUndefined, nullptr).IsNullish());
  EXPECT_FALSE(Int(0).value().IsNullish());
  EXPECT_TRUE(Dec("1").value().IsNumber());
  EXPECT_FALSE(Text("1").value().IsNumber());
  EXPECT_EQ(Value().SizeBytes(), 0u);
}

TEST(OwnedValueTest, KeepsItsOwnBytes) {
  OwnedValue kept;
  EXPECT_TRUE(kept.value().missing());
  {
    const Document document = Json(R"({"a": {"b": "text that does not fit into a small string"}})");
    kept = OwnedValue(document["a"]);
  }
  EXPECT_EQ(kept.value().AsDocument()["b"].AsString(),
            "text that does not fit into a small string");
}

TEST(DocumentTest, CopiesAndHandsOver) {
  const Document source = EveryType();
  Document copy(source.view());
  EXPECT_EQ(copy.bytes(), source.bytes());
  EXPECT_EQ(std::move(copy).TakeBytes(), source.bytes());
  EXPECT_TRUE(Document().empty());
}

}  // namespace
}  // namespace evenkeel::bson
