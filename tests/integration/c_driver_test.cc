// The C driver against a real server of three shards: every compressor, bulk writes, cursors,
// sessions, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mongoc/mongoc.h>

#include <memory>
#include <string>

#include "tests/lib/server_process.h"

namespace evenkeel::tests {
namespace {

using ::testing::HasSubstr;

constexpr int kShards = 3;

struct Deleter {
  void operator()(bson_t* bson) const { bson_destroy(bson); }
  void operator()(mongoc_client_t* client) const { mongoc_client_destroy(client); }
  void operator()(mongoc_collection_t* collection) const { mongoc_collection_destroy(collection); }
  void operator()(mongoc_cursor_t* cursor) const { mongoc_cursor_destroy(cursor); }
  void operator()(mongoc_bulk_operation_t* bulk) const { mongoc_bulk_operation_destroy(bulk); }
  void operator()(mongoc_client_session_t* session) const {
    mongoc_client_session_destroy(session);
  }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

// A document from JSON.
Owned<bson_t> Json(const std::string& json) {
  bson_error_t error;
  bson_t* bson = bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()),
                                    static_cast<ssize_t>(json.size()), &error);
  EXPECT_NE(bson, nullptr) << error.message;
  return Owned<bson_t>(bson);
}

std::string Text(const bson_t* bson) {
  char* json = bson_as_relaxed_extended_json(bson, nullptr);
  std::string text = json;
  bson_free(json);
  return text;
}

class CDriverTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    mongoc_init();
    server_ = new ServerProcess(kShards);
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0);
    delete server_;
    mongoc_cleanup();
  }

  void SetUp() override { client_ = Connect(""); }

  static Owned<mongoc_client_t> Connect(const std::string& options) {
    Owned<mongoc_client_t> client(mongoc_client_new((server_->uri() + options).c_str()));
    EXPECT_NE(client, nullptr);
    mongoc_client_set_error_api(client.get(), MONGOC_ERROR_API_VERSION_2);
    return client;
  }

  // A new collection sharded by a hash of `key`.
  Owned<mongoc_collection_t> Sharded(mongoc_client_t* client, const std::string& name,
                                     const std::string& key = "_id") {
    const Owned<bson_t> command = Json(R"({"shardCollection": "c_driver.)" + name +
                                       R"(", "key": {")" + key + R"(": "hashed"}})");
    bson_error_t error;
    EXPECT_TRUE(
        mongoc_client_command_simple(client, "admin", command.get(), nullptr, nullptr, &error))
        << error.message;
    return Owned<mongoc_collection_t>(
        mongoc_client_get_collection(client, "c_driver", name.c_str()));
  }

  static int64_t Count(mongoc_collection_t* collection, const std::string& filter = "{}") {
    bson_error_t error;
    const int64_t count = mongoc_collection_count_documents(collection, Json(filter).get(), nullptr,
                                                            nullptr, nullptr, &error);
    EXPECT_GE(count, 0) << error.message;
    return count;
  }

  // Inserts {_id: 0 … count - 1, n: _id} with one bulk operation.
  static void Fill(mongoc_collection_t* collection, int count) {
    const Owned<mongoc_bulk_operation_t> bulk(
        mongoc_collection_create_bulk_operation_with_opts(collection, nullptr));
    for (int i = 0; i < count; ++i) {
      const Owned<bson_t> document(BCON_NEW("_id", BCON_INT32(i), "n", BCON_INT32(i), "text",
                                            BCON_UTF8("some text, some text")));
      mongoc_bulk_operation_insert(bulk.get(), document.get());
    }
    bson_error_t error;
    EXPECT_NE(mongoc_bulk_operation_execute(bulk.get(), nullptr, &error), 0u) << error.message;
  }

  static inline ServerProcess* server_ = nullptr;
  Owned<mongoc_client_t> client_;
};

TEST_F(CDriverTest, LooksLikeAMongos) {
  bson_t reply;
  bson_error_t error;
  ASSERT_TRUE(mongoc_client_command_simple(client_.get(), "admin", Json(R"({"hello": 1})").get(),
                                           nullptr, &reply, &error))
      << error.message;
  EXPECT_THAT(Text(&reply), HasSubstr(R"("msg" : "isdbgrid")"));
  bson_destroy(&reply);
}

TEST_F(CDriverTest, EveryCompressor) {
  for (const char* compressor : {"snappy", "zlib", "zstd"}) {
    const Owned<mongoc_client_t> client = Connect(std::string("?compressors=") + compressor);
    const auto collection = Sharded(client.get(), std::string("compressed_") + compressor);
    Fill(collection.get(), 2000);
    EXPECT_EQ(Count(collection.get()), 2000) << compressor;
    EXPECT_EQ(Count(collection.get(), R"({"n": {"$gte": 1500}})"), 500) << compressor;
  }
}

TEST_F(CDriverTest, CursorsInOrderOverSeveralBatches) {
  const auto collection = Sharded(client_.get(), "cursors");
  Fill(collection.get(), 5000);
  const Owned<bson_t> options = Json(R"({"sort": {"n": -1}, "batchSize": 700})");
  const Owned<mongoc_cursor_t> cursor(
      mongoc_collection_find_with_opts(collection.get(), Json("{}").get(), options.get(), nullptr));
  const bson_t* document = nullptr;
  int expected = 5000;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    bson_iter_t iter;
    ASSERT_TRUE(bson_iter_init_find(&iter, document, "n"));
    ASSERT_EQ(bson_iter_int32(&iter), --expected);
  }
  bson_error_t error;
  EXPECT_FALSE(mongoc_cursor_error(cursor.get(), &error)) << error.message;
  EXPECT_EQ(expected, 0);
}

TEST_F(CDriverTest, BulkWritesSayWhatHappened) {
  const auto collection = Sharded(client_.get(), "bulk");
  Fill(collection.get(), 10);
  const Owned<mongoc_bulk_operation_t> bulk(mongoc_collection_create_bulk_operation_with_opts(
      collection.get(), Json(R"({"ordered": false})").get()));
  mongoc_bulk_operation_insert(bulk.get(), Json(R"({"_id": 3})").get());  // there already
  mongoc_bulk_operation_insert(bulk.get(), Json(R"({"_id": 100, "n": 100})").get());
  mongoc_bulk_operation_update_many_with_opts(bulk.get(), Json(R"({"n": {"$lt": 5}})").get(),
                                              Json(R"({"$inc": {"n": 1000}})").get(), nullptr,
                                              nullptr);
  mongoc_bulk_operation_remove_one_with_opts(bulk.get(), Json(R"({"_id": 9})").get(), nullptr,
                                             nullptr);
  bson_t reply;
  bson_error_t error;
  EXPECT_EQ(mongoc_bulk_operation_execute(bulk.get(), &reply, &error), 0u);
  EXPECT_EQ(error.code, 11000u);
  const std::string text = Text(&reply);
  for (const char* part :
       {R"("nInserted" : 1)", R"("nModified" : 5)", R"("nRemoved" : 1)", R"("index" : 0)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  bson_destroy(&reply);
  EXPECT_EQ(Count(collection.get()), 10);
}

TEST_F(CDriverTest, ErrorsCarryCodeAndMessage) {
  bson_error_t error;
  EXPECT_FALSE(mongoc_client_command_simple(
      client_.get(), "c_driver", Json(R"({"noSuchCommand": 1})").get(), nullptr, nullptr, &error));
  EXPECT_EQ(error.code, 59u);
  EXPECT_THAT(error.message, HasSubstr("noSuchCommand"));
}

TEST_F(CDriverTest, ACausalSessionReadsItsWrites) {
  const auto collection = Sharded(client_.get(), "sessions", "k");
  bson_error_t error;
  const Owned<mongoc_client_session_t> session(
      mongoc_client_start_session(client_.get(), nullptr, &error));
  ASSERT_NE(session, nullptr) << error.message;
  bson_t options = BSON_INITIALIZER;
  ASSERT_TRUE(mongoc_client_session_append(session.get(), &options, &error));
  for (int i = 0; i < 50; ++i) {
    const Owned<bson_t> document(BCON_NEW("_id", BCON_INT32(i), "k", BCON_INT32(i % 5)));
    ASSERT_TRUE(
        mongoc_collection_insert_one(collection.get(), document.get(), &options, nullptr, &error))
        << error.message;
    const Owned<mongoc_cursor_t> cursor(
        mongoc_collection_find_with_opts(collection.get(), document.get(), &options, nullptr));
    const bson_t* found = nullptr;
    ASSERT_TRUE(mongoc_cursor_next(cursor.get(), &found));
  }
  bson_destroy(&options);
}

TEST_F(CDriverTest, FindAndModifyAndIndexes) {
  const auto collection = Sharded(client_.get(), "modify");
  Fill(collection.get(), 100);
  bson_error_t error;
  const Owned<bson_t> create =
      Json(R"({"createIndexes": "modify", "indexes": [{"key": {"n": 1}, "name": "n_1"}]})");
  ASSERT_TRUE(mongoc_client_command_simple(client_.get(), "c_driver", create.get(), nullptr,
                                           nullptr, &error))
      << error.message;
  bson_t reply;
  ASSERT_TRUE(mongoc_collection_find_and_modify(
      collection.get(), Json(R"({"n": {"$gte": 50}})").get(), Json(R"({"n": 1})").get(),
      Json(R"({"$set": {"taken": true}})").get(), nullptr, false, false, true, &reply, &error))
      << error.message;
  EXPECT_THAT(Text(&reply), HasSubstr(R"("_id" : 50)"));
  bson_destroy(&reply);
  EXPECT_EQ(Count(collection.get(), R"({"taken": true})"), 1);
}

}  // namespace
}  // namespace evenkeel::tests
