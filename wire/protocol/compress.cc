// Packs and unpacks message payloads.
#include "wire/protocol/compress.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::wire {
namespace {

// Deflate cannot pack better than this; announced sizes beyond it are refused before memory is
// taken for them.
constexpr size_t kDeflateRatioMax = 1032;
constexpr size_t kDeflateSlackBytes = 1024;
constexpr int kZlibLevel = 1;  // replies are packed on the network thread: speed before size
constexpr int kZstdLevel = 1;

struct CompressorName {
  std::string_view name;
  Compressor compressor;
};
constexpr CompressorName kNames[] = {
    {"snappy", Compressor::kSnappy},
    {"zlib", Compressor::kZlib},
    {"zstd", Compressor::kZstd},
};

absl::Status Damaged(std::string_view compressor) {
  return Error(ErrorCode::kProtocolError, "{} payload is damaged or not of the announced size",
               compressor);
}

// True when `packed` can hold `bytes` at all.
bool IsPlausible(Compressor compressor, std::string_view packed, size_t bytes) {
  switch (compressor) {
    case Compressor::kNoop:
      return packed.size() == bytes;
    case Compressor::kSnappy: {
      size_t announced = 0;
      return snappy::GetUncompressedLength(packed.data(), packed.size(), &announced) &&
             announced == bytes;
    }
    case Compressor::kZlib:
      return bytes <= packed.size() * kDeflateRatioMax + kDeflateSlackBytes;
    case Compressor::kZstd: {
      const unsigned long long announced = ZSTD_getFrameContentSize(packed.data(), packed.size());
      return announced == ZSTD_CONTENTSIZE_UNKNOWN || announced == bytes;
    }
  }
  return false;
}

bool Unpack(Compressor compressor, std::string_view packed, std::string& out) {
  switch (compressor) {
    case Compressor::kNoop:
      packed.copy(out.data(), out.size());
      return true;
    case Compressor::kSnappy:
      return snappy::RawUncompress(packed.data(), packed.size(), out.data());
    case Compressor::kZlib: {
      uLongf bytes = out.size();
      return uncompress(reinterpret_cast<Bytef*>(out.data()), &bytes,
                        reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK &&
             bytes == out.size();
    }
    case Compressor::kZstd:
      return ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) == out.size();
  }
  return false;
}

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

// Appends the packed bytes; false when they would not fit into `room`.
bool Pack(Compressor compressor, std::string_view payload, size_t room, std::string& out) {
  const size_t start = out.size();
  size_t packed = 0;
  switch (compressor) {
    case Compressor::kNoop:
      out.append(payload);
      return true;
    case Compressor::kSnappy:
      out.resize(start + snappy::MaxCompressedLength(payload.size()));
      snappy::RawCompress(payload.data(), payload.size(), out.data() + start, &packed);
      break;
    case Compressor::kZlib: {
      uLongf bytes = compressBound(payload.size());
      out.resize(start + bytes);
      if (compress2(reinterpret_cast<Bytef*>(out.data() + start), &bytes,
                    reinterpret_cast<const Bytef*>(payload.data()), payload.size(),
                    kZlibLevel) != Z_OK) {
        return false;
      }
      packed = bytes;
      break;
    }
    case Compressor::kZstd: {
      thread_local const std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
      out.resize(start + ZSTD_compressBound(payload.size()));
      packed = ZSTD_compressCCtx(context.get(), out.data() + start, out.size() - start,
                                 payload.data(), payload.size(), kZstdLevel);
      if (ZSTD_isError(packed)) return false;
      break;
    }
  }
  out.resize(start + packed);
  return packed <= room;
}

}  // namespace

absl::StatusOr<CompressedHeader> ParseCompressedHeader(std::string_view payload) {
  if (payload.size() < kCompressedHeaderBytes) {
    return MakeError(ErrorCode::kProtocolError, "OP_COMPRESSED is too short");
  }
  CompressedHeader header;
  header.original_op_code = static_cast<OpCode>(bson::LoadLittle<int32_t>(payload.data()));
  header.original_bytes = bson::LoadLittle<int32_t>(payload.data() + 4);
  header.compressor = static_cast<Compressor>(payload[8]);
  constexpr int32_t kBytesMax = limits::kMessageBytesMax - static_cast<int32_t>(kHeaderBytes);
  if (header.original_bytes < 0 || header.original_bytes > kBytesMax) {
    return Error(ErrorCode::kProtocolError,
                 "OP_COMPRESSED announces {} bytes; at most {} are allowed", header.original_bytes,
                 kBytesMax);
  }
  if (header.compressor > Compressor::kZstd) {
    return Error(ErrorCode::kProtocolError, "unknown compressor id {}",
                 static_cast<uint8_t>(header.compressor));
  }
  if (header.original_op_code == OpCode::kCompressed) {
    return MakeError(ErrorCode::kProtocolError, "OP_COMPRESSED inside OP_COMPRESSED");
  }
  return header;
}

absl::StatusOr<std::string> Decompress(const CompressedHeader& header, std::string_view payload) {
  payload.remove_prefix(kCompressedHeaderBytes);
  const auto bytes = static_cast<size_t>(header.original_bytes);
  const auto name =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [&](const CompressorName& row) { return row.compressor == header.compressor; });
  const std::string_view shown = name == std::end(kNames) ? "noop" : name->name;
  if (!IsPlausible(header.compressor, payload, bytes)) return Damaged(shown);
  std::string out(bytes, '\0');
  if (!Unpack(header.compressor, payload, out)) return Damaged(shown);
  return out;
}

std::optional<std::string> Compress(Compressor compressor, const MessageHeader& header,
                                    std::string_view payload) {
  std::string out(kHeaderBytes + kCompressedHeaderBytes, '\0');
  if (payload.size() <= kCompressedHeaderBytes) return std::nullopt;
  const size_t room =
      compressor == Compressor::kNoop ? payload.size() : payload.size() - kCompressedHeaderBytes;
  if (!Pack(compressor, payload, room, out)) return std::nullopt;
  WriteHeader({static_cast<int32_t>(out.size()), header.request_id, header.response_to,
               OpCode::kCompressed},
              out.data());
  const auto op_code = static_cast<int32_t>(header.op_code);
  const auto bytes = static_cast<int32_t>(payload.size());
  std::memcpy(out.data() + kHeaderBytes, &op_code, 4);
  std::memcpy(out.data() + kHeaderBytes + 4, &bytes, 4);
  out[kHeaderBytes + 8] = static_cast<char>(compressor);
  return out;
}

std::vector<std::string_view> NegotiateCompressors(bson::View hello) {
  std::vector<std::string_view> found;
  const bson::Value offered = hello["compression"];
  if (!offered.Is(bson::Type::kArray)) return found;
  for (const bson::Element& element : offered.AsDocument()) {
    if (!element.value.Is(bson::Type::kString)) continue;
    for (const CompressorName& row : kNames) {
      const bool twice = std::find(found.begin(), found.end(), row.name) != found.end();
      if (row.name == element.value.AsString() && !twice) found.push_back(row.name);
    }
  }
  return found;
}

}  // namespace evenkeel::wire
