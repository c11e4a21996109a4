// A shard made of scripts: answers a router's requests by functions or prepared replies, and
// remembers what it was asked.
//
// Used from the executor of the router under test only. Without Asio, so that tests compile fast;
// the channel is in harness_test.cc.
#pragma once

#include <absl/status/status.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "base/bson/json.h"

namespace evenkeel::base {
class Event;
}
namespace evenkeel::wire {
class ShardChannel;
struct Message;
}  // namespace evenkeel::wire

namespace evenkeel::router {

// Extended JSON that must be right.
bson::Document Json(std::string_view json);
// The reply of a shard to a failed command.
bson::Document FailedReply(const absl::Status& status);
bson::Document StaleReply();

class FakeShard {
 public:
  // One request: its body, with sequences appended as arrays.
  using Handler = std::function<bson::Document(bson::View request)>;

  // Answers every request of this command from now on.
  void On(std::string command, Handler handler) {
    handlers_[std::move(command)] = std::move(handler);
  }
  void On(std::string command, std::string_view json) {
    On(std::move(command), [reply = Json(json)](bson::View) { return reply; });
  }
  // Answers the next request of this command, before any handler; several queue up.
  void Next(std::string command, bson::Document reply) {
    scripted_[std::move(command)].push_back(std::move(reply));
  }
  void Next(std::string command, std::string_view json) { Next(std::move(command), Json(json)); }
  // Requests of this command wait until Release.
  void Hold(std::string command) { held_.insert(std::move(command)); }
  void Release();
  // The next request of this command gets no reply but this error of the channel.
  void BreakNext(std::string command, absl::Status error) {
    broken_[std::move(command)].push_back(std::move(error));
  }

  const std::vector<bson::Document>& requests() const { return requests_; }
  std::vector<bson::Document> RequestsOf(std::string_view command) const;
  void ForgetRequests() { requests_.clear(); }

  std::unique_ptr<wire::ShardChannel> MakeChannel();

 private:
  class Channel;
  bson::Document ReplyTo(const std::string& command, bson::View request);

  std::map<std::string, Handler> handlers_;
  std::map<std::string, std::deque<bson::Document>> scripted_;
  std::map<std::string, std::deque<absl::Status>> broken_;
  std::set<std::string> held_;
  std::vector<std::shared_ptr<base::Event>> waiting_;  // one per request: an event has one waiter
  std::vector<bson::Document> requests_;
};

}  // namespace evenkeel::router
