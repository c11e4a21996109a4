// Fuzzes OP_MSG: what parses must lie inside its bytes, and must read back the same when written
// again.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/status.h"
#include "wire/protocol/message.h"
#include "wire/protocol/request.h"

namespace evenkeel::wire {
namespace {

absl::StatusOr<Message> Parse(std::string_view payload) {
  MessageHeader header;
  header.length_bytes = static_cast<int32_t>(payload.size() + kHeaderBytes);
  char header_bytes[kHeaderBytes];
  WriteHeader(header, header_bytes);
  return ParseOpMsg(header, {header_bytes, kHeaderBytes},
                    std::make_shared<const std::string>(payload));
}

void CheckSame(const Message& a, const Message& b) {
  EVENKEEL_CHECK(a.body.Bytes() == b.body.Bytes());
  EVENKEEL_CHECK(a.sequences.size() == b.sequences.size());
  for (const DocumentSequence& sequence : a.sequences) {
    const DocumentSequence* other = b.FindSequence(sequence.name);
    EVENKEEL_CHECK(other != nullptr && other->documents.size() == sequence.documents.size());
    for (size_t i = 0; i < sequence.documents.size(); ++i) {
      EVENKEEL_CHECK(sequence.documents[i].Bytes() == other->documents[i].Bytes());
    }
  }
}

void CheckOne(std::string_view payload) {
  const absl::StatusOr<Message> message = Parse(payload);
  if (!message.ok()) return;
  const std::string encoded = EncodeOpMsg(1, 2, *message);
  const absl::StatusOr<Message> again = Parse(std::string_view(encoded).substr(kHeaderBytes));
  EVENKEEL_CHECK(again.ok());
  CheckSame(*message, *again);
  const absl::StatusOr<Request> request = ParseRequest(*message, absl::UnixEpoch());
  if (!request.ok()) return;
  (void)CheckAllowed(*request);
  for (const bson::Element& field : request->body()) (void)request->Documents(field.key);
}

}  // namespace
}  // namespace evenkeel::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::wire::CheckOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
