// Parses and writes frames, OP_MSG, OP_QUERY and OP_REPLY.
#include "wire/protocol/message.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/validate.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::wire {
namespace {

constexpr uint32_t kRequiredFlags = 0xFFFFu;  // unknown bits among these must be refused
constexpr uint32_t kKnownRequiredFlags = kChecksumPresent | kMoreToCome;
constexpr size_t kChecksumBytes = 4;

enum SectionKind : uint8_t { kBody = 0, kSequence = 1 };

// MongoDB's numbers for malformed OP_MSGs.
constexpr ErrorCode kMultipleBodies = Location(40430);
constexpr ErrorCode kDuplicateSequence = Location(40431);
constexpr ErrorCode kUnknownSectionKind = Location(40432);
constexpr ErrorCode kSequenceNamedAsField = Location(40433);
constexpr ErrorCode kNoBody = Location(40587);
constexpr ErrorCode kUnsupportedOpQuery = Location(352);

template <typename T>
void Store(char* out, T value) {
  std::memcpy(out, &value, sizeof(value));
}

absl::Status Truncated() {
  return MakeError(ErrorCode::kInvalidLength, "OP_MSG section goes past the end of its message");
}

// Takes the validated document at the front of `bytes` and cuts it off.
absl::StatusOr<bson::View> TakeDocument(std::string_view& bytes) {
  if (bytes.size() < 5) return Truncated();
  const auto length = bson::LoadLittle<int32_t>(bytes.data());
  if (length < 5 || static_cast<size_t>(length) > bytes.size()) {
    return Error(ErrorCode::kInvalidBSON, "document length {} does not fit its section of {} bytes",
                 length, bytes.size());
  }
  if (length > limits::kInternalDocumentBytesMax) {
    return Error(ErrorCode::kBSONObjectTooLarge,
                 "BSONObj size: {} is invalid. Size must be between 0 and {}", length,
                 limits::kInternalDocumentBytesMax);
  }
  EVENKEEL_RETURN_IF_ERROR(bson::Validate(bytes.substr(0, static_cast<size_t>(length))));
  const bson::View view(bytes.data());
  bytes.remove_prefix(static_cast<size_t>(length));
  return view;
}

absl::StatusOr<DocumentSequence> TakeSequence(std::string_view& bytes) {
  if (bytes.size() < 4) return Truncated();
  const auto length = bson::LoadLittle<int32_t>(bytes.data());
  if (length < 5 || static_cast<size_t>(length) > bytes.size()) return Truncated();
  std::string_view section = bytes.substr(4, static_cast<size_t>(length) - 4);
  bytes.remove_prefix(static_cast<size_t>(length));

  const size_t name_end = section.find('\0');
  if (name_end == std::string_view::npos) return Truncated();
  DocumentSequence sequence{section.substr(0, name_end), {}};
  section.remove_prefix(name_end + 1);
  while (!section.empty()) {
    if (sequence.documents.size() == static_cast<size_t>(limits::kWriteBatchCountMax)) {
      return Error(ErrorCode::kInvalidLength, "document sequence '{}' has more than {} documents",
                   sequence.name, limits::kWriteBatchCountMax);
    }
    EVENKEEL_ASSIGN_OR_RETURN(const bson::View document, TakeDocument(section));
    sequence.documents.push_back(document);
  }
  return sequence;
}

absl::Status AddSequence(DocumentSequence sequence, Message& message) {
  if (message.FindSequence(sequence.name) != nullptr) {
    return Error(kDuplicateSequence, "Duplicate document sequence: {}", sequence.name);
  }
  if (message.sequences.size() == kSequencesMax) {
    return Error(ErrorCode::kInvalidLength, "OP_MSG has more than {} document sequences",
                 kSequencesMax);
  }
  message.sequences.push_back(std::move(sequence));
  return absl::OkStatus();
}

absl::Status TakeSections(std::string_view bytes, Message& message) {
  bool has_body = false;
  while (!bytes.empty()) {
    const auto kind = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (kind == kBody) {
      if (has_body) return MakeError(kMultipleBodies, "Multiple body sections in message");
      has_body = true;
      EVENKEEL_ASSIGN_OR_RETURN(message.body, TakeDocument(bytes));
    } else if (kind == kSequence) {
      EVENKEEL_ASSIGN_OR_RETURN(DocumentSequence sequence, TakeSequence(bytes));
      EVENKEEL_RETURN_IF_ERROR(AddSequence(std::move(sequence), message));
    } else {
      return Error(kUnknownSectionKind, "Unknown section kind {}", kind);
    }
  }
  if (!has_body) return MakeError(kNoBody, "OP_MSG messages must have a body");
  for (const DocumentSequence& sequence : message.sequences) {
    if (message.body.Contains(sequence.name)) {
      return Error(kSequenceNamedAsField, "Duplicate field between body and document sequence {}",
                   sequence.name);
    }
  }
  return absl::OkStatus();
}

// Verifies the checksum at the end of `bytes` and cuts it off.
absl::Status TakeChecksum(std::string_view header_bytes, std::string_view& bytes) {
  if (bytes.size() < kChecksumBytes) {
    return MakeError(ErrorCode::kProtocolError, "OP_MSG is too short for its checksum");
  }
  const auto expected = bson::LoadLittle<uint32_t>(bytes.data() + bytes.size() - kChecksumBytes);
  bytes.remove_suffix(kChecksumBytes);
  if (Crc32c(bytes, Crc32c(header_bytes)) != expected) {
    return MakeError(ErrorCode::kProtocolError, "OP_MSG checksum does not match contents");
  }
  return absl::OkStatus();
}

// The wrapper of old drivers: {$query: {isMaster: 1}, $readPreference: …}.
bson::View UnwrapQuery(bson::View body) {
  const bson::Element first = body.Front();
  const bool wrapped = first.key == "$query" || first.key == "query";
  return wrapped && first.value.Is(bson::Type::kObject) ? first.value.AsDocument() : body;
}

bool IsHandshake(std::string_view command) {
  return command == "hello" || command == "isMaster" || command == "ismaster";
}

}  // namespace

const DocumentSequence* Message::FindSequence(std::string_view name) const {
  for (const DocumentSequence& sequence : sequences) {
    if (sequence.name == name) return &sequence;
  }
  return nullptr;
}

Message MakeMessage(bson::Document body, uint32_t flags) {
  auto owner = std::make_shared<const bson::Document>(std::move(body));
  Message message;
  message.flags = flags;
  message.body = owner->view();
  message.owner = std::move(owner);
  return message;
}

absl::StatusOr<MessageHeader> ParseHeader(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    return Error(ErrorCode::kProtocolError, "message header has {} bytes", bytes.size());
  }
  MessageHeader header;
  header.length_bytes = bson::LoadLittle<int32_t>(bytes.data());
  header.request_id = bson::LoadLittle<int32_t>(bytes.data() + 4);
  header.response_to = bson::LoadLittle<int32_t>(bytes.data() + 8);
  header.op_code = static_cast<OpCode>(bson::LoadLittle<int32_t>(bytes.data() + 12));
  if (header.length_bytes < static_cast<int32_t>(kHeaderBytes) ||
      header.length_bytes > limits::kMessageBytesMax) {
    return Error(ErrorCode::kProtocolError, "message length {} is not between {} and {}",
                 header.length_bytes, kHeaderBytes, limits::kMessageBytesMax);
  }
  return header;
}

void WriteHeader(const MessageHeader& header, char* out) {
  Store(out, header.length_bytes);
  Store(out + 4, header.request_id);
  Store(out + 8, header.response_to);
  Store(out + 12, static_cast<int32_t>(header.op_code));
}

absl::StatusOr<Message> ParseOpMsg(const MessageHeader& header, std::string_view header_bytes,
                                   bson::SharedBytes payload) {
  std::string_view bytes = *payload;
  if (header.op_code != OpCode::kMsg || bytes.size() < 4) {
    return MakeError(ErrorCode::kProtocolError, "not an OP_MSG");
  }
  Message message;
  message.flags = bson::LoadLittle<uint32_t>(bytes.data());
  if ((message.flags & kRequiredFlags & ~kKnownRequiredFlags) != 0) {
    return Error(ErrorCode::kProtocolError, "OP_MSG has unknown required flags {:#x}",
                 message.flags);
  }
  bytes.remove_prefix(4);
  if (message.flags & kChecksumPresent) {
    std::string_view with_flags = *payload;
    EVENKEEL_RETURN_IF_ERROR(TakeChecksum(header_bytes, with_flags));
    bytes = with_flags.substr(4);
  }
  EVENKEEL_RETURN_IF_ERROR(TakeSections(bytes, message));
  message.owner = std::move(payload);
  return message;
}

absl::StatusOr<LegacyQuery> ParseOpQuery(bson::SharedBytes payload) {
  // int32 flags, cstring collection, int32 skip, int32 count, document, and perhaps a projection,
  // which is ignored.
  std::string_view bytes = *payload;
  constexpr std::string_view kCommandCollection = ".$cmd";
  const size_t name_end = bytes.find('\0', std::min<size_t>(4, bytes.size()));
  if (name_end == std::string_view::npos || name_end + 9 > bytes.size()) {
    return MakeError(ErrorCode::kProtocolError, "OP_QUERY is too short");
  }
  const std::string_view ns = bytes.substr(4, name_end - 4);
  if (!ns.ends_with(kCommandCollection)) {
    return MakeError(ErrorCode::kProtocolError, "OP_QUERY is no longer supported");
  }
  bytes.remove_prefix(name_end + 9);
  absl::StatusOr<bson::View> document = TakeDocument(bytes);
  if (!document.ok())
    return Error(ErrorCode::kProtocolError, "OP_QUERY: {}", MessageOf(document.status()));

  LegacyQuery query;
  query.database = std::string(ns.substr(0, ns.size() - kCommandCollection.size()));
  query.body = UnwrapQuery(*document);
  query.owner = std::move(payload);
  const std::string_view command = query.body.Front().key;
  if (!IsHandshake(command)) {
    return Error(kUnsupportedOpQuery,
                 "Unsupported OP_QUERY command: {}. The client driver may require an upgrade",
                 command);
  }
  return query;
}

Message MakeMessage(const LegacyQuery& query) {
  bson::Builder builder(query.body);
  if (!query.body.Contains("$db")) builder.Append("$db", query.database);
  return MakeMessage(builder.Finish());
}

void WriteOpMsgPrefix(int32_t request_id, int32_t response_to, uint32_t flags, bson::View body,
                      char* out) {
  const size_t checksum_bytes = flags & kChecksumPresent ? kChecksumBytes : 0;
  const size_t length = kOpMsgPrefixBytes + body.SizeBytes() + checksum_bytes;
  WriteHeader({static_cast<int32_t>(length), request_id, response_to, OpCode::kMsg}, out);
  Store(out + kHeaderBytes, flags);
  out[kHeaderBytes + 4] = static_cast<char>(kBody);
}

std::string EncodeOpMsg(int32_t request_id, int32_t response_to, uint32_t flags, bson::View body) {
  std::string out;
  out.reserve(kOpMsgPrefixBytes + body.SizeBytes() + kChecksumBytes);
  out.resize(kOpMsgPrefixBytes);
  WriteOpMsgPrefix(request_id, response_to, flags, body, out.data());
  out.append(body.Bytes());
  if (flags & kChecksumPresent) {
    const uint32_t crc = Crc32c(out);
    out.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
  }
  return out;
}

std::string EncodeOpMsg(int32_t request_id, int32_t response_to, const Message& message) {
  std::string out =
      EncodeOpMsg(request_id, response_to, message.flags & ~kChecksumPresent, message.body);
  for (const DocumentSequence& sequence : message.sequences) {
    out.push_back(static_cast<char>(kSequence));
    const size_t start = out.size();
    out.append(4, '\0').append(sequence.name).push_back('\0');
    for (const bson::View document : sequence.documents) out.append(document.Bytes());
    Store(out.data() + start, static_cast<int32_t>(out.size() - start));
  }
  Store(out.data(), static_cast<int32_t>(out.size()));
  return out;
}

std::string EncodeOpReply(int32_t request_id, int32_t response_to, bson::View document) {
  constexpr size_t kReplyFieldsBytes = 20;  // flags, cursor id, starting from, count
  constexpr int32_t kAwaitCapable = 8;
  std::string out(kHeaderBytes + kReplyFieldsBytes, '\0');
  Store(out.data() + kHeaderBytes, kAwaitCapable);
  Store(out.data() + kHeaderBytes + 16, int32_t{1});
  out.append(document.Bytes());
  WriteHeader({static_cast<int32_t>(out.size()), request_id, response_to, OpCode::kReply},
              out.data());
  return out;
}

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  // The library takes and returns the register without the inversions of CRC-32C.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~crc);
}

}  // namespace evenkeel::wire
