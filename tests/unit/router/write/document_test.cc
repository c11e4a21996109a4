// Documents completed and checked before they are stored.
#include "router/write/document.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/status.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router::write {
namespace {

class DocumentTest : public testing::Test {
 protected:
  absl::StatusOr<std::optional<bson::Document>> Prepare(bson::View document) {
    return PrepareDocument(document, clock_);
  }
  base::FakeWallClock wall_{absl::FromUnixSeconds(5000)};
  base::HybridClock clock_{&wall_, absl::Seconds(10)};
};

TEST_F(DocumentTest, ADocumentWithItsIdFirstStaysAsItIs) {
  const auto made = Prepare(Json(R"({"_id": 1, "a": 2})"));
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(*made);
}

TEST_F(DocumentTest, TheIdIsPutFirst) {
  EXPECT_EQ(bson::ToJson(**Prepare(Json(R"({"a": 2, "_id": 1, "b": 3})"))),
            R"({"_id":1,"a":2,"b":3})");
}

TEST_F(DocumentTest, AMissingIdIsMade) {
  const auto made = Prepare(Json(R"({"a": 2})"));
  ASSERT_TRUE(made.ok() && *made);
  EXPECT_EQ((*made)->view().Front().key, "_id");
  EXPECT_TRUE((*made)->view().Front().value.Is(bson::Type::kObjectId));
  EXPECT_EQ((**made)["a"].AsInt32(), 2);
}

TEST_F(DocumentTest, AnEmptyTimestampAtTheTopGetsTheTime) {
  const auto made = Prepare(
      Json(R"({"_id": 1, "t": {"$timestamp": {"t": 0, "i": 0}}, "n": {"t": {"$timestamp": {"t": 0,)"
           R"( "i": 0}}}})"));
  ASSERT_TRUE(made.ok() && *made);
  EXPECT_EQ((**made)["t"].AsTimestamp().seconds(), 5000u);
  EXPECT_EQ((**made)["n"].AsDocument()["t"].AsTimestamp().bits, 0u);
}

struct Case {
  std::string_view document;
  ErrorCode code;
};

TEST_F(DocumentTest, BadIds) {
  const Case cases[] = {
      {R"({"_id": [1]})", ErrorCode::kInvalidIdField},
      {R"({"_id": {"$regularExpression": {"pattern": "a", "options": ""}}})",
       ErrorCode::kInvalidIdField},
      {R"({"_id": {"$undefined": true}})", ErrorCode::kInvalidIdField},
      {R"({"_id": {"a": 1, "$b": 2}})", ErrorCode::kDollarPrefixedFieldName},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeOf(Prepare(Json(c.document)).status()), c.code) << c.document;
  }
}

TEST_F(DocumentTest, SizeAndDepthAreBounded) {
  bson::Builder large;
  large.Append("_id", 1).AppendBinary("b", 0, std::string(limits::kDocumentBytesMax, 'x'));
  EXPECT_EQ(CodeOf(Prepare(large.Finish()).status()), ErrorCode::kBSONObjectTooLarge);
  bson::Builder deep;
  deep.Append("_id", 1);
  for (int i = 0; i < limits::kBsonDepthMax + 1; ++i) deep.OpenDocument("d");
  EXPECT_EQ(CodeOf(Prepare(deep.Finish()).status()), ErrorCode::kOverflow);
}

}  // namespace
}  // namespace evenkeel::router::write
