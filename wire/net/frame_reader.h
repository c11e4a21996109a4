// Cuts the bytes of one connection into frames. Small frames are read through a buffer, several by
// one system call; the body of a large one is admitted against the budget first and then read into
// its own memory.
//
// Thread: the connection's loop.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/byte_budget.h"
#include "base/async/cancellation.h"
#include "base/bson/document.h"
#include "wire/net/stream.h"
#include "wire/protocol/compress.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

// Frames up to this size, header included, need no admission: connections × this bounds them.
inline constexpr size_t kReadBufferBytes = 16u << 10;

// One message as received. The payload carries its grant of the budget with it.
struct Frame {
  MessageHeader header;
  char header_bytes[kHeaderBytes];
  bson::SharedBytes payload;                    // after the header
  bool admitted = false;                        // large: holds a grant
  std::optional<CompressedHeader> compression;  // for OP_COMPRESSED
};

// Puts unpacked bytes in place of the frame's payload; the packed ones and their grant live as long
// as they do.
void ReplacePayload(Frame& frame, std::string bytes);

class FrameReader {
 public:
  // Both outlive the reader.
  FrameReader(Stream* stream, base::ByteBudget* budget);

  enum class Progress {
    kFrame,     // a frame was taken
    kNeedMore,  // call Fill
    kLarge,     // call AdmitLarge and ReadLarge
  };
  // Takes the next frame from the buffer. Errors: ProtocolError for what cannot be a frame: the
  // connection must be closed.
  absl::StatusOr<Progress> Take(Frame& frame);
  // True when a frame has begun to arrive.
  bool HasPartialFrame() const { return end_ > begin_; }
  // What has been read and not been taken.
  std::string_view Buffered() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // Forgets it: it was no frame's.
  void Discard() { begin_ = end_ = 0; }

  // Reads what has come, at least one byte. Errors: SocketException when the peer has closed or the
  // connection is broken.
  boost::asio::awaitable<absl::Status> Fill();
  // Waits until the large frame at the front fits the budget. Errors: Interrupted.
  boost::asio::awaitable<absl::Status> AdmitLarge(base::CancellationToken cancelled);
  // Reads that frame. Errors: SocketException.
  boost::asio::awaitable<absl::Status> ReadLarge(Frame& frame);

  // Bytes of the frame at the front, once its header is there.
  size_t FrontBytes() const { return front_bytes_; }
  // Bytes read since the last call.
  uint64_t TakeBytesRead() { return std::exchange(bytes_read_, 0); }

 private:
  absl::Status ParseFront(Frame& frame);

  Stream* stream_;
  base::ByteBudget* budget_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t front_bytes_ = 0;
  size_t memory_bytes_ = 0;  // what the frame at the front takes, unpacked form included
  base::ByteBudget::Grant grant_;
  uint64_t bytes_read_ = 0;
};

}  // namespace evenkeel::wire
