// A shard made of scripts: answers a router's requests by functions or prepared replies, and remembers what it was asked.
//
// Used from the executor of the router under test only.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "base/bson/json.h"
#include "base/check.h"
#include "base/status.h"
#include "wire/net/channel.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::tests {

// Extended JSON that must be right.
inline bson::Document Json(std::string_view json) {
  auto document = bson::FromJson(json);
  EVENKEEL_CHECK(document.ok());
  return *std::move(document);
}

// The reply of a shard to a failed command.
inline bson::Document FailedReply(const absl::Status& status) {
  wire::ReplyContext to_peer;
  to_peer.to_peer = true;
  return wire::ErrorReply(status, to_peer);
}

inline bson::Document StaleReply() {
  return FailedReply(MakeError(ErrorCode::kStaleConfig, "another version"));
}

class FakeShard {
 public:
  // One request: its body, with sequences appended as arrays.
  using Handler = std::function<bson::Document(bson::View request)>;

  // Answers every request of this command from now on.
  void On(std::string command, Handler handler) { handlers_[std::move(command)] = std::move(handler); }
  void On(std::string command, std::string_view json) {
    On(std::move(command), [reply = Json(json)](bson::View) { return reply; });
  }
  // Answers the next request of this command, before any handler; several queue up.
  void Next(std::string command, bson::Document reply) {
    scripted_[std::move(command)].push_back(std::move(reply));
  }
  void Next(std::string command, std::string_view json) { Next(std::move(command), Json(json)); }
  // Requests of this command wait until the event is set.
  void HoldUntil(std::string command, base::Event* gate) { gates_[std::move(command)] = gate; }
  // The next request of this command gets no reply but this error of the channel.
  void BreakNext(std::string command, absl::Status error) {
    broken_[std::move(command)].push_back(std::move(error));
  }

  const std::vector<bson::Document>& requests() const { return requests_; }
  std::vector<bson::Document> RequestsOf(std::string_view command) const {
    std::vector<bson::Document> found;
    for (const bson::Document& request : requests_) {
      if (request.view().Front().key == command) found.push_back(request);
    }
    return found;
  }
  void ForgetRequests() { requests_.clear(); }

  std::unique_ptr<wire::ShardChannel> MakeChannel() { return std::make_unique<Channel>(*this); }

 private:
  class Channel final : public wire::ShardChannel {
   public:
    explicit Channel(FakeShard& shard) : shard_(shard) {}
    boost::asio::awaitable<absl::StatusOr<wire::Message>> Call(
        wire::Message request, absl::Time deadline, base::CancellationToken cancelled) override {
      return shard_.Answer(std::move(request), deadline, std::move(cancelled));
    }

   private:
    FakeShard& shard_;
  };

  static bson::Document Flatten(const wire::Message& message) {
    bson::Builder flat(message.body);
    for (const wire::DocumentSequence& sequence : message.sequences) {
      flat.OpenArray(sequence.name);
      bson::ArrayAppender array(flat);
      for (const bson::View document : sequence.documents) array.Add(document);
      flat.Close();
    }
    return flat.Finish();
  }

  boost::asio::awaitable<absl::StatusOr<wire::Message>> Answer(wire::Message message,
                                                               absl::Time deadline,
                                                               base::CancellationToken cancelled) {
    const std::string command(message.body.Front().key);
    requests_.push_back(Flatten(message));
    const bson::Document request = requests_.back();
    // As a real shard: the answer comes later.
    co_await boost::asio::post(boost::asio::use_awaitable);
    if (const auto gate = gates_.find(command); gate != gates_.end()) {
      absl::Status status = co_await gate->second->Wait(deadline, cancelled);
      if (!status.ok()) co_return status;
    }
    if (auto& broken = broken_[command]; !broken.empty()) {
      absl::Status error = std::move(broken.front());
      broken.pop_front();
      co_return error;
    }
    auto reply = std::make_shared<const bson::Document>(ReplyTo(command, request));
    wire::Message answer;
    answer.body = reply->view();
    answer.owner = std::move(reply);
    co_return answer;
  }

  bson::Document ReplyTo(const std::string& command, bson::View request) {
    if (auto& scripted = scripted_[command]; !scripted.empty()) {
      bson::Document reply = std::move(scripted.front());
      scripted.pop_front();
      return reply;
    }
    const auto handler = handlers_.find(command);
    if (handler != handlers_.end()) return handler->second(request);
    return FailedReply(Error(ErrorCode::kCommandNotFound, "the fake has no answer to {}", command));
  }

  std::map<std::string, Handler> handlers_;
  std::map<std::string, std::deque<bson::Document>> scripted_;
  std::map<std::string, std::deque<absl::Status>> broken_;
  std::map<std::string, base::Event*> gates_;
  std::vector<bson::Document> requests_;
};

}  // namespace evenkeel::tests
