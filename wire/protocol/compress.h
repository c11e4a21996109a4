// OP_COMPRESSED: a message whose payload is packed by snappy, zlib or zstd, and the negotiation of
// the packer in hello.
//
// Pure. Inflating never makes more than the announced size, which never exceeds
// limits::kMessageBytesMax. Source: MongoDB wire compression specification.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

// The numbers on the wire.
enum class Compressor : uint8_t { kNoop = 0, kSnappy = 1, kZlib = 2, kZstd = 3 };

// What stands before the packed bytes.
struct CompressedHeader {
  OpCode original_op_code = OpCode::kMsg;
  int32_t original_bytes = 0;  // of the payload without a message header
  Compressor compressor = Compressor::kNoop;
};
inline constexpr size_t kCompressedHeaderBytes = 9;

// Reads it from the payload of an OP_COMPRESSED, so that memory can be admitted before inflating.
// Errors: ProtocolError for sizes out of bounds, unknown compressors and nested compression.
absl::StatusOr<CompressedHeader> ParseCompressedHeader(std::string_view payload);

// Unpacks the payload of an OP_COMPRESSED.
// Errors: ProtocolError for damaged bytes and for a result of another size than announced.
absl::StatusOr<std::string> Decompress(const CompressedHeader& header, std::string_view payload);

// A whole OP_COMPRESSED with header around `pieces`, the payload of a message in order. Nothing
// where packing does not make it smaller: then the message is sent as it is.
std::optional<std::string> Compress(Compressor compressor, const MessageHeader& header,
                                    std::string_view payload);

// The compressors of hello's field `compression` that this server knows, in the client's order, by
// name.
std::vector<std::string_view> NegotiateCompressors(bson::View hello);

}  // namespace evenkeel::wire
