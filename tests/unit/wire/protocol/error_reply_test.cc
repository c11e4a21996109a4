// Tests of reply documents and of statuses read back from them.
#include "wire/protocol/error_reply.h"

#include <gtest/gtest.h>

#include "tests/unit/wire/protocol/bytes.h"

namespace evenkeel::wire {
namespace {

constexpr ReplyContext kTimes{.cluster_time = Timestamp::FromParts(7, 8),
                              .operation_time = Timestamp::FromParts(5, 6)};

TEST(SuccessReply, AppendsOkAndTimes) {
  const bson::Document body = Json(R"({"n": 1})");
  for (const bson::Document& reply :
       {SuccessReply(body.view(), kTimes), SuccessReply(bson::Document(body), kTimes)}) {
    EXPECT_EQ(bson::ToCanonicalJson(reply), bson::ToCanonicalJson(Json(
                                                R"({"n": 1, "ok": {"$numberDouble": "1.0"},
                      "$clusterTime": {"clusterTime": {"$timestamp": {"t": 7, "i": 8}},
                          "signature": {
                            "hash": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                                                 "subType": "00"}},
                                        "keyId": {"$numberLong": "0"}}},
                      "operationTime": {"$timestamp": {"t": 5, "i": 6}}})")));
  }
}

TEST(SuccessReply, LeavesOutTimesThatAreZero) {
  EXPECT_EQ(bson::ToJson(SuccessReply(bson::View(), {})),
            bson::ToJson(Json(R"({"ok": {"$numberDouble": "1.0"}})")));
  const bson::Document reply =
      SuccessReply(bson::View(), {.operation_time = Timestamp::FromParts(1, 1)});
  EXPECT_FALSE(reply.view().Contains("$clusterTime"));
  EXPECT_TRUE(reply.view().Contains("operationTime"));
}

TEST(ErrorReply, HasCodeNameAndMessage) {
  const bson::Document reply = ErrorReply(MakeError(ErrorCode::kBadValue, "no such thing"), kTimes);
  EXPECT_EQ(reply["ok"].AsDouble(), 0.0);
  EXPECT_EQ(reply["code"].AsInt32(), 2);
  EXPECT_EQ(reply["codeName"].AsString(), "BadValue");
  EXPECT_EQ(reply["errmsg"].AsString(), "no such thing");
  EXPECT_FALSE(reply.view().Contains("errorLabels"));
  EXPECT_EQ(reply["operationTime"].AsTimestamp(), kTimes.operation_time);
  EXPECT_EQ(ErrorReply(MakeError(Location(40415), "x"), {})["codeName"].AsString(),
            "Location40415");
}

TEST(ErrorReply, InternalCodesStayInside) {
  const absl::Status stale = MakeError(ErrorCode::kStaleConfig, "stale");
  EXPECT_EQ(ErrorReply(stale, {})["code"].AsInt32(), 1);
  EXPECT_EQ(ErrorReply(stale, {.to_peer = true})["code"].AsInt32(), 13388);
}

std::vector<std::string> Labels(ErrorCode code, const ReplyContext& context) {
  std::vector<std::string> labels;
  const bson::Document reply = ErrorReply(MakeError(code, "x"), context);
  const bson::Value array = reply["errorLabels"];
  if (array.missing()) return labels;
  for (const bson::Element& label : array.AsDocument()) labels.emplace_back(label.value.AsString());
  return labels;
}

TEST(ErrorReply, Labels) {
  using List = std::vector<std::string>;
  const ReplyContext plain;
  const ReplyContext retryable{.retryable_write = true};
  const ReplyContext nothing{.retryable_write = true, .no_writes_performed = true};
  const ReplyContext txn{.in_transaction = true};
  const ReplyContext commit{.in_transaction = true, .ends_transaction = true};
  const struct {
    ErrorCode code;
    const ReplyContext& context;
    List labels;
  } cases[] = {
      {ErrorCode::kShutdownInProgress, plain, {}},
      {ErrorCode::kShutdownInProgress, retryable, {"RetryableWriteError"}},
      {ErrorCode::kShutdownInProgress, nothing, {"RetryableWriteError", "NoWritesPerformed"}},
      {ErrorCode::kShutdownInProgress, txn, {"TransientTransactionError"}},
      {ErrorCode::kShutdownInProgress, commit, {"RetryableWriteError"}},
      {ErrorCode::kWriteConflict, plain, {}},
      {ErrorCode::kWriteConflict, retryable, {}},
      {ErrorCode::kWriteConflict, txn, {"TransientTransactionError"}},
      {ErrorCode::kNoSuchTransaction, commit, {"TransientTransactionError"}},
      {ErrorCode::kDuplicateKey, retryable, {}},
      {ErrorCode::kDuplicateKey, txn, {}},
      {ErrorCode::kDuplicateKey, nothing, {}},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Labels(test.code, test.context), test.labels) << CodeName(test.code);
  }
}

TEST(ErrorReply, OwnLabelsTakeTheirPlace) {
  const ReplyContext retryable{.retryable_write = true};
  const absl::Status error = MakeError(ErrorCode::kShutdownInProgress, "x");
  const bson::Document own = ErrorReply(WithLabels(error, {"A", "B"}), retryable);
  EXPECT_EQ(bson::ToJson(Json(R"({"errorLabels": ["A", "B"]})")["errorLabels"].AsDocument()),
            bson::ToJson(own["errorLabels"].AsDocument()));
  EXPECT_FALSE(ErrorReply(WithLabels(error, {}), retryable).view().Contains("errorLabels"));
}

TEST(ReplyContextOf, ReadsTheRequest) {
  const std::string session =
      R"("txnNumber": {"$numberLong": "1"},
         "lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}})";
  const auto context = [&](const std::string& json) {
    return ReplyContextOf(*ParseRequest(MakeMessage(Json(json)), absl::UnixEpoch()));
  };
  EXPECT_FALSE(context(R"({"insert": "c", "$db": "d"})").retryable_write);
  EXPECT_TRUE(context(R"({"insert": "c", "$db": "d", )" + session + "}").retryable_write);
  const ReplyContext txn =
      context(R"({"insert": "c", "$db": "d", "autocommit": false, )" + session + "}");
  EXPECT_FALSE(txn.retryable_write);
  EXPECT_TRUE(txn.in_transaction);
  EXPECT_FALSE(txn.ends_transaction);
  EXPECT_TRUE(
      context(R"({"commitTransaction": 1, "$db": "admin", "autocommit": false, )" + session + "}")
          .ends_transaction);
}

TEST(DuplicateKeyError, CarriesItsDetails) {
  const absl::Status status =
      DuplicateKeyError("d.c", "a_1", Json(R"({"a": 1})"), Json(R"({"a": "x"})"));
  EXPECT_EQ(CodeOf(status), ErrorCode::kDuplicateKey);
  EXPECT_EQ(MessageOf(status),
            R"(E11000 duplicate key error collection: d.c index: a_1 dup key: { a: "x" })");
  const bson::Document reply = ErrorReply(status, {});
  EXPECT_EQ(bson::ToJson(reply["keyPattern"].AsDocument()), bson::ToJson(Json(R"({"a": 1})")));

  bson::Builder builder;
  builder.OpenArray("writeErrors");
  AppendWriteError(builder, "0", 3, status);
  const bson::Document errors = builder.Close().Finish();
  const bson::View error = errors["writeErrors"].AsDocument().Front().value.AsDocument();
  EXPECT_EQ(error["index"].AsInt32(), 3);
  EXPECT_EQ(error["code"].AsInt32(), 11000);
  EXPECT_EQ(bson::ToJson(error["keyValue"].AsDocument()), bson::ToJson(Json(R"({"a": "x"})")));
  EXPECT_EQ(error["errmsg"].AsString(), MessageOf(status));
}

TEST(StatusOfReply, ReadsBack) {
  EXPECT_TRUE(StatusOfReply(Json(R"({"ok": 1})")).ok());
  EXPECT_TRUE(StatusOfReply(Json(R"({"n": 1})")).ok());
  const absl::Status sent =
      DuplicateKeyError("d.c", "a_1", Json(R"({"a": 1})"), Json(R"({"a": 2})"));
  const absl::Status read = StatusOfReply(ErrorReply(sent, {}));
  EXPECT_EQ(CodeOf(read), CodeOf(sent));
  EXPECT_EQ(MessageOf(read), MessageOf(sent));
  ASSERT_TRUE(DetailsOf(read).has_value());
  EXPECT_EQ(bson::ToJson(*DetailsOf(read)), bson::ToJson(*DetailsOf(sent)));
  EXPECT_EQ(CodeOf(StatusOfReply(Json(R"({"ok": 0})"))), ErrorCode::kUnknownError);
  EXPECT_EQ(CodeOf(StatusOfReply(Json(R"({"ok": false, "code": {"$numberDouble": "43.0"}})"))),
            ErrorCode::kCursorNotFound);
  EXPECT_FALSE(DetailsOf(StatusOfReply(Json(R"({"ok": 0})"))).has_value());
}

}  // namespace
}  // namespace evenkeel::wire
