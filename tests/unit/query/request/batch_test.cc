// Batches of write commands.
#include "query/request/batch.h"

#include "base/limits.h"
#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

TEST(Batch, HasABound) {
  const bson::Document command = Json(R"({"insert": "c"})");
  std::vector<bson::View> sequence(limits::kWriteBatchCountMax, command.view());
  EXPECT_TRUE(ReadBatch(command, "insert", "documents", &sequence).ok());
  sequence.push_back(command.view());
  EXPECT_EQ(CodeOf(ReadBatch(command, "insert", "documents", &sequence).status()),
            ErrorCode::kInvalidLength);
}

TEST(Batch, ComesFromTheFieldOtherwise) {
  const bson::Document command = Json(R"({"insert": "c", "documents": [{"a": 1}, {"b": 1}]})");
  EXPECT_EQ(ReadBatch(command, "insert", "documents", nullptr)->size(), 2u);
}

}  // namespace
}  // namespace evenkeel::query
