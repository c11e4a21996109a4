// Tests of frames, OP_MSG, OP_QUERY and OP_REPLY over hand-made bytes.
#include "wire/protocol/message.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/status.h"
#include "tests/unit/wire/protocol/bytes.h"

namespace evenkeel::wire {
namespace {

absl::StatusOr<Message> ParseMsg(uint32_t flags, const std::string& sections) {
  return ParseWhole(Framed(OpCode::kMsg, MsgPayload(flags, sections)));
}

int CodeNumber(const absl::Status& status) { return static_cast<int>(CodeOf(status)); }

TEST(ParseHeader, ReadsFields) {
  const auto header = ParseHeader(FromHex("10000000 01000000 fdffffff dd070000"));
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->length_bytes, 16);
  EXPECT_EQ(header->request_id, 1);
  EXPECT_EQ(header->response_to, -3);
  EXPECT_EQ(header->op_code, OpCode::kMsg);
  char again[kHeaderBytes];
  WriteHeader(*header, again);
  EXPECT_EQ(std::string(again, kHeaderBytes), FromHex("10000000 01000000 fdffffff dd070000"));
}

TEST(ParseHeader, RefusesLengthsThatCannotBe) {
  for (const int32_t length : {-1, 0, 1, 15, limits::kMessageBytesMax + 1, INT32_MIN, INT32_MAX}) {
    const auto header = ParseHeader(Int32Bytes(length) + std::string(12, '\0'));
    EXPECT_EQ(CodeOf(header.status()), ErrorCode::kProtocolError) << length;
  }
  for (const int32_t length : {16, limits::kMessageBytesMax}) {
    EXPECT_TRUE(ParseHeader(Int32Bytes(length) + std::string(12, '\0')).ok()) << length;
  }
  EXPECT_FALSE(ParseHeader("short").ok());
}

TEST(ParseOpMsg, ReadsTheSpecificationsExample) {
  // {insert: "coll", $db: "db"} with two documents {a: 1}, {a: 2} as a sequence behind the body.
  const std::string bytes = FromHex(
      "68000000 2a000000 00000000 dd070000 00000000"
      "00 22000000 02 696e7365727400 05000000 636f6c6c00 02 24646200 03000000 646200 00"
      "01 26000000 646f63756d656e747300 0c000000 10 6100 01000000 00 0c000000 10 6100 02000000 00");
  std::string sized = bytes;
  const std::string length = Int32Bytes(static_cast<int32_t>(bytes.size()));
  sized.replace(0, 4, length);
  const auto message = ParseWhole(sized);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->body["insert"].AsString(), "coll");
  EXPECT_EQ(message->body["$db"].AsString(), "db");
  const DocumentSequence* documents = message->FindSequence("documents");
  ASSERT_NE(documents, nullptr);
  ASSERT_EQ(documents->documents.size(), 2u);
  EXPECT_EQ(documents->documents[1]["a"].AsInt32(), 2);
  EXPECT_EQ(message->FindSequence("document"), nullptr);
}

TEST(ParseOpMsg, TakesSectionsInAnyOrder) {
  const std::string body = BodySection(Json(R"({"bulkWrite": 1})"));
  const std::string ops = SequenceSection("ops", {Json("{}"), Json(R"({"insert": 0})")});
  const std::string ns = SequenceSection("nsInfo", {Json(R"({"ns": "a.b"})")});
  const std::string empty = SequenceSection("none", {});
  for (const std::string& sections :
       {body + ops + ns + empty, ops + body + ns + empty, empty + ns + ops + body}) {
    const auto message = ParseMsg(0, sections);
    ASSERT_TRUE(message.ok()) << message.status();
    EXPECT_EQ(message->body.Front().key, "bulkWrite");
    EXPECT_EQ(message->FindSequence("ops")->documents.size(), 2u);
    EXPECT_EQ(message->FindSequence("nsInfo")->documents.size(), 1u);
    EXPECT_EQ(message->FindSequence("none")->documents.size(), 0u);
  }
}

TEST(ParseOpMsg, RefusesBadSections) {
  const std::string body = BodySection(Json(R"({"insert": "c", "documents": []})"));
  const std::string plain = BodySection(Json(R"({"ping": 1})"));
  const std::string sequence = SequenceSection("documents", {Json("{}")});
  std::string many = plain;
  for (size_t i = 0; i <= kSequencesMax; ++i) many += SequenceSection(std::to_string(i), {});
  const struct {
    const char* what;
    std::string sections;
    int code;
  } cases[] = {
      {"no section", "", 40587},
      {"no body", sequence, 40587},
      {"two bodies", plain + plain, 40430},
      {"the same sequence twice", plain + sequence + sequence, 40431},
      {"an unknown kind", plain + "\x02", 40432},
      {"a sequence named like a field", body + sequence, 40433},
      {"kind without content", std::string(1, '\0'), 16},
      {"sequence without size", plain + std::string("\1\1\0", 3), 16},
      {"sequence larger than the message", plain + std::string("\1\xff\0\0\0x\0", 7), 16},
      {"sequence with a negative size", plain + std::string("\1\xff\xff\xff\xffx\0", 7), 16},
      {"sequence too small for its size", plain + std::string("\1\4\0\0\0", 5), 16},
      {"sequence without a name's end", plain + std::string("\1\6\0\0\0xx", 7), 16},
      {"sequence with half a document", plain + std::string("\1\x9\0\0\0x\0\5\0\0", 10), 16},
      {"body that is no BSON", std::string("\0\x06\0\0\0\1\0", 7), 22},
      {"body cut short", std::string("\0\x20\0\0\0\0", 6), 22},
      {"body with a length too small", std::string("\0\4\0\0\0\0", 6), 22},
      {"bytes behind the last section", plain + "\1", 16},
      {"too many sequences", many, 16},
  };
  for (const auto& test : cases) {
    const auto message = ParseMsg(0, test.sections);
    EXPECT_EQ(CodeNumber(message.status()), test.code) << test.what << ": " << message.status();
    EXPECT_FALSE(Is(message.status(), kCloseConnection)) << test.what;
  }
}

TEST(ParseOpMsg, BoundsTheNumberOfDocuments) {
  std::string inner("documents\0", 10);
  const std::string empty = bson::Document().bytes();
  for (int i = 0; i <= limits::kWriteBatchCountMax; ++i) inner += empty;
  const std::string section =
      std::string(1, '\1') + Int32Bytes(static_cast<int32_t>(inner.size() + 4)) + inner;
  const auto message = ParseMsg(0, BodySection(Json(R"({"insert": "c"})")) + section);
  EXPECT_EQ(CodeOf(message.status()), ErrorCode::kInvalidLength);
}

TEST(ParseOpMsg, BoundsTheSizeOfDocuments) {
  bson::Builder builder;
  builder.Append("x", std::string(limits::kInternalDocumentBytesMax, 'x'));
  const auto message = ParseMsg(0, BodySection(builder.Finish()));
  EXPECT_EQ(CodeOf(message.status()), ErrorCode::kBSONObjectTooLarge);
}

TEST(ParseOpMsg, Flags) {
  const std::string body = BodySection(Json(R"({"ping": 1})"));
  EXPECT_TRUE(ParseMsg(kMoreToCome, body)->more_to_come());
  EXPECT_TRUE(ParseMsg(kExhaustAllowed, body)->exhaust_allowed());
  EXPECT_TRUE(ParseMsg(1u << 31, body).ok()) << "unknown optional flags are ignored";
  for (uint32_t bit = 2; bit < 16; ++bit) {
    const absl::Status status = ParseMsg(1u << bit, body).status();
    EXPECT_TRUE(Is(status, kCloseConnection)) << bit;
  }
  EXPECT_FALSE(ParseWhole(Framed(OpCode::kMsg, "\0\0")).ok());
  EXPECT_FALSE(ParseWhole(Framed(OpCode::kQuery, MsgPayload(0, body))).ok());
}

TEST(ParseOpMsg, VerifiesTheChecksum) {
  const std::string good = EncodeOpMsg(1, 2, kChecksumPresent, Json(R"({"ping": 1})"));
  EXPECT_TRUE(ParseWhole(good).ok());
  for (size_t i = 4; i < good.size(); ++i) {  // the length decides where the checksum is
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(ParseWhole(bad).ok()) << "changed byte " << i;
  }
  const std::string tiny = Framed(OpCode::kMsg, MsgPayload(kChecksumPresent, ""));
  EXPECT_TRUE(Is(ParseWhole(tiny).status(), kCloseConnection));
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);  // the check value of CRC-32C
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283u);
}

TEST(EncodeOpMsg, ReadsBack) {
  Message message = MakeMessage(Json(R"({"insert": "c", "$db": "d"})"), kExhaustAllowed);
  const bson::Document document = Json(R"({"_id": 1})");
  message.sequences.push_back({"documents", {document.view(), document.view()}});
  const std::string bytes = EncodeOpMsg(5, 6, message);
  const auto header = ParseHeader(bytes);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->length_bytes, static_cast<int32_t>(bytes.size()));
  EXPECT_EQ(header->request_id, 5);
  EXPECT_EQ(header->response_to, 6);
  const auto read = ParseWhole(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->flags, kExhaustAllowed);
  EXPECT_EQ(read->FindSequence("documents")->documents.size(), 2u);
}

TEST(EncodeOpReply, HasItsFields) {
  const bson::Document document = Json(R"({"ok": 1})");
  const std::string bytes = EncodeOpReply(1, 2, document);
  EXPECT_EQ(bytes.substr(16, 20), FromHex("08000000 0000000000000000 00000000 01000000"));
  EXPECT_EQ(bytes.substr(36), document.bytes());
  EXPECT_EQ(ParseHeader(bytes)->op_code, OpCode::kReply);
}

std::string QueryPayload(std::string_view ns, const bson::Document& document) {
  return Int32Bytes(4) + std::string(ns) + std::string(1, '\0') + Int32Bytes(0) + Int32Bytes(-1) +
         document.bytes();
}

absl::StatusOr<LegacyQuery> ParseQuery(std::string payload) {
  return ParseOpQuery(std::make_shared<const std::string>(std::move(payload)));
}

TEST(ParseOpQuery, ReadsTheHandshake) {
  for (const char* body :
       {R"({"isMaster": 1, "helloOk": true})", R"({"ismaster": 1})", R"({"hello": 1})",
        R"({"$query": {"isMaster": 1}, "$readPreference": {"mode": "primary"}})"}) {
    const auto query = ParseQuery(QueryPayload("admin.$cmd", Json(body)));
    ASSERT_TRUE(query.ok()) << body;
    EXPECT_EQ(query->database, "admin");
    const Message message = MakeMessage(*query);
    EXPECT_EQ(message.body["$db"].AsString(), "admin");
    EXPECT_EQ(message.flags, 0u);
  }
}

TEST(ParseOpQuery, RefusesTheRest) {
  const auto find = ParseQuery(QueryPayload("test.$cmd", Json(R"({"find": "c"})")));
  EXPECT_EQ(CodeNumber(find.status()), 352);
  EXPECT_TRUE(Is(ParseQuery(QueryPayload("test.c", Json("{}"))).status(), kCloseConnection));
  const std::string good = QueryPayload("admin.$cmd", Json(R"({"hello": 1})"));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(Is(ParseQuery(good.substr(0, size)).status(), kCloseConnection)) << size;
  }
}

}  // namespace
}  // namespace evenkeel::wire
