// The frame around every message, and OP_MSG and OP_QUERY inside it.
//
// Pure: bytes in, views out; no sockets. Source: MongoDB wire protocol and OP_MSG specifications.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
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

// A kind-1 section: a named run of documents, e.g. "documents" of an insert.
struct DocumentSequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

// One request or reply as views into `owner`'s bytes (and, for parts that were built here, into documents kept alive by it).
struct Message {
  uint32_t flags = 0;
  bson::View body;
  absl::InlinedVector<DocumentSequence, 1> sequences;
  std::shared_ptr<const void> owner;

  bool more_to_come() const { return flags & kMoreToCome; }
  bool exhaust_allowed() const { return flags & kExhaustAllowed; }
  // The sequence of that name, or null.
  const DocumentSequence* FindSequence(std::string_view name) const;
};

// Reads the 16 bytes of a header. Errors: ProtocolError (close the connection) for a length outside
// [16, limits::kMessageBytesMax].
absl::StatusOr<MessageHeader> ParseHeader(std::string_view bytes);

// Parses an OP_MSG's bytes after the header; validates each document once, and the checksum when there is one (`header` is needed for it).
// Errors: ProtocolError where the stream can no longer be trusted; InvalidBSON and others where only this message is bad.
absl::StatusOr<Message> ParseOpMsg(const MessageHeader& header, std::string_view header_bytes, bson::SharedBytes payload);

// A legacy OP_QUERY: only hello and isMaster come this way.
struct LegacyQuery {
  std::string database;
  bson::View body;
  bson::SharedBytes owner;
};
absl::StatusOr<LegacyQuery> ParseOpQuery(bson::SharedBytes payload);

// A whole OP_MSG with header and one body section.
std::string EncodeOpMsg(int32_t request_id, int32_t response_to, uint32_t flags, bson::View body);
// The same with sequences, for requests between routers and shards.
std::string EncodeOpMsg(int32_t request_id, int32_t response_to, const Message& message);
// A whole OP_REPLY with one document.
std::string EncodeOpReply(int32_t request_id, int32_t response_to, bson::View document);

}  // namespace evenkeel::wire
