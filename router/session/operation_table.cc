// Operations by id, connections by theirs.
#include "router/session/operation_table.h"

#include <utility>

namespace evenkeel::router {
namespace {

// Ids are positive numbers of 32 bits, as tools expect them. The log shows the same number.
int32_t NumberOf(uint64_t operation) { return static_cast<int32_t>(operation & 0x7FFFFFFF); }

std::shared_ptr<const ClientFacts> FactsOf(const wire::ClientState& client) {
  auto facts = std::make_shared<ClientFacts>();
  facts->connection_id = client.connection_id;
  facts->remote = client.remote;
  if (!client.metadata.empty()) facts->metadata = bson::Document(client.metadata.view());
  return facts;
}

}  // namespace

OperationTable::Place OperationTable::Enter(const wire::ClientState& client,
                                            const wire::Request& request, absl::Time now) {
  auto operation = std::make_shared<Operation>(request, client.disconnected.token());
  operation->id = NumberOf(request.message.operation);
  operation->begun = now;
  absl::MutexLock lock(&mutex_);
  Connection& connection = connections_[client.connection_id];
  const bool knows_all =
      connection.facts && connection.facts->metadata.empty() == client.metadata.empty();
  if (!knows_all) connection.facts = FactsOf(client);
  ++connection.running;
  operation->client = connection.facts;
  while (operation->id == 0 || !running_.try_emplace(operation->id, operation).second)
    operation->id = NumberOf(static_cast<uint64_t>(operation->id) + 1);
  return {this, std::move(operation)};
}

void OperationTable::Leave(int32_t id) {
  absl::MutexLock lock(&mutex_);
  const auto found = running_.find(id);
  const auto connection = connections_.find(found->second->client->connection_id);
  if (connection != connections_.end()) --connection->second.running;
  running_.erase(found);
}

void OperationTable::Disconnected(int64_t connection_id) {
  absl::MutexLock lock(&mutex_);
  connections_.erase(connection_id);
}

bool OperationTable::Kill(int32_t id) {
  std::shared_ptr<Operation> operation;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = running_.find(id);
    if (found == running_.end()) return false;
    operation = found->second;
  }
  operation->killed.Cancel();
  return true;
}

void OperationTable::KillOfSession(std::string_view lsid, int32_t except) {
  std::vector<std::shared_ptr<Operation>> found;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, operation] : running_) {
      if (id != except && operation->lsid == lsid) found.push_back(operation);
    }
  }
  for (const auto& operation : found) operation->killed.Cancel();
}

std::vector<std::shared_ptr<const Operation>> OperationTable::Running() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<const Operation>> all;
  all.reserve(running_.size());
  for (const auto& [id, operation] : running_) all.push_back(operation);
  return all;
}

std::vector<std::shared_ptr<const ClientFacts>> OperationTable::Idle() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<const ClientFacts>> all;
  for (const auto& [id, connection] : connections_) {
    if (connection.running == 0) all.push_back(connection.facts);
  }
  return all;
}

}  // namespace evenkeel::router
