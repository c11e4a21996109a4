// Tests of connections over loopback: framing, order, errors, packing, streaming.
#include "wire/net/connection.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/async/wait.h"
#include "base/random.h"
#include "base/thread.h"
#include "tests/unit/wire/net/harness.h"

namespace evenkeel::wire {
namespace {

TEST(Connection, AnswersRequests) {
  TestServer test(Echo);
  Peer peer(test);
  for (int i = 1; i <= 3; ++i) {
    const auto reply =
        peer.Call(R"({"ping": )" + std::to_string(i) + R"(, "$db": "admin"})", 100 + i);
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->header.response_to, 100 + i);
    EXPECT_EQ(reply->header.request_id, i);
    EXPECT_EQ(reply->header.op_code, OpCode::kMsg);
    EXPECT_EQ(reply->flags, 0u);
    EXPECT_EQ(reply->body()["n"].AsInt32(), i);
  }
}

TEST(Connection, FillsInTheClient) {
  TestServer test([](Client client, Request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("id", client->connection_id).Append("remote", client->remote);
    co_return OkReply(builder.Finish());
  });
  Peer first(test);
  Peer second(test);
  EXPECT_EQ(first.Call(kPing)->body()["id"].AsInt64(), 1);
  const auto reply = second.Call(kPing);
  EXPECT_EQ(reply->body()["id"].AsInt64(), 2);
  EXPECT_TRUE(reply->body()["remote"].AsString().starts_with("127.0.0.1:"));
}

TEST(Connection, TakesBytesOneByOne) {
  TestServer test(Echo);
  Peer peer(test);
  const std::string bytes = Peer::Command(kPing) + Peer::Command(kPing);
  for (const char byte : bytes) ASSERT_TRUE(peer.Send(std::string_view(&byte, 1)));
  EXPECT_TRUE(peer.Receive().has_value());
  EXPECT_TRUE(peer.Receive().has_value());
}

TEST(Connection, AnswersPipelinedRequestsInOrder) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    // The first ones take longest.
    for (int i = request.argument.AsInt32(); i < 20; ++i) {
      co_await base::SwitchTo(co_await boost::asio::this_coro::executor);
    }
    co_return co_await Echo(nullptr, std::move(request));
  });
  Peer peer(test);
  constexpr int kCount = 1000;  // more than the read buffer holds
  std::string bytes;
  for (int i = 0; i < kCount; ++i) {
    bytes += Peer::Command(R"({"ping": )" + std::to_string(i) + R"(, "$db": "admin"})", 0, i);
  }
  ASSERT_TRUE(peer.Send(bytes));
  for (int i = 0; i < kCount; ++i) {
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply.has_value());
    ASSERT_EQ(reply->header.response_to, i);
    ASSERT_EQ(reply->body()["n"].AsInt32(), i);
  }
}

TEST(Connection, TakesMessagesOfEverySize) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("x", request.body()["x"]);
    co_return OkReply(builder.Finish());
  });
  Peer peer(test);
  constexpr size_t kBuffer = kReadBufferBytes;
  for (const size_t size :
       {size_t{0}, size_t{1}, kBuffer - 100, kBuffer - 70, kBuffer - 50, kBuffer, kBuffer + 1,
        3 * kBuffer, size_t{300'000}, size_t{5'000'000}, size_t{16'000'000}}) {
    bson::Builder builder;
    builder.Append("ping", 1).Append("$db", "d").Append("x", std::string(size, 'x'));
    ASSERT_TRUE(peer.Send(EncodeOpMsg(1, 0, 0, builder.Finish())));
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply.has_value()) << size;
    EXPECT_EQ(reply->body()["x"].AsString().size(), size);
  }
  EXPECT_EQ(test.server.stats().in_flight_bytes, 0u);
}

TEST(Connection, TakesTheLargestMessage) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append(
        "n", static_cast<int32_t>(request.message.FindSequence("documents")->documents.size()));
    co_return OkReply(builder.Finish());
  });
  Peer peer(test);
  bson::Builder builder;
  builder.Append("x", std::string(15'900'000, 'x'));
  const bson::Document document = builder.Finish();
  Message message = MakeMessage(Json(R"({"insert": "c", "$db": "d"})"));
  message.sequences.push_back({"documents", {document.view(), document.view(), document.view()}});
  ASSERT_TRUE(peer.Send(EncodeOpMsg(1, 0, message)));
  EXPECT_EQ(peer.Receive()->body()["n"].AsInt32(), 3);
}

TEST(Connection, ClosesABrokenStream) {
  TestServer test(Echo);
  const std::string ping = Peer::Command(kPing);
  std::string bad_checksum = EncodeOpMsg(1, 0, kChecksumPresent, Json(kPing));
  bad_checksum.back() = static_cast<char>(bad_checksum.back() ^ 1);
  const struct {
    const char* what;
    std::string bytes;
  } cases[] = {
      {"negative length", Int32Bytes(-5) + ping.substr(4)},
      {"length zero", Int32Bytes(0) + ping.substr(4)},
      {"length below a header", Int32Bytes(15) + ping.substr(4)},
      {"length above the limit", Int32Bytes(limits::kMessageBytesMax + 1) + ping.substr(4)},
      {"unknown op code", ping.substr(0, 12) + Int32Bytes(2001) + ping.substr(16)},
      {"unknown required flag", ping.substr(0, 16) + Int32Bytes(1 << 5) + ping.substr(20)},
      {"header only", Framed(OpCode::kMsg, "")},
      {"bad checksum", bad_checksum},
      {"OP_QUERY of a collection",
       Framed(OpCode::kQuery, Int32Bytes(0) + std::string("d.c\0", 4) + std::string(20, '\0'))},
      {"compressed too short", Framed(OpCode::kCompressed, "1234")},
      {"unknown compressor",
       Framed(OpCode::kCompressed, Int32Bytes(2013) + Int32Bytes(5) + "\x09" + "12345")},
      {"bomb", Framed(OpCode::kCompressed,
                      Int32Bytes(2013) + Int32Bytes(40'000'000) + "\x03" + std::string(100, 'x'))},
      {"http", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
  };
  for (const auto& bad : cases) {
    Peer peer(test);
    ASSERT_TRUE(peer.Call(kPing).has_value());
    ASSERT_TRUE(peer.Send(bad.bytes));
    EXPECT_TRUE(peer.IsClosed()) << bad.what;
  }
  Peer peer(test);
  EXPECT_TRUE(peer.Call(kPing).has_value()) << "the server lives on";
}

TEST(Connection, SurvivesNoise) {
  TestServer test(Echo);
  base::Random random(3);
  for (int i = 0; i < 50; ++i) {
    Peer peer(test);
    std::string bytes = Peer::Command(kPing);
    for (int change = 0; change < 3; ++change) {
      bytes[4 + random.Uniform(bytes.size() - 4)] = static_cast<char>(random.Next64());
    }
    peer.Send(bytes);
    peer.Send(random.Bytes(random.Uniform(100)));
  }
  test.handler.AwaitEnded(50);
  Peer peer(test);
  EXPECT_TRUE(peer.Call(kPing).has_value());
}

TEST(Connection, AnswersABadMessageAndGoesOn) {
  TestServer test(Echo);
  Peer peer(test);
  const struct {
    const char* what;
    std::string bytes;
    int code;
  } cases[] = {
      {"no BSON", Framed(OpCode::kMsg, MsgPayload(0, std::string("\0\x08\0\0\0\x50x\0\0", 9))), 22},
      {"no body", Framed(OpCode::kMsg, MsgPayload(0, "")), 40587},
      {"empty command", Peer::Command("{}"), 9},
      {"no database", Peer::Command(R"({"ping": 1})"), 40571},
      {"bad argument", Peer::Command(R"({"ping": 1, "$db": "d", "maxTimeMS": "x"})"), 14},
  };
  for (const auto& bad : cases) {
    ASSERT_TRUE(peer.Send(bad.bytes));
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply.has_value()) << bad.what;
    EXPECT_EQ(reply->body()["code"].AsInt32(), bad.code) << bad.what;
  }
  EXPECT_TRUE(peer.Call(kPing).has_value());
}

TEST(Connection, AnswersAChecksumByAChecksum) {
  TestServer test(Echo);
  Peer peer(test);
  ASSERT_TRUE(peer.Send(EncodeOpMsg(1, 0, kChecksumPresent, Json(kPing))));
  const auto head = peer.Bytes(kHeaderBytes);
  const auto payload =
      peer.Bytes(static_cast<size_t>(ParseHeader(*head)->length_bytes) - kHeaderBytes);
  const auto message = ParseWhole(*head + *payload);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->flags, kChecksumPresent);
}

TEST(Connection, MoreToComeGetsNoReply) {
  int handled = 0;
  TestServer test([&handled](Client client, Request request) -> awaitable<Reply> {
    ++handled;
    return Echo(std::move(client), std::move(request));
  });
  Peer peer(test);
  ASSERT_TRUE(peer.Send(Peer::Command(R"({"ping": 1, "$db": "d"})", kMoreToCome) +
                        Peer::Command("{}", kMoreToCome) +
                        Framed(OpCode::kMsg, MsgPayload(kMoreToCome, "")) +
                        Peer::Command(R"({"ping": 2, "$db": "d"})")));
  const auto reply = peer.Receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->body()["n"].AsInt32(), 2);
  EXPECT_EQ(handled, 2);
}

TEST(Connection, AnswersTheLegacyHandshake) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("db", request.database).Append("name", request.name);
    co_return OkReply(builder.Finish());
  });
  Peer peer(test);
  const auto query = [](const char* json) {
    return Framed(OpCode::kQuery, Int32Bytes(0) + std::string("admin.$cmd\0", 11) + Int32Bytes(0) +
                                      Int32Bytes(-1) + Json(json).bytes());
  };
  ASSERT_TRUE(peer.Send(query(R"({"isMaster": 1, "helloOk": true})")));
  auto reply = peer.Receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->header.op_code, OpCode::kReply);
  EXPECT_EQ(reply->header.response_to, 7);
  EXPECT_EQ(reply->body()["name"].AsString(), "isMaster");
  EXPECT_EQ(reply->body()["db"].AsString(), "admin");
  ASSERT_TRUE(peer.Send(query(R"({"find": "c"})")));
  reply = peer.Receive();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->header.op_code, OpCode::kReply);
  EXPECT_EQ(reply->body()["code"].AsInt32(), 352);
}

TEST(Connection, AnswersPackedRequestsPacked) {
  TestServer test([](Client, Request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("x", std::string(1000, 'x'));
    co_return OkReply(builder.Finish());
  });
  Peer peer(test);
  const auto packed = [](Compressor compressor, const std::string& json) {
    const std::string plain = Peer::Command(json, 0, 9);
    const auto whole = Compress(compressor, *ParseHeader(plain), plain.substr(kHeaderBytes));
    return *whole;
  };
  const std::string padding = R"(, "comment": ")" + std::string(200, 'c') + "\"}";
  for (const Compressor compressor : {Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    ASSERT_TRUE(peer.Send(packed(compressor, R"({"ping": 1, "$db": "d")" + padding)));
    auto reply = peer.Receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_TRUE(reply->packed);
    EXPECT_EQ(reply->header.response_to, 9);
    EXPECT_EQ(reply->body()["x"].AsString().size(), 1000u);
    ASSERT_TRUE(peer.Send(packed(compressor, R"({"hello": 1, "$db": "d")" + padding)));
    reply = peer.Receive();
    EXPECT_FALSE(reply->packed) << "the handshake is never packed";
    reply = peer.Call(kPing);
    EXPECT_FALSE(reply->packed) << "an answer to a plain request";
  }
}

TEST(Connection, UnpacksLargeMessagesWithinTheBudget) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("n", static_cast<int64_t>(request.body()["x"].AsString().size()));
    co_return OkReply(builder.Finish());
  });
  Peer peer(test);
  bson::Builder builder;
  builder.Append("ping", 1).Append("$db", "d").Append("x", std::string(10'000'000, 'x'));
  const std::string plain = EncodeOpMsg(1, 0, 0, builder.Finish());
  const auto whole = Compress(Compressor::kZstd, *ParseHeader(plain), plain.substr(kHeaderBytes));
  ASSERT_TRUE(peer.Send(*whole));
  EXPECT_EQ(peer.Receive()->body()["n"].AsInt64(), 10'000'000);
  EXPECT_EQ(test.server.stats().in_flight_bytes, 0u);
}

TEST(Connection, StreamsRepliesOfGetMore) {
  int calls = 0;
  TestServer test([&calls](Client, Request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("call", ++calls);
    Reply reply = OkReply(builder.Finish());
    reply.more_to_come = calls % 4 != 0;
    co_return reply;
  });
  Peer peer(test);
  const char* get_more = R"({"getMore": {"$numberLong": "5"}, "collection": "c", "$db": "d"})";
  ASSERT_TRUE(peer.Send(Peer::Command(get_more, kExhaustAllowed, 50)));
  int32_t response_to = 50;
  for (int i = 1; i <= 4; ++i) {
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->body()["call"].AsInt32(), i);
    EXPECT_EQ(reply->flags, i < 4 ? kMoreToCome : 0u);
    EXPECT_EQ(reply->header.response_to, response_to);
    response_to = reply->header.request_id;
  }
  // Without the flag, and for other commands, one request has one reply.
  EXPECT_EQ(peer.Call(get_more)->flags, 0u);
  ASSERT_TRUE(peer.Send(Peer::Command(R"({"find": "c", "$db": "d"})", kExhaustAllowed)));
  EXPECT_EQ(peer.Receive()->flags, 0u);
  EXPECT_EQ(peer.Call(get_more)->body()["call"].AsInt32(), 7);
}

TEST(Connection, StreamedHelloWaitsForTheNextVersion) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    const int32_t seen = request.body()["topologyVersion"].AsInt32();
    bson::Builder builder;
    builder.Append("topologyVersion", seen + 1);
    Reply reply = OkReply(builder.Finish());
    reply.more_to_come = seen < 12;
    co_return reply;
  });
  Peer peer(test);
  ASSERT_TRUE(peer.Send(
      Peer::Command(R"({"hello": 1, "topologyVersion": 10, "$db": "admin"})", kExhaustAllowed)));
  for (int version = 11; version <= 13; ++version) {
    const auto reply = peer.Receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->body()["topologyVersion"].AsInt32(), version);
    EXPECT_EQ(reply->flags, version < 13 ? kMoreToCome : 0u);
  }
}

TEST(Connection, StreamsLetOthersIn) {
  // Neither the handler nor the writes of this stream ever suspend by themselves.
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    Reply reply = OkReply();
    reply.more_to_come = request.name == "getMore";
    co_return reply;
  });
  Peer stream(test);
  ASSERT_TRUE(stream.Send(
      Peer::Command(R"({"getMore": {"$numberLong": "5"}, "$db": "d"})", kExhaustAllowed)));
  absl::Notification answered;
  base::Thread reading("reading", [&] {
    while (!answered.HasBeenNotified() && stream.Receive().has_value()) {
    }
  });
  Peer other(test);
  EXPECT_TRUE(other.Call(kPing).has_value());
  answered.Notify();
  reading.Join();
}

TEST(Connection, StreamEndsWithItsPeer) {
  TestServer test([](Client, Request) -> awaitable<Reply> {
    co_await base::SwitchTo(co_await boost::asio::this_coro::executor);
    bson::Builder builder;
    builder.Append("x", std::string(100'000, 'x'));
    Reply reply = OkReply(builder.Finish());
    reply.more_to_come = true;
    co_return reply;
  });
  Peer peer(test);
  ASSERT_TRUE(peer.Send(
      Peer::Command(R"({"getMore": {"$numberLong": "5"}, "$db": "d"})", kExhaustAllowed)));
  ASSERT_TRUE(peer.Receive().has_value());
  peer.Close();
  test.handler.AwaitEnded(1);
}

TEST(Connection, ExceptionOfAHandlerIsAnError) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    if (request.name == "insert") throw std::runtime_error("broken");
    co_return OkReply();
  });
  Peer peer(test);
  const auto reply = peer.Call(R"({"insert": "c", "$db": "d"})");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->body()["code"].AsInt32(), 1);
  EXPECT_EQ(reply->body()["errmsg"].AsString(), "exception: broken");
  EXPECT_TRUE(peer.Call(kPing).has_value());
}

TEST(Connection, ClosesInsteadOfAnsweringWhenToldTo) {
  TestServer test([](Client, Request request) -> awaitable<Reply> {
    Reply reply = OkReply();
    reply.close_connection = request.name == "insert";
    co_return reply;
  });
  Peer peer(test);
  EXPECT_TRUE(peer.Call(kPing).has_value());
  EXPECT_FALSE(peer.Call(R"({"insert": "c", "$db": "d"})").has_value());
  test.handler.AwaitEnded(1);
}

TEST(Connection, ReplacesRepliesThatCannotBeSent) {
  TestServer test([](Client, Request) -> awaitable<Reply> {
    bson::Builder builder;
    builder.Append("x", std::string(limits::kMessageBytesMax, 'x'));
    co_return OkReply(builder.Finish());
  });
  Peer peer(test);
  const auto reply = peer.Call(kPing);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->body()["code"].AsInt32(), 10334);
}

TEST(Connection, ComesBackToItsLoop) {
  base::EventLoop pool("pool");
  TestServer test([&pool](Client, Request) -> awaitable<Reply> {
    co_await base::SwitchTo(pool.executor());
    co_return OkReply();
  });
  Peer peer(test);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(peer.Call(kPing).has_value());
}

}  // namespace
}  // namespace evenkeel::wire
