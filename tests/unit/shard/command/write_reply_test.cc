// Tests of the replies of write commands.
#include "shard/command/write_reply.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bson/json.h"
#include "base/status.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

bson::OwnedValue Value(const std::string& json) {
  return bson::OwnedValue((*bson::FromJson("{\"v\": " + json + "}"))["v"]);
}

TEST(WriteReply, CountsUpsertsAndErrors) {
  WriteReply reply;
  EXPECT_EQ(bson::ToJson(reply.ToBson(true)), R"({"n":0,"nModified":0})");
  EXPECT_EQ(bson::ToJson(reply.ToBson(false)), R"({"n":0})");
  reply.AddMatched(3, 2);
  reply.AddUpserted(4, Value(R"({"x": 1})"));
  reply.AddError(5, MakeError(ErrorCode::kBadValue, "no"));
  reply.SetMissed();
  EXPECT_EQ(bson::ToJson(reply.ToBson(true)),
            R"({"n":4,"nModified":2,"upserted":[{"index":4,"_id":{"x":1}}],)"
            R"("writeErrors":[{"index":5,"code":2,"errmsg":"no"}],"missed":true})");
}

TEST(WriteReply, CountsMayPassThirtyTwoBits) {
  WriteReply reply;
  reply.AddMatched(INT32_MAX, 5);
  EXPECT_TRUE(reply.ToBson(true)["n"].Is(bson::Type::kInt32));
  reply.AddMatched(1, 0);
  EXPECT_EQ(reply.ToBson(true)["n"].AsInt64(), int64_t{INT32_MAX} + 1);
}

// The receiver is a router: what only it may see is not hidden from it.
TEST(WriteErrors, KeepInternalCodesAndDetails) {
  bson::Builder reply;
  AppendWriteErrors(reply,
                    {{1, MakeError(ErrorCode::kStaleConfig, "old")},
                     {2, wire::DuplicateKeyError("db.c", "a_1", *bson::FromJson(R"({"a": 1})"),
                                                 *bson::FromJson(R"({"a": 5})"))}});
  EXPECT_EQ(bson::ToJson(reply.Finish()),
            R"({"writeErrors":[{"index":1,"code":13388,"errmsg":"old"},)"
            R"({"index":2,"code":11000,"keyPattern":{"a":1},"keyValue":{"a":5},"errmsg":)"
            R"("E11000 duplicate key error collection: db.c index: a_1 dup key: { a: 5 }"}]})");
  AppendWriteErrors(reply, {});
  EXPECT_EQ(bson::ToJson(reply.Finish()), "{}");
}

TEST(WriteErrors, LeaveMessagesOutPastTheBound) {
  WriteErrors errors;
  const std::string text(1'000'000, 'x');
  for (size_t i = 0; i < 50; ++i) {
    errors.emplace_back(i, MakeError(ErrorCode::kBadValue, text));
  }
  bson::Builder builder;
  AppendWriteErrors(builder, errors);
  const bson::Document reply = builder.Finish();
  EXPECT_LT(reply.SizeBytes(), kWriteErrorBytesMax + 10'000);
  size_t at = 0, with_message = 0;
  for (const auto& [key, value] : reply["writeErrors"].AsDocument()) {
    EXPECT_EQ(value.AsDocument()["index"].AsInt32(), static_cast<int32_t>(at++));
    EXPECT_EQ(value.AsDocument()["code"].AsInt32(), 2);
    with_message += value.AsDocument()["errmsg"].AsString().empty() ? 0 : 1;
  }
  EXPECT_EQ(at, 50u);
  EXPECT_EQ(with_message, 8u);
}

}  // namespace
}  // namespace evenkeel::shard
