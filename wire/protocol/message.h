// The frame around every message, and OP_MSG and OP_QUERY inside it.
//
// Pure: bytes in, views out; no sockets. Source: MongoDB wire protocol and OP_MSG specifications.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"

namespace evenkeel::wire {

enum class OpCode : int32_t {
  kReply = 1,
  kQuery = 2004,
  kCompressed = 2012,
  kMsg = 2013,
};

struct MessageHeader {
  int32_t length_bytes = 0;
  int32_t request_id = 0;
  int32_t response_to = 0;
  OpCode op_code = OpCode::kMsg;
};
inline constexpr size_t kHeaderBytes = 16;

// OP_MSG's flag bits. Unknown bits among the low 16 are refused.
inline constexpr uint32_t kChecksumPresent = 1u << 0;
inline constexpr uint32_t kMoreToCome = 1u << 1;
inline constexpr uint32_t kExhaustAllowed = 1u << 16;

// Kind-1 sections of one message: commands use at most two, and names are compared pairwise.
inline constexpr size_t kSequencesMax = 16;

// A kind-1 section: a named run of documents, e.g. "documents" of an insert.
struct DocumentSequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

// One request or reply as views into `owner`'s bytes (and, for parts that were built here, into
// documents kept alive by it).
struct Message {
  uint32_t flags = 0;
  bson::View body;
  absl::InlinedVector<DocumentSequence, 1> sequences;
  std::shared_ptr<const void> owner;
  // The client's request that this is or belongs to, for the log: wire/protocol/operation_text.h.
  uint64_t operation = 0;

  bool more_to_come() const { return flags & kMoreToCome; }
  bool exhaust_allowed() const { return flags & kExhaustAllowed; }
  // The sequence of that name, or null.
  const DocumentSequence* FindSequence(std::string_view name) const;
};

// A message that owns one document as its body.
Message MakeMessage(bson::Document body, uint32_t flags = 0);

// Reads the 16 bytes of a header. Errors: ProtocolError (close the connection) for a length outside
// [16, limits::kMessageBytesMax].
absl::StatusOr<MessageHeader> ParseHeader(std::string_view bytes);

// Writes a header's 16 bytes to `out`.
void WriteHeader(const MessageHeader& header, char* out);

// Parses an OP_MSG's bytes after the header; validates each document once, and the checksum when
// there is one.
//
// header_bytes  the 16 bytes as received: the checksum covers them.
// Errors        ProtocolError where the stream can no longer be trusted (unknown flags, checksum);
// InvalidBSON and others
//               where only this message is bad.
absl::StatusOr<Message> ParseOpMsg(const MessageHeader& header, std::string_view header_bytes,
                                   bson::SharedBytes payload);

// A legacy OP_QUERY: only hello and isMaster come this way.
struct LegacyQuery {
  std::string database;
  bson::View body;
  bson::SharedBytes owner;
};
// Errors: 352 (UnsupportedOpQueryCommand) for other commands, with an OP_REPLY still possible;
// ProtocolError for bytes that are no OP_QUERY on a "$cmd" collection.
absl::StatusOr<LegacyQuery> ParseOpQuery(bson::SharedBytes payload);
// The same command as an OP_MSG would bring it, with $db in its body.
Message MakeMessage(const LegacyQuery& query);

// A whole OP_MSG with header and one body section.
std::string EncodeOpMsg(int32_t request_id, int32_t response_to, uint32_t flags, bson::View body);
// The same with sequences, for requests between routers and shards.
std::string EncodeOpMsg(int32_t request_id, int32_t response_to, const Message& message);
// A whole OP_REPLY with one document.
std::string EncodeOpReply(int32_t request_id, int32_t response_to, bson::View document);

// What stands before the body of a reply that is sent without copying the body: header, flags,
// section kind.
inline constexpr size_t kOpMsgPrefixBytes = kHeaderBytes + 4 + 1;
// Writes those bytes for an OP_MSG whose only section is `body`; with kChecksumPresent the length
// counts 4 bytes more.
void WriteOpMsgPrefix(int32_t request_id, int32_t response_to, uint32_t flags, bson::View body,
                      char* out);

// CRC-32C of `bytes`, continuing from `crc`: what OP_MSG's checksum is.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace evenkeel::wire
