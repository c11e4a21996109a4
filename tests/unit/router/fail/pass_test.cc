// What failCommand does to commands: codes, labels, closed connections, write concern errors.
#include "tests/unit/router/harness_await.h"
#include "wire/protocol/message.h"

namespace evenkeel::router::fail {
namespace {

class PassTest : public AwaitTest {
 protected:
  PassTest() : AwaitTest(3, /*test_commands=*/true) {
    AddUnsharded("db.c", ShardId{1});
    shard(1).On("insert", R"({"n": 1})");
    shard(1).On("find", [](bson::View) { return CursorReply("[]"); });
  }

  void Fail(const std::string& data, const std::string& mode = "\"alwaysOn\"") {
    const bson::Document reply = Run(R"({"configureFailPoint": "failCommand", "mode": )" + mode +
                                     R"(, "data": )" + data + R"(, "$db": "admin"})");
    ASSERT_EQ(CodeOfReply(reply), 0);
  }
  bson::Document Insert() {
    return Run(R"({"insert": "c", "documents": [{"_id": 1}], )" + std::string(kRetryable) + "}");
  }
  static std::string LabelsIn(const bson::Document& reply) {
    std::string labels;
    const bson::Value array = reply["errorLabels"];
    if (array.missing()) return labels;
    for (const bson::Element& label : array.AsDocument()) {
      labels.append(label.value.AsString()).append(" ");
    }
    return labels;
  }
};

TEST_F(PassTest, CodesAndLabels) {
  struct Case {
    std::string data;
    int code;
    std::string labels;
  };
  const std::string insert = R"({"failCommands": ["insert"], )";
  const Case cases[] = {
      {insert + R"("errorCode": 91})", 91, "RetryableWriteError NoWritesPerformed "},
      {insert + R"("errorCode": 189})", 189, "RetryableWriteError NoWritesPerformed "},
      {insert + R"("errorCode": 11600})", 11600, "RetryableWriteError NoWritesPerformed "},
      {insert + R"("errorCode": 8})", 8, ""},
      {insert + R"("errorCode": 91, "errorLabels": []})", 91, ""},
      {insert + R"("errorCode": 8, "errorLabels": ["RetryableWriteError"]})", 8,
       "RetryableWriteError "},
      {insert + R"("errorLabels": ["RetryableWriteError"]})", 0, ""},
  };
  for (const Case& c : cases) {
    Fail(c.data);
    const bson::Document reply = Insert();
    EXPECT_EQ(CodeOfReply(reply), c.code) << c.data;
    EXPECT_EQ(LabelsIn(reply), c.labels) << c.data;
  }
  EXPECT_EQ(shard(1).RequestsOf("insert").size(), 1u) << "what fails is not carried out";
}

TEST_F(PassTest, WritesThatAreNotRetryableHaveNoLabels) {
  Fail(R"({"failCommands": ["insert"], "errorCode": 91})");
  const bson::Document reply = Run(R"({"insert": "c", "documents": [{"_id": 1}]})");
  EXPECT_EQ(CodeOfReply(reply), 91);
  EXPECT_EQ(LabelsIn(reply), "");
}

TEST_F(PassTest, WriteConcernErrorsComeAfterTheWrite) {
  struct Case {
    std::string data, labels;
  };
  const std::string error =
      R"({"failCommands": ["insert", "find"], "writeConcernError": {"code": 91, "errmsg": "x"})";
  const Case cases[] = {
      {error + "}", "RetryableWriteError "},
      {error + R"(, "errorLabels": []})", ""},
      {error + R"(, "errorLabels": ["A"]})", "A "},
  };
  for (const Case& c : cases) {
    ForgetRequests();
    Fail(c.data);
    const bson::Document reply = Insert();
    EXPECT_EQ(reply["ok"].AsDouble(), 1.0);
    EXPECT_EQ(reply["n"].AsInt32(), 1);
    EXPECT_EQ(bson::ToJson(reply["writeConcernError"].AsDocument()),
              bson::ToJson(Json(R"({"code": 91, "errmsg": "x"})")));
    EXPECT_EQ(LabelsIn(reply), c.labels) << c.data;
    EXPECT_EQ(shard(1).RequestsOf("insert").size(), 1u);
    EXPECT_FALSE(Run(R"({"find": "c"})").view().Contains("writeConcernError"))
        << "a find takes no write concern";
  }
}

TEST_F(PassTest, ABlockEndsAtTheTimeLimit) {
  Fail(R"({"failCommands": ["find"], "blockConnection": true, "blockTimeMS": 60000})");
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "c", "maxTimeMS": 1})")), 50);
  const auto find = Begin(R"({"find": "c"})");
  Poll();
  EXPECT_FALSE(find->done);
  Disconnect();
  Finish(*find);
  EXPECT_EQ(CodeOfReply(find->reply), 11601);
}

TEST_F(PassTest, ABlockedCommandGoesOn) {
  Fail(R"({"failCommands": ["find"], "blockConnection": true, "blockTimeMS": 1})");
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "c"})")), 0);
  Fail(R"({"failCommands": ["find"], "blockConnection": true, "blockTimeMS": 1, "errorCode": 7})");
  EXPECT_EQ(CodeOfReply(Run(R"({"find": "c"})")), 7);
}

TEST_F(PassTest, GetMoreAfterItsCursorWasTaken) {
  shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])", 77); });
  shard(1).On("killCursors", "{}");
  Run(R"({"configureFailPoint": "failGetMoreAfterCursorCheckout", "mode": {"times": 1},
          "data": {"errorCode": 280}, "$db": "admin"})");
  const bson::Document first = Run(R"({"find": "c"})");
  const int64_t id = first["cursor"].AsDocument()["id"].AsInt64();
  const std::string get_more =
      R"({"getMore": {"$numberLong": ")" + std::to_string(id) + R"("}, "collection": "c"})";
  EXPECT_EQ(CodeOfReply(Run(get_more)), 280);
  EXPECT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
  EXPECT_EQ(OpenCursors(), 0u);
}

}  // namespace
}  // namespace evenkeel::router::fail
