// Implements the load generator's operations with the C driver.
#include "bench/load/client.h"

#include <fmt/format.h>

#include <vector>

#include "base/status.h"
#include "bench/load/key_chooser.h"

namespace evenkeel::bench {
namespace {

constexpr size_t kTextBytes = 1u << 20;

// A bson_t that is destroyed with its scope.
class Bson {
 public:
  Bson() { bson_init(&bson_); }
  ~Bson() { bson_destroy(&bson_); }
  Bson(const Bson&) = delete;
  Bson& operator=(const Bson&) = delete;
  bson_t* operator&() {
    return &bson_;
  }  // NOLINT(google-runtime-operator): reads like a plain bson_t

 private:
  bson_t bson_;
};

absl::Status StatusOf(bool good, const bson_error_t& error) {
  if (good) return absl::OkStatus();
  return MakeError(static_cast<ErrorCode>(error.code), error.message);
}

absl::Status Missing(uint64_t number) {
  return Error(ErrorCode::kOperationFailed, "record {} is not there", RecordId(number));
}

// Printable text made once; fields are cut from it at random places.
const std::string& Text() {
  static const std::string* const text = [] {
    auto* made = new std::string(kTextBytes, ' ');
    base::Random random(1);
    for (char& c : *made) c = static_cast<char>('!' + random.Uniform('~' - '!'));
    return made;
  }();
  return *text;
}

std::string_view RandomText(int bytes, base::Random& random) {
  const auto length = static_cast<size_t>(bytes);
  return std::string_view(Text()).substr(random.Uniform(kTextBytes - length), length);
}

void AppendText(bson_t* bson, std::string_view key, std::string_view text) {
  bson_append_utf8(bson, key.data(), static_cast<int>(key.size()), text.data(),
                   static_cast<int>(text.size()));
}

// The ObjectId of a driver's process that makes them one after another.
bson_oid_t ObjectIdOf(uint64_t number) {
  constexpr uint64_t kCounterBits = 24;
  constexpr uint64_t kFirstSecond = 0x65000000;
  const uint64_t second = kFirstSecond + (number >> kCounterBits);
  bson_oid_t id = {{0, 0, 0, 0, 'b', 'e', 'n', 'c', 'h', 0, 0, 0}};
  for (int i = 0; i < 4; ++i) id.bytes[i] = static_cast<uint8_t>(second >> (24 - 8 * i));
  for (int i = 0; i < 3; ++i) id.bytes[9 + i] = static_cast<uint8_t>(number >> (16 - 8 * i));
  return id;
}

void AppendId(bson_t* bson, const char* key, uint64_t number, RecordShape shape) {
  if (shape.object_ids) {
    const bson_oid_t id = ObjectIdOf(number);
    bson_append_oid(bson, key, -1, &id);
  } else {
    AppendText(bson, key, RecordId(number));
  }
}

void AppendRecord(bson_t* bson, uint64_t number, RecordShape shape, base::Random& random) {
  AppendId(bson, "_id", number, shape);
  for (int i = 0; i < shape.field_count; ++i) {
    AppendText(bson, fmt::format("field{}", i), RandomText(shape.field_bytes, random));
  }
}

}  // namespace

std::string RecordId(uint64_t number) { return fmt::format("user{:012}", Scatter(number)); }

absl::StatusOr<std::unique_ptr<Client>> Client::Open(const std::string& uri) {
  mongoc_client_t* client = mongoc_client_new(uri.c_str());
  if (client == nullptr) return Error(ErrorCode::kBadValue, "malformed URI '{}'", uri);
  mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
  return std::unique_ptr<Client>(new Client(client));
}

Client::~Client() {
  if (collection_ != nullptr) mongoc_collection_destroy(collection_);
  mongoc_client_destroy(client_);
}

absl::Status Client::Ping() {
  Bson command;
  bson_append_int32(&command, "ping", 4, 1);
  bson_error_t error;
  return StatusOf(
      mongoc_client_command_simple(client_, "admin", &command, nullptr, nullptr, &error), error);
}

absl::Status Client::RunCommand(const std::string& database, const std::string& json) {
  bson_error_t error;
  bson_t* command = bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()),
                                       static_cast<ssize_t>(json.size()), &error);
  if (command == nullptr) return MakeError(ErrorCode::kFailedToParse, error.message);
  const bool good =
      mongoc_client_command_simple(client_, database.c_str(), command, nullptr, nullptr, &error);
  bson_destroy(command);
  return StatusOf(good, error);
}

void Client::Use(const std::string& database, const std::string& collection, RecordShape shape) {
  shape_ = shape;
  if (collection_ != nullptr) mongoc_collection_destroy(collection_);
  collection_ = mongoc_client_get_collection(client_, database.c_str(), collection.c_str());
}

absl::Status Client::DropCollection() {
  bson_error_t error;
  const bool good = mongoc_collection_drop(collection_, &error);
  if (!good && static_cast<ErrorCode>(error.code) == ErrorCode::kNamespaceNotFound) {
    return absl::OkStatus();
  }
  return StatusOf(good, error);
}

absl::Status Client::InsertRecord(uint64_t number, base::Random& random) {
  Bson command;
  AppendText(&command, "insert", mongoc_collection_get_name(collection_));
  bson_t documents, record;
  bson_append_array_begin(&command, "documents", 9, &documents);
  bson_append_document_begin(&documents, "0", 1, &record);
  AppendRecord(&record, number, shape_, random);
  bson_append_document_end(&documents, &record);
  bson_append_array_end(&command, &documents);
  Bson reply;
  bson_destroy(&reply);  // the driver initialises it
  bson_error_t error;
  const bool good =
      mongoc_collection_write_command_with_opts(collection_, &command, nullptr, &reply, &error);
  bson_iter_t errors;
  if (good && bson_iter_init_find(&errors, &reply, "writeErrors")) {
    return Error(ErrorCode::kDuplicateKey, "record {} is there already", RecordId(number));
  }
  return StatusOf(good, error);
}

absl::Status Client::InsertRecords(uint64_t first, int count, base::Random& random) {
  std::vector<bson_t*> records;
  for (int i = 0; i < count; ++i) {
    records.push_back(bson_new());
    AppendRecord(records.back(), first + static_cast<uint64_t>(i), shape_, random);
  }
  Bson options;
  bson_append_bool(&options, "ordered", 7, false);
  bson_error_t error;
  const bool good =
      mongoc_collection_insert_many(collection_, const_cast<const bson_t**>(records.data()),
                                    records.size(), &options, nullptr, &error);
  for (bson_t* record : records) bson_destroy(record);
  return StatusOf(good, error);
}

// Sent as a command, as a ping is: the driver's cursor costs the client more than the whole read
// costs a server, and the goal is about the server.
absl::Status Client::ReadRecord(uint64_t number) {
  Bson command;
  AppendText(&command, "find", mongoc_collection_get_name(collection_));
  bson_t filter;
  bson_append_document_begin(&command, "filter", 6, &filter);
  AppendId(&filter, "_id", number, shape_);
  bson_append_document_end(&command, &filter);
  bson_append_int64(&command, "limit", 5, 1);
  bson_append_bool(&command, "singleBatch", 11, true);
  Bson reply;
  bson_destroy(&reply);  // the driver initialises it
  bson_error_t error;
  const bool good =
      mongoc_collection_command_simple(collection_, &command, nullptr, &reply, &error);
  bson_iter_t iter, record;
  const bool found = bson_iter_init(&iter, &reply) &&
                     bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &record);
  if (good && !found) return Missing(number);
  return StatusOf(good, error);
}

absl::Status Client::UpdateRecord(uint64_t number, base::Random& random) {
  Bson filter;
  AppendId(&filter, "_id", number, shape_);
  Bson update;
  bson_t set;
  bson_append_document_begin(&update, "$set", 4, &set);
  const uint64_t field = random.Uniform(static_cast<uint64_t>(shape_.field_count));
  AppendText(&set, fmt::format("field{}", field), RandomText(shape_.field_bytes, random));
  bson_append_document_end(&update, &set);
  Bson reply;
  bson_error_t error;
  bson_destroy(&reply);  // the driver initialises it
  const bool good =
      mongoc_collection_update_one(collection_, &filter, &update, nullptr, &reply, &error);
  bson_iter_t iter;
  const bool matched =
      bson_iter_init_find(&iter, &reply, "matchedCount") && bson_iter_as_int64(&iter) == 1;
  if (good && !matched) return Missing(number);
  return StatusOf(good, error);
}

absl::Status Client::ScanRecords(uint64_t number, int count) {
  Bson filter;
  bson_t range;
  bson_append_document_begin(&filter, "_id", 3, &range);
  AppendId(&range, "$gte", number, shape_);
  bson_append_document_end(&filter, &range);
  Bson options;
  bson_t sort;
  bson_append_document_begin(&options, "sort", 4, &sort);
  bson_append_int32(&sort, "_id", 3, 1);
  bson_append_document_end(&options, &sort);
  bson_append_int64(&options, "limit", 5, count);
  mongoc_cursor_t* cursor =
      mongoc_collection_find_with_opts(collection_, &filter, &options, nullptr);
  const bson_t* record = nullptr;
  while (mongoc_cursor_next(cursor, &record)) {
  }
  bson_error_t error;
  const absl::Status status = StatusOf(!mongoc_cursor_error(cursor, &error), error);
  mongoc_cursor_destroy(cursor);
  return status;
}

}  // namespace evenkeel::bench
