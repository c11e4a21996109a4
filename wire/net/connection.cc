// The coroutine of one client connection.
#include "wire/net/connection.h"

#include <netinet/tcp.h>
#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "base/async/event_loop.h"
#include "base/async/wait.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "wire/net/exhaust.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/compress.h"
#include "wire/protocol/operation_text.h"

namespace evenkeel::wire {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// A peer that vanished without a word is noticed after five minutes of silence and five unanswered
// probes.
constexpr int kKeepIdleSeconds = 300;
constexpr int kKeepIntervalSeconds = 15;
constexpr int kKeepProbes = 5;

constexpr size_t kReplyBytesMax =
    static_cast<size_t>(limits::kMessageBytesMax) - kOpMsgPrefixBytes - sizeof(uint32_t);

std::string RemoteName(const asio::ip::tcp::socket& socket) {
  error_code error;
  const asio::ip::tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return "unknown";
  const std::string address = peer.address().to_string();
  return (peer.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(peer.port());
}

void SetOption(int socket, int level, int option, int value) {
  // A refused option costs comfort, not correctness.
  (void)setsockopt(socket, level, option, &value, sizeof(value));
}

// OP_MSG's flags, readable even where the rest is broken.
uint32_t FlagsOf(const Frame& frame) {
  if (frame.header.op_code != OpCode::kMsg || frame.payload->size() < 4) return 0;
  return bson::LoadLittle<uint32_t>(frame.payload->data());
}

// Replaces an OP_COMPRESSED by the message inside.
absl::Status Unpack(Frame& frame) {
  EVENKEEL_ASSIGN_OR_RETURN(std::string bytes, Decompress(*frame.compression, *frame.payload));
  frame.header.op_code = frame.compression->original_op_code;
  frame.header.length_bytes = static_cast<int32_t>(kHeaderBytes + bytes.size());
  // A checksum inside was made over the message as it was before packing.
  WriteHeader(frame.header, frame.header_bytes);
  ReplacePayload(frame, std::move(bytes));
  return absl::OkStatus();
}

}  // namespace

Connection::Connection(NetworkLoop* loop, const ConnectionSettings* settings,
                       asio::ip::tcp::socket socket, int64_t id)
    : loop_(loop),
      settings_(settings),
      stream_(std::move(socket)),
      reader_(&stream_, settings->budget),
      client_(std::make_shared<ClientState>()) {
  client_->connection_id = id;
}

Connection::~Connection() = default;

void Connection::SetUp() {
  thread_ = pthread_self();
  client_->remote = RemoteName(stream_.socket());
  const int socket = stream_.socket().native_handle();
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepProbes);
  error_code error;
  stream_.socket().non_blocking(true, error);
}

asio::awaitable<void> Connection::Run(std::shared_ptr<Connection> self) {
  self->SetUp();
  self->loop_->watch.Add(self.get());
  absl::Status status;
  try {
    status = co_await self->Serve();
  } catch (...) {
    status =
        Error(ErrorCode::kInternalError, "exception: {}", base::What(std::current_exception()));
  }
  self->loop_->watch.Remove(self.get());
  self->Close();
  self->LogEnd(status);
  self->client_->disconnected.Cancel();
  self->settings_->handler->Disconnected(*self->client_);
}

asio::awaitable<absl::Status> Connection::Serve() {
  if (settings_->tls_mode != TlsMode::kDisabled) EVENKEEL_CO_RETURN_IF_ERROR(co_await Secure());
  Frame frame;
  while (!stopping_) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const FrameReader::Progress progress, reader_.Take(frame));
    if (progress != FrameReader::Progress::kFrame) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await NextFrame(frame));
    }
    if (settings_->budget->IsOverdrawn() && !frame.admitted) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await AwaitMemory());
    }
    handling_ = true;
    absl::Status status = co_await Process(frame);
    handling_ = false;
    frame.payload.reset();
    if (!status.ok()) co_return status;
    loop_->watch.Enter(this, Phase::kIdle);
  }
  co_return absl::OkStatus();
}

asio::awaitable<absl::Status> Connection::Secure() {
  bool begun = false;
  while (reader_.Buffered().size() < kTlsStartBytes && StartsTls(reader_.Buffered())) {
    absl::Status status = co_await FillSome(begun);
    loop_->bytes_in.Add(reader_.TakeBytesRead());
    if (!status.ok()) co_return status;
  }
  if (!StartsTls(reader_.Buffered())) {
    if (settings_->tls_mode != TlsMode::kRequire) co_return absl::OkStatus();
    co_return MakeError(ErrorCode::kProtocolError, "only TLS connections are taken here");
  }
  loop_->watch.Enter(this, Phase::kReading, settings_->transfer_time_max);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await stream_.Accept(*settings_->tls, reader_.Buffered()));
  reader_.Discard();
  loop_->watch.Enter(this, Phase::kIdle);
  co_return absl::OkStatus();
}

// No coroutine of its own: this is on the way of every request.
asio::awaitable<absl::Status> Connection::FillSome(bool& begun) {
  if (reader_.HasPartialFrame() && !begun) {
    begun = true;  // once: a peer that sends byte by byte gains no time
    loop_->watch.Enter(this, Phase::kReading, settings_->transfer_time_max);
  }
  return reader_.Fill();
}

asio::awaitable<absl::Status> Connection::NextFrame(Frame& frame) {
  bool begun = false;
  for (;;) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const FrameReader::Progress progress, reader_.Take(frame));
    if (progress == FrameReader::Progress::kFrame) co_return absl::OkStatus();
    if (progress == FrameReader::Progress::kLarge) break;
    absl::Status status = co_await FillSome(begun);
    loop_->bytes_in.Add(reader_.TakeBytesRead());
    if (!status.ok()) co_return status;
  }
  loop_->watch.Enter(this, Phase::kWaiting);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await reader_.AdmitLarge(client_->disconnected.token()));
  loop_->watch.Enter(this, Phase::kReading, TransferTime(reader_.FrontBytes()));
  absl::Status status = co_await reader_.ReadLarge(frame);
  loop_->bytes_in.Add(reader_.TakeBytesRead());
  co_return status;
}

asio::awaitable<absl::Status> Connection::AwaitMemory() {
  loop_->watch.Enter(this, Phase::kWaiting);
  const auto grant =
      co_await settings_->budget->Acquire(1, absl::InfiniteFuture(), client_->disconnected.token());
  co_return grant.status();
}

absl::StatusOr<Message> Connection::Parse(Frame& frame, ReplyForm& form) {
  if (frame.header.op_code == OpCode::kQuery) {
    form.legacy = true;
    EVENKEEL_ASSIGN_OR_RETURN(const LegacyQuery query, ParseOpQuery(std::move(frame.payload)));
    return MakeMessage(query);
  }
  form.flags = FlagsOf(frame) & kChecksumPresent;
  return ParseOpMsg(frame.header, {frame.header_bytes, kHeaderBytes}, std::move(frame.payload));
}

asio::awaitable<absl::Status> Connection::Process(Frame& frame) {
  ReplyForm form;
  form.response_to = frame.header.request_id;
  if (frame.compression) {
    form.compressor = frame.compression->compressor;
    EVENKEEL_CO_RETURN_IF_ERROR(Unpack(frame));
  }
  const bool wants_reply = !(FlagsOf(frame) & kMoreToCome);
  absl::StatusOr<Message> message = Parse(frame, form);
  if (message.ok()) co_return co_await Execute(*std::move(message), form);
  if (Is(message.status(), kCloseConnection)) co_return message.status();
  if (!wants_reply) co_return absl::OkStatus();
  const Reply reply = settings_->handler->ErrorFor(message.status());
  co_return co_await Write(reply.body, form);
}

asio::awaitable<absl::Status> Connection::Execute(Message message, ReplyForm form) {
  const bool wants_reply = !message.more_to_come();
  for (;;) {
    loop_->watch.Enter(this, wants_reply ? Phase::kHandling : Phase::kUnwatched);
    loop_->requests.Add(1);
    message.operation = operation_ = NewOperationId();
    absl::StatusOr<Request> request =
        ParseRequest(std::move(message), base::WallClock::System()->Now());
    std::optional<Message> streamed;
    Reply reply;
    if (!request.ok()) {
      reply = settings_->handler->ErrorFor(request.status());
    } else {
      if (MayExhaust(*request)) streamed = request->message;
      waits_for_news_ = IsAwaitableHello(*request);
      if (request->facts && (request->facts->flags & kNeverCompressed)) form.compressor.reset();
      std::exception_ptr exception;
      try {
        reply = co_await settings_->handler->Handle(client_, *std::move(request));
      } catch (...) {
        exception = std::current_exception();
      }
      if (!pthread_equal(thread_, pthread_self())) co_await base::SwitchTo(loop_->executor);
      if (exception) reply = ReplyFor(exception);
    }
    loop_->requests_ended.Add(1);
    if (reply.close_connection) {
      co_return MakeError(ErrorCode::kInterrupted, "a fail point closes the connection");
    }
    if (!wants_reply) co_return absl::OkStatus();

    const bool more = streamed && reply.more_to_come && !stopping_;
    form.flags = (form.flags & ~kMoreToCome) | (more ? kMoreToCome : 0);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Write(reply.body, form));
    if (!more) co_return absl::OkStatus();
    form.response_to = last_reply_id_;
    message = NextExhaustRequest(*streamed, reply.body);
    co_await base::SwitchTo(loop_->executor);  // others come in between
  }
}

Reply Connection::ReplyFor(std::exception_ptr exception) {
  const std::string what = base::What(exception);
  if (const auto dropped = loop_->log_limiter.Admit()) {
    base::LogError("wire", "a request ended with an exception",
                   {{"connection", client_->connection_id},
                    {"request", OperationText(operation_)},
                    {"what", what},
                    {"lines_dropped", *dropped}});
  }
  return settings_->handler->ErrorFor(Error(ErrorCode::kInternalError, "exception: {}", what));
}

asio::awaitable<absl::Status> Connection::Write(const bson::Document& body, const ReplyForm& form) {
  if (body.SizeBytes() > kReplyBytesMax) {
    const absl::Status error =
        Error(ErrorCode::kBSONObjectTooLarge, "the reply has {} bytes; at most {} can be sent",
              body.SizeBytes(), kReplyBytesMax);
    const Reply instead = settings_->handler->ErrorFor(error);
    co_return co_await Write(instead.body, form);
  }
  Compose(body, form);
  error_code error;
  const size_t written = WriteAtOnce(error);
  if (error && error != asio::error::would_block && error != asio::error::try_again) {
    co_return Error(ErrorCode::kSocketException, "connection closed: {}", error.message());
  }
  loop_->bytes_out.Add(written);
  if (written == out_.bytes) co_return absl::OkStatus();

  // The peer is slow: what waits for it counts against the budget of all.
  const base::ByteBudget::Grant grant = settings_->budget->Force(out_.bytes);
  loop_->watch.Enter(this, Phase::kWriting, TransferTime(out_.bytes));
  std::array<asio::const_buffer, 3> rest;
  size_t skip = written;
  for (size_t i = 0; i < rest.size(); ++i) {
    const size_t cut = std::min(skip, out_.parts[i].size());
    rest[i] = out_.parts[i] + cut;
    skip -= cut;
  }
  const auto [failed, more] =
      co_await asio::async_write(stream_, rest, asio::as_tuple(asio::deferred));
  loop_->bytes_out.Add(more);
  if (failed)
    co_return Error(ErrorCode::kSocketException, "connection closed: {}", failed.message());
  co_return absl::OkStatus();
}

size_t Connection::WriteAtOnce(error_code& error) {
  return stream_.encrypted() ? 0 : stream_.socket().write_some(out_.parts, error);
}

void Connection::Compose(const bson::Document& body, const ReplyForm& form) {
  last_reply_id_ = last_reply_id_ == std::numeric_limits<int32_t>::max() ? 1 : last_reply_id_ + 1;
  const bson::View view = body.view();
  out_.parts = {};
  if (form.legacy || form.compressor) {
    out_.whole = form.legacy ? EncodeOpReply(last_reply_id_, form.response_to, view)
                             : EncodeCompressed(view, form);
    out_.parts[0] = asio::buffer(out_.whole);
    out_.bytes = out_.whole.size();
    return;
  }
  out_.whole.clear();
  WriteOpMsgPrefix(last_reply_id_, form.response_to, form.flags, view, out_.prefix.data());
  out_.parts[0] = asio::buffer(out_.prefix);
  out_.parts[1] = asio::buffer(view.data(), view.SizeBytes());
  out_.bytes = out_.prefix.size() + view.SizeBytes();
  if (form.flags & kChecksumPresent) {
    const uint32_t crc = Crc32c(view.Bytes(), Crc32c({out_.prefix.data(), out_.prefix.size()}));
    std::memcpy(out_.checksum.data(), &crc, sizeof(crc));
    out_.parts[2] = asio::buffer(out_.checksum);
    out_.bytes += out_.checksum.size();
  }
}

std::string Connection::EncodeCompressed(bson::View body, const ReplyForm& form) {
  std::string plain =
      EncodeOpMsg(last_reply_id_, form.response_to, form.flags & ~kChecksumPresent, body);
  const MessageHeader header{static_cast<int32_t>(plain.size()), last_reply_id_, form.response_to,
                             OpCode::kMsg};
  std::optional<std::string> packed =
      Compress(*form.compressor, header, std::string_view(plain).substr(kHeaderBytes));
  return packed ? *std::move(packed) : plain;
}

absl::Duration Connection::TransferTime(size_t bytes) const {
  return settings_->transfer_time_max +
         absl::Seconds(bytes / settings_->transfer_bytes_per_second_min);
}

void Connection::LogEnd(const absl::Status& status) {
  // A peer that goes away is no news; broken streams, slow peers and exceptions are.
  const bool news = too_long_ || (!status.ok() && CodeOf(status) != ErrorCode::kSocketException &&
                                  CodeOf(status) != ErrorCode::kInterrupted);
  if (!news) return;
  if (const auto dropped = loop_->log_limiter.Admit()) {
    base::LogWarning("wire", "closed a connection",
                     {{"connection", client_->connection_id},
                      {"remote", client_->remote},
                      {"reason", too_long_ ? "transfer took too long" : MessageOf(status)},
                      {"lines_dropped", *dropped}});
  }
}

void Connection::PeerGone() { client_->disconnected.Cancel(); }

void Connection::TookTooLong() {
  too_long_ = true;
  Close();
}

void Connection::Stop() {
  stopping_ = true;
  if (!handling_ || waits_for_news_) Abort();
}

void Connection::Abort() {
  stopping_ = true;
  client_->disconnected.Cancel();
  Close();
}

void Connection::Close() { stream_.Close(); }

}  // namespace evenkeel::wire
