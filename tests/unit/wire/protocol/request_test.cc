// Tests of generic arguments and of the rules that hold for every command.
#include "wire/protocol/request.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/status.h"
#include "tests/unit/wire/protocol/bytes.h"
#include "wire/protocol/commands.h"

namespace evenkeel::wire {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'000'000);
constexpr char kSession[] =
    R"({"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}})";

absl::StatusOr<Request> Parse(const std::string& json) {
  return ParseRequest(MakeMessage(Json(json)), kNow);
}

// The code of parsing `fields` behind a command, and then of checking it.
int Code(const std::string& command, const std::string& fields, bool from_peer = false) {
  const std::string rest = fields.empty() ? "" : ", " + fields;
  const auto request = Parse("{\"" + command + "\": \"c\", \"$db\": \"d\"" + rest + "}");
  if (!request.ok()) return static_cast<int>(CodeOf(request.status()));
  return static_cast<int>(CodeOf(CheckAllowed(*request, from_peer)));
}

std::string Replace(std::string text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

TEST(ParseRequest, ReadsATypicalFind) {
  const auto request = Parse(Replace(
      R"({"find": "c", "filter": {"lsid": 1}, "limit": 1, "lsid": SESSION, "$db": "shop",
          "$clusterTime": {"clusterTime": {"$timestamp": {"t": 5, "i": 6}}, "signature": {}},
          "maxTimeMS": 250, "comment": [1], "readConcern": {"level": "majority",
              "afterClusterTime": {"$timestamp": {"t": 3, "i": 4}}},
          "$readPreference": {"mode": "secondaryPreferred", "tags": [{"dc": "x"}]}})",
      "SESSION", kSession));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->name, "find");
  EXPECT_EQ(request->argument.AsString(), "c");
  EXPECT_EQ(request->database, "shop");
  EXPECT_EQ(request->facts, FindCommand("find"));
  EXPECT_EQ(request->deadline, kNow + absl::Milliseconds(250));
  const GenericArguments& generic = request->generic;
  EXPECT_EQ(generic.lsid_bytes.size(), 16u);
  EXPECT_EQ(generic.lsid_bytes[15], '\x0f');
  EXPECT_EQ(generic.cluster_time, Timestamp::FromParts(5, 6));
  EXPECT_EQ(generic.read_concern.level, ReadConcernLevel::kMajority);
  EXPECT_EQ(generic.read_concern.after_cluster_time, Timestamp::FromParts(3, 4));
  EXPECT_EQ(generic.read_preference["mode"].AsString(), "secondaryPreferred");
  EXPECT_TRUE(generic.comment.Is(bson::Type::kArray));
  EXPECT_FALSE(request->in_transaction());
  EXPECT_TRUE(CheckAllowed(*request).ok());
}

TEST(ParseRequest, ReadsARetryableInsert) {
  const auto request = Parse(Replace(
      R"({"insert": "c", "$db": "d", "lsid": SESSION, "txnNumber": {"$numberLong": "7"},
          "writeConcern": {"w": 0, "j": true, "wtimeout": 5}, "apiVersion": "1",
          "apiStrict": true, "apiDeprecationErrors": true})",
      "SESSION", kSession));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->generic.txn_number, TxnNumber{7});
  EXPECT_TRUE(request->generic.write_concern.given);
  EXPECT_FALSE(request->generic.write_concern.acknowledged);
  EXPECT_TRUE(request->generic.write_concern.journal);
  EXPECT_EQ(request->generic.write_concern.wtimeout_ms, 5);
  EXPECT_EQ(request->generic.api_version, "1");
  EXPECT_TRUE(request->generic.api_strict);
  EXPECT_TRUE(request->generic.api_deprecation_errors);
  EXPECT_EQ(request->deadline, absl::InfiniteFuture());
  EXPECT_TRUE(CheckAllowed(*request).ok());
}

TEST(ParseRequest, GetMoreHasNoDeadline) {
  const auto request =
      Parse(R"({"getMore": {"$numberLong": "1"}, "collection": "c", "$db": "d", "maxTimeMS": 9})");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->generic.max_time, absl::Milliseconds(9));
  EXPECT_EQ(request->deadline, absl::InfiniteFuture());
}

TEST(ParseRequest, DatabaseNames) {
  const struct {
    const char* db;
    int code;
  } cases[] = {
      {R"("d")", 0},         {R"("$external")", 0},
      {R"("äöü-_")", 0},     {R"("")", 73},
      {R"("a.b")", 73},      {R"("a b")", 73},
      {R"("a$b")", 73},      {R"("a/b")", 73},
      {R"("a\\b")", 73},     {R"("a\"b")", 73},
      {R"("a\u0000b")", 73}, {"1", 14},
      {"null", 14},          {R"({"$symbol": "d"})", 14},
  };
  for (const auto& test : cases) {
    const auto request = Parse(R"({"ping": 1, "$db": )" + std::string(test.db) + "}");
    EXPECT_EQ(static_cast<int>(CodeOf(request.status())), test.code) << test.db;
  }
  EXPECT_TRUE(IsValidDatabaseName(std::string(63, 'x')));
  EXPECT_FALSE(IsValidDatabaseName(std::string(64, 'x')));
  EXPECT_EQ(static_cast<int>(CodeOf(Parse(R"({"ping": 1})").status())), 40571);
  EXPECT_EQ(CodeOf(Parse("{}").status()), ErrorCode::kFailedToParse);
}

TEST(ParseRequest, GenericArgumentsAreChecked) {
  const struct {
    const char* fields;
    int code;
  } cases[] = {
      {R"("lsid": SESSION)", 0},
      {R"("lsid": 1)", 14},
      {R"("lsid": {"id": "x"})", 14},
      {R"("lsid": {})", 40414},
      {R"("lsid": {"uid": {"$binary": {"base64": "AA==", "subType": "00"}}})", 40414},
      {R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "00"}}})",
       14},
      {R"("lsid": {"id": {"$binary": {"base64": "AAEC", "subType": "04"}}})", 14},
      {R"("lsid": SESSION, "lsid": SESSION)", 40413},
      {R"("txnNumber": {"$numberLong": "1"})", 72},
      {R"("lsid": SESSION, "txnNumber": 1)", 14},
      {R"("lsid": SESSION, "txnNumber": {"$numberLong": "-1"})", 72},
      {R"(RETRYABLE)", 0},
      {R"("lsid": SESSION, "autocommit": false)", 72},
      {R"(RETRYABLE, "autocommit": true)", 72},
      {R"(RETRYABLE, "autocommit": 0)", 14},
      {R"(RETRYABLE, "autocommit": false)", 0},
      {R"(RETRYABLE, "startTransaction": true)", 72},
      {R"(RETRYABLE, "autocommit": false, "startTransaction": false)", 72},
      {R"(RETRYABLE, "autocommit": false, "startTransaction": true)", 0},
      {R"("apiVersion": "1")", 0},
      {R"("apiVersion": "2")", 322},
      {R"("apiVersion": "")", 322},
      {R"("apiVersion": 1)", 14},
      {R"("apiStrict": true)", 4886600},
      {R"("apiDeprecationErrors": false)", 4886600},
      {R"("apiVersion": "1", "apiStrict": 1)", 14},
      {R"("comment": {"$minKey": 1})", 0},
      {R"("comment": null)", 0},
      {R"("$clusterTime": 1)", 14},
      {R"("$clusterTime": {})", 4},
      {R"("$clusterTime": {"clusterTime": 1})", 14},
      {R"("$audit": {}, "$client": {}, "$configServerState": 1)", 0},
      {R"("mayBypassWriteBlocking": true, "rawData": false)", 0},
  };
  for (const auto& test : cases) {
    std::string fields =
        Replace(test.fields, "RETRYABLE", R"("lsid": SESSION, "txnNumber": {"$numberLong": "1"})");
    while (fields.find("SESSION") != std::string::npos) {
      fields = Replace(fields, "SESSION", kSession);
    }
    EXPECT_EQ(Code("insert", fields), test.code) << test.fields;
  }
}

TEST(ParseRequest, TheCommandMayBeNamedLikeAnArgument) {
  EXPECT_EQ(Code("comment", R"("lsid": 1)"), 59);
  EXPECT_EQ(Code("lsid", ""), 59);
}

TEST(CheckAllowed, CommandsAndTheirRules) {
  const std::string session =
      std::string(R"("lsid": )") + kSession + R"(, "txnNumber": {"$numberLong": "1"})";
  const std::string transaction = session + R"(, "autocommit": false)";
  const struct {
    const char* command;
    std::string fields;
    int code;
  } cases[] = {
      {"find", "", 0},
      {"noSuchThing", "", 59},
      {"noSuchThing", R"("maxTimeMS": "x", "apiVersion": "9")", 59},
      {"compact", "", 115},
      {"listDatabases", "", 13},
      {"serverStatus", R"("apiVersion": "1", "apiStrict": true)", 323},
      {"find", R"("apiVersion": "1", "apiStrict": true)", 0},
      {"find", R"("writeConcern": {})", 72},
      {"find", R"("writeConcern": null)", 0},
      {"insert", R"("writeConcern": {})", 0},
      {"insert", R"("readConcern": {})", 0},
      {"insert", R"("readConcern": {"level": "local"})", 0},
      {"insert", R"("readConcern": {"level": "majority"})", 72},
      {"find", R"("readConcern": {"level": "snapshot"})", 0},
      {"count", R"("readConcern": {"level": "snapshot"})", 72},
      {"count", R"("readConcern": {"level": "linearizable"})", 0},
      {"ping", R"("readConcern": {"level": "available"})", 72},
      {"find", session, 50768},
      {"update", session, 0},
      {"find", transaction, 0},
      {"count", transaction, 263},
      {"insert", transaction + R"(, "readConcern": {"level": "snapshot"})", 0},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Code(test.command, test.fields), test.code) << test.command << " " << test.fields;
  }
}

TEST(CheckAllowed, WhatNoTransactionDoes) {
  const std::pair<const char*, int> cases[] = {
      {R"("find": "c", "$db": "db")", 0},
      {R"("find": "c", "$db": "config")", 263},
      {R"("insert": "c", "$db": "admin")", 263},
      {R"("distinct": "c", "$db": "local")", 263},
      {R"("insert": "system.x", "$db": "db")", 263},
      {R"("find": "system.x", "$db": "db")", 0},
      {R"("bulkWrite": 1, "$db": "admin")", 0},
      {R"("getMore": {"$numberLong": "1"}, "collection": "$cmd.bulkWrite", "$db": "admin")", 0},
      {R"("hello": 1, "$db": "admin")", 0},
      {R"("explain": {}, "$db": "db")", 263},
      {R"("listIndexes": "c", "$db": "db")", 263},
      {R"("killCursors": "c", "$db": "db")", 0},
      {R"("killCursors": "c", "$db": "db", "startTransaction": true)", 263},
      {R"("commitTransaction": 1, "$db": "admin", "startTransaction": true)", 263},
      {R"("abortTransaction": 1, "$db": "admin", "startTransaction": true)", 263},
      {R"("find": "c", "$db": "db", "startTransaction": true)", 0},
  };
  const std::string lsid =
      R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}})";
  for (const auto& [fields, code] : cases) {
    const auto request = Parse("{" + std::string(fields) + ", " + lsid +
                               R"(, "txnNumber": {"$numberLong": "1"}, "autocommit": false})");
    ASSERT_TRUE(request.ok()) << fields;
    const absl::Status status = CheckAllowed(*request);
    EXPECT_EQ(status.ok() ? 0 : static_cast<int>(CodeOf(status)), code) << fields;
  }
}

TEST(CheckAllowed, AdminCommandsOnAdmin) {
  const auto request = Parse(R"({"listDatabases": 1, "$db": "admin"})");
  EXPECT_TRUE(CheckAllowed(*request).ok());
}

TEST(CheckAllowed, InternalCommandsAreForPeers) {
  for (const CommandFacts& row : AllCommands()) {
    if (!(row.flags & kInternal)) continue;
    EXPECT_EQ(Code(std::string(row.name), ""), 59) << row.name;
    EXPECT_NE(Code(std::string(row.name), "", true), 59) << row.name;
  }
}

TEST(IsGenericArgument, KnowsThem) {
  for (const char* field : {"lsid", "$db", "comment", "$readPreference", "$audit", "rawData",
                            "txnRetryCounter", "help"}) {
    EXPECT_TRUE(IsGenericArgument(field)) << field;
  }
  for (const char* field : {"", "filter", "$foo", "LSID", "lsi", "db", "zzz"}) {
    EXPECT_FALSE(IsGenericArgument(field)) << field;
  }
}

TEST(Documents, FromSequenceOrArray) {
  auto request = Parse(
      R"({"insert": "c", "$db": "d", "documents": [{"a": 1}, {"a": 2}], "bad": [1], "no": {}})");
  ASSERT_TRUE(request.ok());
  const auto documents = request->Documents("documents");
  ASSERT_TRUE(documents.ok());
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[1]["a"].AsInt32(), 2);
  EXPECT_EQ(CodeOf(request->Documents("bad").status()), ErrorCode::kTypeMismatch);
  EXPECT_EQ(MessageOf(request->Documents("bad").status()),
            "BSON field 'insert.bad.0' is the wrong type 'int', expected type 'object'");
  EXPECT_EQ(CodeOf(request->Documents("no").status()), ErrorCode::kTypeMismatch);
  EXPECT_EQ(static_cast<int>(CodeOf(request->Documents("updates").status())), 40414);
  const bson::Document update = Json("{}");
  request->message.sequences.push_back({"updates", {update.view()}});
  EXPECT_EQ(request->Documents("updates")->size(), 1u);
}

TEST(Documents, AreBounded) {
  bson::Builder builder;
  builder.Append("insert", "c").Append("$db", "d").OpenArray("documents");
  bson::ArrayAppender array(builder);
  for (int i = 0; i <= limits::kWriteBatchCountMax; ++i) array.Add(bson::View());
  const auto request = ParseRequest(MakeMessage(builder.Close().Finish()), kNow);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(CodeOf(request->Documents("documents").status()), ErrorCode::kInvalidLength);
}

}  // namespace
}  // namespace evenkeel::wire
