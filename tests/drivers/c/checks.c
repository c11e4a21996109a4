/* The C driver: the checks of tests/drivers/run.py. Documents are written as extended JSON and BCON. */
#include <mongoc/mongoc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mongoc_client_t *client;
static const char *database;
static bson_error_t error;

static jmp_buf failed; /* where a check that fails goes on */
static char why[4096];

#define CHECK(condition, ...) \
  do { if (!(condition)) fail(__LINE__, #condition, "" __VA_ARGS__); } while (0)

static void fail(int line, const char *condition, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(why, sizeof why, "line %d: %s %s (last error %u: %s)", line, condition, text, error.code, error.message);
  longjmp(failed, 1);
}

/* Documents live until the program ends: it is a short one. */
static bson_t *json(const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
  CHECK(document, "%s", text);
  return document;
}

static mongoc_collection_t *collection_of(mongoc_client_t *through, const char *name) {
  return mongoc_client_get_collection(through, database, name);
}

static mongoc_collection_t *collection(const char *name) { return collection_of(client, name); }

static int64_t number(const bson_t *document, const char *path) {
  bson_iter_t iter, found;
  CHECK(bson_iter_init(&iter, document) && bson_iter_find_descendant(&iter, path, &found), "%s", path);
  return bson_iter_as_int64(&found);
}

/* A command on the database; the reply, or with an error, whose code is in `error`, null. */
static bson_t *command(const char *on, bson_t *what) {
  bson_t *reply = bson_new();
  return mongoc_client_command_simple(client, on, what, NULL, reply, &error) ? reply : NULL;
}

static void insert_many(mongoc_collection_t *c, int count, bson_t *(*make)(int i)) {
  bson_t **documents = calloc(count, sizeof *documents);
  for (int i = 0; i < count; ++i) documents[i] = make(i);
  CHECK(mongoc_collection_insert_many(c, (const bson_t **)documents, count, NULL, NULL, &error));
  for (int i = 0; i < count; ++i) bson_destroy(documents[i]);
  free(documents);
}

/* Goes through a cursor to its end, giving each row to `look`; how many there were. */
static int each(mongoc_cursor_t *cursor, void (*look)(int at, const bson_t *row)) {
  const bson_t *row;
  int count = 0;
  while (mongoc_cursor_next(cursor, &row)) {
    if (look) look(count, row);
    ++count;
  }
  CHECK(!mongoc_cursor_error(cursor, &error));
  mongoc_cursor_destroy(cursor);
  return count;
}

static int64_t count(mongoc_collection_t *c, bson_t *filter) {
  return mongoc_collection_count_documents(c, filter, NULL, NULL, NULL, &error);
}

static void check_topology(void) {
  bson_iter_t iter;
  bson_t *hello = command(database, json("{\"hello\": 1}"));
  CHECK(hello && bson_iter_init_find(&iter, hello, "msg") && !strcmp(bson_iter_utf8(&iter, NULL), "isdbgrid"));
  mongoc_server_description_t *server = mongoc_client_select_server(client, true, NULL, &error);
  CHECK(server && !strcmp(mongoc_server_description_type(server), "Mongos"));
  mongoc_server_description_destroy(server);
}

static void check_crud(void) {
  mongoc_collection_t *c = collection("crud");
  bson_t reply;
  CHECK(mongoc_collection_insert_one(c, json("{\"_id\": 1, \"name\": \"Ada\", \"n\": 1}"), NULL, NULL, &error));
  CHECK(mongoc_collection_update_one(c, json("{\"_id\": 1}"), json("{\"$inc\": {\"n\": 1}}"), NULL, &reply, &error));
  CHECK(number(&reply, "matchedCount") == 1 && number(&reply, "modifiedCount") == 1);
  CHECK(mongoc_collection_replace_one(c, json("{\"_id\": 1}"), json("{\"name\": \"Grace\", \"n\": 5}"), NULL, NULL, &error));
  CHECK(mongoc_collection_update_one(c, json("{\"_id\": 2}"), json("{\"$set\": {\"n\": 7}}"), json("{\"upsert\": true}"), &reply, &error));
  CHECK(number(&reply, "upsertedId") == 2);
  mongoc_find_and_modify_opts_t *options = mongoc_find_and_modify_opts_new();
  mongoc_find_and_modify_opts_set_update(options, json("{\"$inc\": {\"n\": 1}}"));
  mongoc_find_and_modify_opts_set_flags(options, MONGOC_FIND_AND_MODIFY_RETURN_NEW);
  CHECK(mongoc_collection_find_and_modify_with_opts(c, json("{\"_id\": 1}"), options, &reply, &error));
  CHECK(number(&reply, "value.n") == 6);
  CHECK(mongoc_collection_delete_one(c, json("{\"_id\": 2}"), NULL, &reply, &error) && number(&reply, "deletedCount") == 1);
  CHECK(count(c, bson_new()) == 1);
}

static bson_t *typed;

static void is_typed(int at, const bson_t *row) {
  CHECK(at == 0 && bson_equal(row, typed), "%s", bson_as_canonical_extended_json(row, NULL));
}

static void check_types(void) {
  typed = json("{\"_id\": {\"$oid\": \"0123456789abcdef01234567\"}, \"int\": 7, \"long\": {\"$numberLong\": \"9007199254740993\"},"
               "\"double\": 0.5, \"decimal\": {\"$numberDecimal\": \"1.10\"}, \"date\": {\"$date\": {\"$numberLong\": \"1700000000123\"}},"
               "\"text\": \"žluťoučký 🐎\", \"bytes\": {\"$binary\": {\"base64\": \"AP8=\", \"subType\": \"00\"}},"
               "\"regex\": {\"$regularExpression\": {\"pattern\": \"^a\", \"options\": \"i\"}}, \"stamp\": {\"$timestamp\": {\"t\": 5, \"i\": 6}},"
               "\"yes\": true, \"nothing\": null, \"list\": [1, [2, {}]], \"object\": {\"a\": {\"b\": \"c\"}}, \"min\": {\"$minKey\": 1}}");
  CHECK(mongoc_collection_insert_one(collection("types"), typed, NULL, NULL, &error));
  CHECK(each(mongoc_collection_find_with_opts(collection("types"), bson_new(), NULL, NULL), is_typed) == 1);
}

static bson_t *grouped(int i) { return BCON_NEW("i", BCON_INT32(i), "group", BCON_INT32(i % 7)); }
static void is_downwards(int at, const bson_t *row) { CHECK(number(row, "i") == 24 - at); }

static void check_find(void) {
  mongoc_collection_t *c = collection("find");
  insert_many(c, 100, grouped);
  bson_t *options = json("{\"projection\": {\"_id\": 0, \"i\": 1}, \"sort\": {\"i\": -1}, \"skip\": 5, \"limit\": 10}");
  CHECK(each(mongoc_collection_find_with_opts(c, json("{\"i\": {\"$gte\": 10, \"$lt\": 30}}"), options, NULL), is_downwards) == 10);
  CHECK(count(c, json("{\"group\": 3}")) == 14);
  CHECK(mongoc_collection_estimated_document_count(c, NULL, NULL, NULL, &error) == 100);
  bson_t *distinct = command(database, json("{\"distinct\": \"find\", \"key\": \"group\"}"));
  bson_iter_t iter;
  CHECK(distinct && bson_iter_init_find(&iter, distinct, "values") && number(distinct, "values.6") >= 0);
}

static bson_t *row_of_text(int i) {
  char text[101];
  memset(text, 'x', 100);
  text[100] = 0;
  return BCON_NEW("_id", BCON_INT32(i), "text", BCON_UTF8(text));
}
static void is_next(int at, const bson_t *row) { CHECK(number(row, "_id") == at); }

static void check_cursor(void) {
  mongoc_collection_t *c = collection("cursor");
  CHECK(command("admin", json("{\"shardCollection\": \"%s.cursor\", \"key\": {\"_id\": \"hashed\"}}", database)));
  insert_many(c, 10000, row_of_text);
  bson_t *sorted = json("{\"sort\": {\"_id\": 1}, \"batchSize\": 500}");
  CHECK(each(mongoc_collection_find_with_opts(c, bson_new(), sorted, NULL), is_next) == 10000);
  CHECK(each(mongoc_collection_find_with_opts(c, bson_new(), json("{\"batchSize\": 333}"), NULL), NULL) == 10000);
  mongoc_cursor_t *early = mongoc_collection_find_with_opts(c, bson_new(), json("{\"batchSize\": 2}"), NULL);
  const bson_t *row;
  CHECK(mongoc_cursor_next(early, &row));
  mongoc_cursor_destroy(early);
}

static void check_bulk(void) {
  mongoc_collection_t *c = collection("bulk");
  bson_t reply, *one = json("{\"$inc\": {\"n\": 1}}");
  mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(c, NULL);
  for (int i = 0; i < 3; ++i) mongoc_bulk_operation_insert(bulk, json("{\"_id\": %d, \"n\": 0}", i));
  mongoc_bulk_operation_update_one(bulk, json("{\"_id\": 0}"), one, false);
  CHECK(mongoc_bulk_operation_update_many_with_opts(bulk, bson_new(), one, NULL, &error));
  mongoc_bulk_operation_replace_one(bulk, json("{\"_id\": 9}"), json("{\"n\": 9}"), true);
  mongoc_bulk_operation_remove_one(bulk, json("{\"_id\": 2}"));
  CHECK(mongoc_bulk_operation_execute(bulk, &reply, &error));
  CHECK(number(&reply, "nInserted") == 3 && number(&reply, "nModified") == 4 && number(&reply, "nUpserted") == 1 && number(&reply, "nRemoved") == 1);
  bulk = mongoc_collection_create_bulk_operation_with_opts(c, json("{\"ordered\": false}"));
  for (int i = 0; i < 4; ++i) mongoc_bulk_operation_insert(bulk, json("{\"_id\": %d}", (int[]){0, 4, 1, 5}[i]));
  CHECK(!mongoc_bulk_operation_execute(bulk, &reply, &error) && error.code == 11000);
  CHECK(number(&reply, "writeErrors.0.index") == 0 && number(&reply, "writeErrors.1.index") == 2);
  CHECK(count(c, bson_new()) == 5);
}

static mongoc_client_t *proxied(const char *options) {
  char uri[512];
  snprintf(uri, sizeof uri, "%s?%s", getenv("EVENKEEL_PROXY_URI"), options);
  mongoc_client_t *other = mongoc_client_new(uri);
  CHECK(other, "%s", uri);
  mongoc_client_set_error_api(other, MONGOC_ERROR_API_VERSION_2);
  return other;
}

static void has_n_1(int at, const bson_t *row) { CHECK(at == 0 && number(row, "n") == 1); }

static void check_retry(void) {
  mongoc_client_t *other = proxied("retryWrites=true");
  mongoc_collection_t *c = collection_of(other, "retry");
  bson_t reply, *update = json("{\"$inc\": {\"n\": 1}, \"$set\": {\"note\": \"lose this reply\"}}");
  CHECK(mongoc_collection_insert_one(c, json("{\"_id\": 1, \"n\": 0}"), NULL, NULL, &error));
  CHECK(mongoc_collection_update_one(c, json("{\"_id\": 1}"), update, NULL, &reply, &error) && number(&reply, "modifiedCount") == 1);
  CHECK(each(mongoc_collection_find_with_opts(c, bson_new(), NULL, NULL), has_n_1) == 1);
}

static void check_compression(void) {
  char *left = strdup(getenv("EVENKEEL_COMPRESSORS"));
  for (char *name = strtok(left, ","); name; name = strtok(NULL, ",")) {
    char option[64], title[64];
    snprintf(option, sizeof option, "compressors=%s", name);
    snprintf(title, sizeof title, "compression_%s", name);
    mongoc_collection_t *c = collection_of(proxied(option), title);
    insert_many(c, 100, row_of_text);
    CHECK(each(mongoc_collection_find_with_opts(c, json("{\"text\": {\"$regex\": \"^xx\"}}"), NULL, NULL), NULL) == 100);
  }
}

static bson_t *customer(int i) {
  char name[32];
  snprintf(name, sizeof name, "customer %d", i);
  return BCON_NEW("_id", BCON_INT32(i), "name", BCON_UTF8(name));
}
static bson_t *order(int i) { return BCON_NEW("customer", BCON_INT32(i % 3), "total", BCON_INT32(i)); }
static void is_customer(int at, const bson_t *row) { CHECK(number(row, "total") == 135 + 9 * at && number(row, "count") == 9); }

static void check_aggregation(void) {
  insert_many(collection("customers"), 3, customer);
  insert_many(collection("orders"), 30, order);
  bson_t *pipeline = json(
      "[{\"$match\": {\"total\": {\"$gte\": 3}}},"
      " {\"$group\": {\"_id\": \"$customer\", \"total\": {\"$sum\": \"$total\"}, \"count\": {\"$sum\": 1}}},"
      " {\"$lookup\": {\"from\": \"customers\", \"localField\": \"_id\", \"foreignField\": \"_id\", \"as\": \"customer\"}},"
      " {\"$project\": {\"_id\": 0, \"name\": {\"$first\": \"$customer.name\"}, \"total\": 1, \"count\": 1}},"
      " {\"$sort\": {\"name\": 1}}]");
  CHECK(each(mongoc_collection_aggregate(collection("orders"), MONGOC_QUERY_NONE, pipeline, NULL, NULL), is_customer) == 3);
}

static void check_indexes(void) {
  mongoc_collection_t *c = collection("indexes");
  CHECK(command(database, json("{\"createIndexes\": \"indexes\", \"indexes\": [{\"key\": {\"a\": 1}, \"name\": \"by_a\", \"unique\": true}]}")));
  CHECK(each(mongoc_collection_find_indexes_with_opts(c, NULL), NULL) == 2);
  CHECK(mongoc_collection_insert_one(c, json("{\"a\": 1}"), NULL, NULL, &error));
  CHECK(!mongoc_collection_insert_one(c, json("{\"a\": 1}"), NULL, NULL, &error) && error.code == 11000);
  CHECK(mongoc_collection_drop_index(c, "by_a", &error));
  CHECK(each(mongoc_collection_find_indexes_with_opts(c, NULL), NULL) == 1);
}

static void check_errors(void) {
  mongoc_collection_t *c = collection("errors");
  const bson_t *row;
  CHECK(mongoc_collection_insert_one(c, json("{\"_id\": 1}"), NULL, NULL, &error));
  CHECK(!mongoc_collection_insert_one(c, json("{\"_id\": 1}"), NULL, NULL, &error) && error.code == MONGOC_ERROR_DUPLICATE_KEY);
  mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(c, json("{\"$nonsense\": 1}"), NULL, NULL);
  CHECK(!mongoc_cursor_next(cursor, &row) && mongoc_cursor_error(cursor, &error) && error.code == 2);
  CHECK(!command(database, json("{\"nonsense\": 1}")) && error.domain == MONGOC_ERROR_SERVER && error.code == 59);
  CHECK(!mongoc_collection_update_one(c, json("{\"_id\": 1}"), json("{\"$set\": {\"_id\": 2}}"), NULL, NULL, &error) && error.code == 66);
}

static void check_sessions(void) {
  mongoc_client_session_t *session = mongoc_client_start_session(client, NULL, &error);
  bson_t options = BSON_INITIALIZER;
  uint32_t seconds, increment;
  CHECK(session && mongoc_client_session_append(session, &options, &error));
  CHECK(mongoc_collection_insert_one(collection("sessions"), json("{\"_id\": 1}"), &options, NULL, &error));
  CHECK(each(mongoc_collection_find_with_opts(collection("sessions"), bson_new(), &options, NULL), NULL) == 1);
  mongoc_client_session_get_operation_time(session, &seconds, &increment);
  CHECK(seconds > 0 && mongoc_client_session_get_cluster_time(session));
  mongoc_client_session_destroy(session);
}

static const int balances[] = {100, 70, 130, 100};
static bson_t *account(int i) { return BCON_NEW("_id", BCON_INT32(i), "balance", BCON_INT32(100)); }
static void has_balance(int at, const bson_t *row) { CHECK(number(row, "balance") == balances[at]); }

static void check_transactions(void) {
  mongoc_collection_t *c = collection("accounts");
  CHECK(command("admin", json("{\"shardCollection\": \"%s.accounts\", \"key\": {\"_id\": \"hashed\"}}", database)));
  insert_many(c, 10, account);
  insert_many(collection("transfers"), 1, account);
  mongoc_client_session_t *session = mongoc_client_start_session(client, NULL, &error);
  bson_t options = BSON_INITIALIZER, reply;
  CHECK(session && mongoc_client_session_append(session, &options, &error));
  CHECK(mongoc_client_session_start_transaction(session, NULL, &error));
  CHECK(mongoc_collection_update_one(c, json("{\"_id\": 1}"), json("{\"$inc\": {\"balance\": -30}}"), &options, NULL, &error));
  CHECK(mongoc_collection_update_one(c, json("{\"_id\": 2}"), json("{\"$inc\": {\"balance\": 30}}"), &options, NULL, &error));
  CHECK(mongoc_collection_insert_one(collection("transfers"), json("{\"_id\": 1, \"amount\": 30}"), &options, NULL, &error));
  CHECK(mongoc_client_session_commit_transaction(session, &reply, &error));
  CHECK(mongoc_client_session_start_transaction(session, NULL, &error));
  CHECK(mongoc_collection_update_many(c, bson_new(), json("{\"$set\": {\"balance\": 0}}"), &options, NULL, &error));
  CHECK(mongoc_client_session_abort_transaction(session, &error));
  mongoc_client_session_destroy(session);
  bson_t *first = json("{\"sort\": {\"_id\": 1}, \"limit\": 4}");
  CHECK(each(mongoc_collection_find_with_opts(c, bson_new(), first, NULL), has_balance) == 4);
}

static void run(const char *name, void (*check)(void)) {
  if (setjmp(failed) == 0) {
    check();
    printf("ok %s\n", name);
  } else {
    printf("not ok %s: %s\n", name, why);
  }
}

int main(void) {
  mongoc_init();
  printf("version %s\n", mongoc_get_version());
  database = getenv("EVENKEEL_DATABASE");
  client = mongoc_client_new(getenv("EVENKEEL_URI"));
  mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
  if (setjmp(failed) == 0) command(database, json("{\"dropDatabase\": 1}"));
  run("topology", check_topology);
  run("crud", check_crud);
  run("types", check_types);
  run("find", check_find);
  run("cursor", check_cursor);
  run("bulk", check_bulk);
  run("retry", check_retry);
  run("compression", check_compression);
  run("aggregation", check_aggregation);
  run("indexes", check_indexes);
  run("errors", check_errors);
  run("sessions", check_sessions);
  run("transactions", check_transactions);
  return 0;
}
