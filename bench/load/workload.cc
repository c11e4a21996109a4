// Implements the workers: which operation comes next, on which record.
#include "bench/load/workload.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"

namespace evenkeel::bench {
namespace {

constexpr int kScanCountMax = 100;
// The newest records may still be on their way from another thread; reads stay this far behind.
constexpr uint64_t kInFlightMax = 256;

constexpr Mix kYcsb[] = {
    {.name = "A", .meaning = "half reads, half updates", .read = 50, .update = 50},
    {.name = "B", .meaning = "mostly reads, some updates", .read = 95, .update = 5},
    {.name = "C", .meaning = "reads only", .read = 100},
    {.name = "D",
     .meaning = "reads of the newest, some inserts",
     .read = 95,
     .insert = 5,
     .keys = KeyOrder::kLatest},
    {.name = "E", .meaning = "short scans, some inserts", .insert = 5, .scan = 95},
    {.name = "F",
     .meaning = "half reads, half read-modify-writes",
     .read = 50,
     .read_modify_write = 50},
};

class PingWorker : public Worker {
 public:
  explicit PingWorker(std::unique_ptr<Client> client) : client_(std::move(client)) {}

  absl::StatusOr<Operation> Step() override {
    EVENKEEL_RETURN_IF_ERROR(client_->Ping());
    return Operation::kPing;
  }

 private:
  std::unique_ptr<Client> client_;
};

// One client per collection, so that a change of collection costs nothing.
absl::StatusOr<std::vector<std::unique_ptr<Client>>> OpenClients(const Records& records) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < records.collection_count; ++i) {
    EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, Client::Open(records.uri));
    client->Use(records.database, records.CollectionName(i), records.shape);
    clients.push_back(std::move(client));
  }
  return clients;
}

class MixWorker : public Worker {
 public:
  MixWorker(Records& records, const Mix& mix, std::vector<std::unique_ptr<Client>> clients,
            int thread)
      : records_(records),
        mix_(mix),
        clients_(std::move(clients)),
        keys_(mix.keys, 0x5EED + static_cast<uint64_t>(thread)) {}

  absl::StatusOr<Operation> Step() override {
    Client& client = *clients_[keys_.random().Uniform(clients_.size())];
    int die = static_cast<int>(keys_.random().Uniform(100));
    if ((die -= mix_.read) < 0) return Done(client.ReadRecord(Existing()), Operation::kRead);
    if ((die -= mix_.update) < 0) {
      return Done(client.UpdateRecord(Existing(), keys_.random()), Operation::kUpdate);
    }
    if ((die -= mix_.insert) < 0) {
      const uint64_t number = records_.next.fetch_add(1);
      return Done(client.InsertRecord(number, keys_.random()), Operation::kInsert);
    }
    if ((die -= mix_.scan) < 0) {
      const int count = 1 + static_cast<int>(keys_.random().Uniform(kScanCountMax));
      return Done(client.ScanRecords(Existing(), count), Operation::kScan);
    }
    const uint64_t number = Existing();
    EVENKEEL_RETURN_IF_ERROR(client.ReadRecord(number));
    return Done(client.UpdateRecord(number, keys_.random()), Operation::kReadModifyWrite);
  }

 private:
  static absl::StatusOr<Operation> Done(const absl::Status& status, Operation operation) {
    if (!status.ok()) return status;
    return operation;
  }

  uint64_t Existing() {
    const uint64_t next = records_.next.load(std::memory_order_relaxed);
    const bool grows = mix_.insert > 0 && next > kInFlightMax;
    return keys_.Next(std::max<uint64_t>(1, grows ? next - kInFlightMax : next));
  }

  Records& records_;
  const Mix& mix_;
  std::vector<std::unique_ptr<Client>> clients_;
  KeyChooser keys_;
};

class LoadWorker : public Worker {
 public:
  LoadWorker(Records& records, uint64_t end, int batch,
             std::vector<std::unique_ptr<Client>> clients, int thread)
      : records_(records),
        end_(end),
        batch_(batch),
        clients_(std::move(clients)),
        random_(0x10AD + static_cast<uint64_t>(thread)) {}

  bool Finished() const override { return records_.next.load() >= end_; }

  absl::StatusOr<Operation> Step() override {
    const uint64_t first = records_.next.fetch_add(static_cast<uint64_t>(batch_));
    const uint64_t last = std::min(end_, first + static_cast<uint64_t>(batch_));
    if (first >= last) return Operation::kInsertMany;
    for (const auto& client : clients_) {
      EVENKEEL_RETURN_IF_ERROR(
          client->InsertRecords(first, static_cast<int>(last - first), random_));
    }
    return Operation::kInsertMany;
  }

 private:
  Records& records_;
  const uint64_t end_;
  const int batch_;
  std::vector<std::unique_ptr<Client>> clients_;
  base::Random random_;
};

}  // namespace

std::span<const Mix> YcsbMixes() { return kYcsb; }

const Mix* FindMix(std::string_view name) {
  for (const Mix& mix : kYcsb) {
    if (name.size() == 1 &&
        absl::ascii_toupper(static_cast<unsigned char>(name[0])) == mix.name[0]) {
      return &mix;
    }
  }
  return nullptr;
}

std::string Records::CollectionName(int index) const {
  return collection_count == 1 ? collection : fmt::format("{}{}", collection, index);
}

absl::StatusOr<std::unique_ptr<Worker>> MakePingWorker(const std::string& uri) {
  EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, Client::Open(uri));
  EVENKEEL_RETURN_IF_ERROR(client->Ping());
  return std::make_unique<PingWorker>(std::move(client));
}

absl::StatusOr<std::unique_ptr<Worker>> MakeMixWorker(Records& records, const Mix& mix,
                                                      int thread) {
  EVENKEEL_ASSIGN_OR_RETURN(auto clients, OpenClients(records));
  for (const auto& client : clients) EVENKEEL_RETURN_IF_ERROR(client->Ping());
  return std::make_unique<MixWorker>(records, mix, std::move(clients), thread);
}

absl::StatusOr<std::unique_ptr<Worker>> MakeLoadWorker(Records& records, uint64_t end, int batch,
                                                       int thread) {
  EVENKEEL_ASSIGN_OR_RETURN(auto clients, OpenClients(records));
  for (const auto& client : clients) EVENKEEL_RETURN_IF_ERROR(client->Ping());
  return std::make_unique<LoadWorker>(records, end, batch, std::move(clients), thread);
}

absl::Status PrepareCollections(const Records& records) {
  EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, Client::Open(records.uri));
  for (int i = 0; i < records.collection_count; ++i) {
    const std::string name = records.CollectionName(i);
    client->Use(records.database, name, records.shape);
    EVENKEEL_RETURN_IF_ERROR(client->DropCollection());
    const absl::Status sharded = client->RunCommand(
        "admin", fmt::format(R"({{"shardCollection": "{}.{}", "key": {{"_id": "hashed"}}}})",
                             records.database, name));
    if (!sharded.ok() && CodeOf(sharded) != ErrorCode::kCommandNotFound) return sharded;
  }
  return absl::OkStatus();
}

}  // namespace evenkeel::bench
