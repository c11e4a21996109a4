// Reads frames.
#include "wire/net/frame_reader.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/read.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::wire {

namespace asio = boost::asio;

namespace {

// Large bodies arrive in steps, so that memory is touched only as fast as the peer sends.
constexpr size_t kReadStepBytes = 256u << 10;

// A large payload together with its share of the budget.
struct LargePayload {
  std::string bytes;
  base::ByteBudget::Grant grant;
};

absl::Status Closed(const boost::system::error_code& error) {
  return Error(ErrorCode::kSocketException, "connection closed: {}", error.message());
}

bool IsKnown(OpCode op_code) {
  return op_code == OpCode::kMsg || op_code == OpCode::kCompressed || op_code == OpCode::kQuery;
}

}  // namespace

void ReplacePayload(Frame& frame, std::string bytes) {
  struct Unpacked {
    std::string bytes;
    bson::SharedBytes packed;
  };
  auto unpacked = std::make_shared<Unpacked>(Unpacked{std::move(bytes), std::move(frame.payload)});
  frame.payload = bson::SharedBytes(unpacked, &unpacked->bytes);
}

FrameReader::FrameReader(Stream* stream, base::ByteBudget* budget)
    : stream_(stream), budget_(budget), buffer_(new char[kReadBufferBytes]) {}

absl::Status FrameReader::ParseFront(Frame& frame) {
  const std::string_view bytes = Buffered();
  EVENKEEL_ASSIGN_OR_RETURN(frame.header, ParseHeader(bytes));
  if (!IsKnown(frame.header.op_code)) {
    return Error(ErrorCode::kProtocolError, "unknown op code {}",
                 static_cast<int32_t>(frame.header.op_code));
  }
  std::memcpy(frame.header_bytes, bytes.data(), kHeaderBytes);
  front_bytes_ = static_cast<size_t>(frame.header.length_bytes);
  memory_bytes_ = front_bytes_;
  return absl::OkStatus();
}

absl::StatusOr<FrameReader::Progress> FrameReader::Take(Frame& frame) {
  if (Buffered().size() < kHeaderBytes) return Progress::kNeedMore;
  EVENKEEL_RETURN_IF_ERROR(ParseFront(frame));
  frame.admitted = false;
  frame.compression.reset();
  if (frame.header.op_code == OpCode::kCompressed) {
    // The announced size is needed before anything is admitted.
    const std::string_view payload = Buffered().substr(kHeaderBytes);
    if (payload.size() < kCompressedHeaderBytes) {
      if (front_bytes_ >= kHeaderBytes + kCompressedHeaderBytes) return Progress::kNeedMore;
      return MakeError(ErrorCode::kProtocolError, "OP_COMPRESSED is too short");
    }
    EVENKEEL_ASSIGN_OR_RETURN(frame.compression, ParseCompressedHeader(payload));
    memory_bytes_ += static_cast<size_t>(frame.compression->original_bytes);
    if (memory_bytes_ > limits::kInFlightBytesPerConnectionMax) {
      return Error(ErrorCode::kProtocolError, "OP_COMPRESSED of {} bytes announces {} bytes",
                   front_bytes_, frame.compression->original_bytes);
    }
  }
  if (memory_bytes_ > kReadBufferBytes) return Progress::kLarge;
  if (Buffered().size() < front_bytes_) return Progress::kNeedMore;
  frame.payload = std::make_shared<const std::string>(
      Buffered().substr(kHeaderBytes, front_bytes_ - kHeaderBytes));
  begin_ += front_bytes_;
  return Progress::kFrame;
}

asio::awaitable<absl::Status> FrameReader::Fill() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto [error, bytes] = co_await stream_->async_read_some(
      asio::buffer(buffer_.get() + end_, kReadBufferBytes - end_), asio::as_tuple(asio::deferred));
  if (error) co_return Closed(error);
  end_ += bytes;
  bytes_read_ += bytes;
  co_return absl::OkStatus();
}

asio::awaitable<absl::Status> FrameReader::AdmitLarge(base::CancellationToken cancelled) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      grant_,
      co_await budget_->Acquire(memory_bytes_, absl::InfiniteFuture(), std::move(cancelled)));
  co_return absl::OkStatus();
}

asio::awaitable<absl::Status> FrameReader::ReadLarge(Frame& frame) {
  const size_t total = front_bytes_ - kHeaderBytes;
  auto payload = std::make_shared<LargePayload>();
  payload->grant = std::move(grant_);
  payload->bytes.reserve(total);
  begin_ += kHeaderBytes;
  payload->bytes.append(Buffered().substr(0, total));
  begin_ += payload->bytes.size();
  while (payload->bytes.size() < total) {
    const size_t have = payload->bytes.size();
    const size_t step = std::min(kReadStepBytes, total - have);
    payload->bytes.resize(have + step);
    const auto [error, bytes] = co_await asio::async_read(
        *stream_, asio::buffer(payload->bytes.data() + have, step), asio::as_tuple(asio::deferred));
    bytes_read_ += bytes;
    if (error) co_return Closed(error);
  }
  frame.payload = bson::SharedBytes(payload, &payload->bytes);
  frame.admitted = true;
  co_return absl::OkStatus();
}

}  // namespace evenkeel::wire
