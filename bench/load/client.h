// One connection through the C driver: the only file of the load generator that knows its types.
//
// A client belongs to one thread. Records are documents {_id: "user…", field0 … fieldN} as YCSB
// defines them.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <mongoc/mongoc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"

namespace evenkeel::bench {

// How records look.
struct RecordShape {
  int field_count = 10;
  int field_bytes = 100;
  bool object_ids = false;  // `_id`s that rise, as drivers make them; else RecordId
};

class Client {
 public:
  // Connects lazily, with the first operation. Errors: BadValue for a malformed URI.
  static absl::StatusOr<std::unique_ptr<Client>> Open(const std::string& uri);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::Status Ping();
  // Runs a command given as JSON. Errors: the server's code and message.
  absl::Status RunCommand(const std::string& database, const std::string& json);

  // Chooses the collection that the operations below use, and how its records look.
  void Use(const std::string& database, const std::string& collection, RecordShape shape);
  absl::Status DropCollection();
  absl::Status InsertRecord(uint64_t number, base::Random& random);
  // Inserts records `first` … `first + count - 1` with one insertMany, unordered.
  absl::Status InsertRecords(uint64_t first, int count, base::Random& random);
  // Errors: OperationFailed when the record is not there.
  absl::Status ReadRecord(uint64_t number);
  // Sets one field of the record to new text. Errors: OperationFailed when the record is not there.
  absl::Status UpdateRecord(uint64_t number, base::Random& random);
  // Reads `count` records from this one on in the order of _id.
  absl::Status ScanRecords(uint64_t number, int count);

 private:
  explicit Client(mongoc_client_t* client) : client_(client) {}

  mongoc_client_t* client_;
  mongoc_collection_t* collection_ = nullptr;
  RecordShape shape_;
};

// "user" and twelve or more digits that look random: the order of insertion is not the order of
// keys.
std::string RecordId(uint64_t number);

}  // namespace evenkeel::bench
