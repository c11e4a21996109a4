// Fuzzes a byte stream as a connection cuts it: headers, then whatever message they announce.
//
// Everything that parses is read through every view, so that the address sanitizer sees a step
// outside.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "wire/protocol/compress.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/message.h"
#include "wire/protocol/request.h"

namespace evenkeel::wire {
namespace {

// The payload in an allocation of its own, which ends where it ends.
bson::SharedBytes Own(std::string_view bytes) { return std::make_shared<const std::string>(bytes); }

void Handle(absl::StatusOr<Message> message) {
  if (!message.ok()) {
    (void)ErrorReply(message.status(), {});
    return;
  }
  const absl::StatusOr<Request> request = ParseRequest(*std::move(message), absl::UnixEpoch());
  if (!request.ok()) {
    (void)ErrorReply(request.status(), {});
    return;
  }
  (void)CheckAllowed(*request);
  (void)ReplyContextOf(*request);
}

void HandlePayload(MessageHeader header, std::string_view header_bytes, std::string_view payload) {
  if (header.op_code == OpCode::kMsg) {
    Handle(ParseOpMsg(header, header_bytes, Own(payload)));
  } else if (header.op_code == OpCode::kQuery) {
    const absl::StatusOr<LegacyQuery> query = ParseOpQuery(Own(payload));
    if (query.ok()) Handle(MakeMessage(*query));
  } else if (header.op_code == OpCode::kCompressed) {
    const absl::StatusOr<CompressedHeader> inner = ParseCompressedHeader(payload);
    if (!inner.ok()) return;
    const absl::StatusOr<std::string> bytes = Decompress(*inner, payload);
    if (!bytes.ok()) return;
    header.op_code = inner->original_op_code;
    HandlePayload(header, header_bytes, *bytes);
  }
}

void CheckOne(std::string_view stream) {
  while (stream.size() >= kHeaderBytes) {
    const absl::StatusOr<MessageHeader> header = ParseHeader(stream);
    if (!header.ok()) return;
    const auto length = static_cast<size_t>(header->length_bytes);
    if (length > stream.size()) return;
    HandlePayload(*header, stream.substr(0, kHeaderBytes),
                  stream.substr(kHeaderBytes, length - kHeaderBytes));
    stream.remove_prefix(length);
  }
}

}  // namespace
}  // namespace evenkeel::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::wire::CheckOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
