// Fuzzes OP_COMPRESSED: unpacking makes exactly the announced size or fails, and what is packed
// unpacks to itself.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/status.h"
#include "wire/protocol/compress.h"

namespace evenkeel::wire {
namespace {

// Keeps a run small; larger sizes differ in nothing but time.
constexpr int32_t kOriginalBytesMax = 1 << 20;

void Unpack(std::string_view payload) {
  const absl::StatusOr<CompressedHeader> header = ParseCompressedHeader(payload);
  if (!header.ok() || header->original_bytes > kOriginalBytesMax) return;
  const absl::StatusOr<std::string> bytes = Decompress(*header, payload);
  if (bytes.ok()) EVENKEEL_CHECK(bytes->size() == static_cast<size_t>(header->original_bytes));
}

void RoundTrip(std::string_view plain) {
  for (const Compressor compressor :
       {Compressor::kNoop, Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    const std::optional<std::string> whole = Compress(compressor, MessageHeader{}, plain);
    if (!whole) continue;
    const std::string_view payload = std::string_view(*whole).substr(kHeaderBytes);
    const absl::StatusOr<CompressedHeader> header = ParseCompressedHeader(payload);
    EVENKEEL_CHECK(header.ok());
    const absl::StatusOr<std::string> bytes = Decompress(*header, payload);
    EVENKEEL_CHECK(bytes.ok() && *bytes == plain);
  }
}

}  // namespace
}  // namespace evenkeel::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy that ends where its allocation does.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  evenkeel::wire::Unpack(bytes);
  evenkeel::wire::RoundTrip(bytes);
  return 0;
}
