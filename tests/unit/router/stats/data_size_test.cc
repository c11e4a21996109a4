// dataSize.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class DataSizeTest : public RouterTest {
 protected:
  DataSizeTest() {
    AddSharded("db.s", R"({"k": "hashed"})");
    AddView("db.v", "s", "[]");
    for (uint32_t i = 0; i < 3; ++i) shard(i).On("_collStats", R"({"count": 10, "size": 100})");
  }
};

TEST_F(DataSizeTest, WholeCollections) {
  EXPECT_EQ(Fields(Run(R"({"dataSize": "db.s"})")),
            R"({"estimate":false,"size":300,"numObjects":30,"millis":0})");
  EXPECT_EQ(Run(R"({"dataSize": "db.absent"})")["numObjects"].AsInt64(), 0);
}

TEST_F(DataSizeTest, RangesAreCountedByAPipeline) {
  (void)Run(R"({"dataSize": "db.s", "keyPattern": {"a": 1}, "min": {"a": 1}, "max": {"a": 5}})");
  EXPECT_EQ(CountsOf("aggregate"), (std::vector<size_t>{1, 1, 1}));
}

TEST_F(DataSizeTest, BadRequests) {
  const std::pair<std::string_view, int> cases[] = {
      {R"({"dataSize": 1})", 14},
      {R"({"dataSize": null})", 40414},
      {R"({"dataSize": "nodot"})", 73},
      {R"({"dataSize": "db.v"})", 166},
      {R"({"dataSize": "db.s", "unknown": 1})", 40415},
      {R"({"dataSize": "db.s", "keyPattern": 1})", 14},
      {R"({"dataSize": "db.s", "keyPattern": {"a": 1}, "min": {"a": 1}})", 2},
      {R"({"dataSize": "db.s", "min": {"a": 1}, "max": {"a": 2}})", 96},
  };
  for (const auto& [command, code] : cases) EXPECT_EQ(CodeOfReply(Run(command)), code) << command;
}

}  // namespace
}  // namespace evenkeel::router
