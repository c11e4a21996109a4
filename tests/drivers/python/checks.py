"""PyMongo 3 and 4: the checks of tests/drivers/run.py."""
import datetime
import os
import traceback

import bson
import pymongo
from pymongo import DeleteOne, InsertOne, ReplaceOne, ReturnDocument, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure

URI, PROXY_URI = os.environ["EVENKEEL_URI"], os.environ["EVENKEEL_PROXY_URI"]
DATABASE, COMPRESSORS = os.environ["EVENKEEL_DATABASE"], os.environ["EVENKEEL_COMPRESSORS"].split(",")

client = pymongo.MongoClient(URI)
db = client[DATABASE]


def error_of(error, work):
    try:
        work()
    except error as raised:
        return raised
    raise AssertionError("an error was expected")


def topology():
    client.admin.command("ping")
    if pymongo.version_tuple[0] >= 4:
        assert client.topology_description.topology_type_name == "Sharded"
    else:  # with one address it speaks of "Single", but of the server as a router
        assert [server.server_type_name for server in client._topology.description.server_descriptions().values()] == ["Mongos"]
    assert db.command("isMaster")["msg"] == "isdbgrid"


def crud():
    c = db.crud
    assert c.insert_one({"_id": 1, "name": "Ada", "n": 1}).inserted_id == 1
    updated = c.update_one({"_id": 1}, {"$inc": {"n": 1}})
    assert (updated.matched_count, updated.modified_count) == (1, 1)
    assert c.replace_one({"_id": 1}, {"name": "Grace", "n": 5}).modified_count == 1
    assert c.update_one({"_id": 2}, {"$set": {"n": 7}}, upsert=True).upserted_id == 2
    after = c.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}}, return_document=ReturnDocument.AFTER)
    assert after == {"_id": 1, "name": "Grace", "n": 6}
    assert c.delete_one({"_id": 2}).deleted_count == 1
    assert list(c.find()) == [{"_id": 1, "name": "Grace", "n": 6}]


def types():
    document = {
        "_id": bson.ObjectId(), "int": 7, "long": bson.Int64(9007199254740993), "double": 0.5, "decimal": bson.Decimal128("1.10"),
        "date": datetime.datetime(2023, 11, 14, 22, 13, 20, 123000), "text": "žluťoučký 🐎", "bytes": b"\x00\xff",
        "regex": bson.Regex("^a", "i"), "stamp": bson.Timestamp(5, 6), "yes": True, "nothing": None, "list": [1, [2, {}]],
        "object": {"a": {"b": "c"}}, "min": bson.MinKey(), "code": bson.Code("f()")}
    db.types.insert_one(document)
    assert db.types.find_one() == document


def find():
    c = db.find
    c.insert_many([{"i": i, "group": i % 7} for i in range(100)])
    found = c.find({"i": {"$gte": 10, "$lt": 30}}, {"_id": 0, "i": 1}).sort("i", -1).skip(5).limit(10)
    assert [row["i"] for row in found] == list(range(24, 14, -1))
    assert c.count_documents({"group": 3}) == 14
    assert c.estimated_document_count() == 100
    assert sorted(c.distinct("group")) == list(range(7))


def cursor():
    c = db.cursor
    client.admin.command("shardCollection", c.full_name, key={"_id": "hashed"})
    c.insert_many([{"_id": i, "text": "x" * 100} for i in range(10_000)])
    assert [row["_id"] for row in c.find().sort("_id").batch_size(500)] == list(range(10_000))
    assert sum(1 for _ in c.find().batch_size(333)) == 10_000
    early = c.find().batch_size(2)
    assert next(early)
    early.close()


def bulk():
    c = db.bulk
    result = c.bulk_write([
        *(InsertOne({"_id": i, "n": 0}) for i in range(3)), UpdateOne({"_id": 0}, {"$inc": {"n": 1}}), UpdateMany({}, {"$inc": {"n": 1}}),
        ReplaceOne({"_id": 9}, {"n": 9}, upsert=True), DeleteOne({"_id": 2})])
    assert (result.inserted_count, result.modified_count, result.upserted_count, result.deleted_count) == (3, 4, 1, 1)
    error = error_of(BulkWriteError, lambda: c.bulk_write([InsertOne({"_id": i}) for i in (0, 4, 1, 5)], ordered=False))
    assert [(e["code"], e["index"]) for e in error.details["writeErrors"]] == [(11000, 0), (11000, 2)]
    assert c.count_documents({}) == 5


def retry():
    c = pymongo.MongoClient(PROXY_URI, retryWrites=True)[DATABASE].retry
    c.insert_one({"_id": 1, "n": 0})
    assert c.update_one({"_id": 1}, {"$inc": {"n": 1}, "$set": {"note": "lose this reply"}}).modified_count == 1
    assert c.find_one({"_id": 1})["n"] == 1


def compression():
    for compressor in COMPRESSORS:
        c = pymongo.MongoClient(PROXY_URI, compressors=compressor)[DATABASE]["compression_" + compressor]
        c.insert_many([{"_id": i, "text": "compress me " * 100} for i in range(100)])
        assert len(list(c.find({"text": {"$regex": "^compress"}}))) == 100


def aggregation():
    db.customers.insert_many([{"_id": i, "name": f"customer {i}"} for i in range(3)])
    db.orders.insert_many([{"customer": i % 3, "total": i} for i in range(30)])
    rows = db.orders.aggregate([
        {"$match": {"total": {"$gte": 3}}},
        {"$group": {"_id": "$customer", "total": {"$sum": "$total"}, "count": {"$sum": 1}}},
        {"$lookup": {"from": "customers", "localField": "_id", "foreignField": "_id", "as": "customer"}},
        {"$project": {"_id": 0, "name": {"$first": "$customer.name"}, "total": 1, "count": 1}},
        {"$sort": {"name": 1}}])
    assert [(row["name"], row["total"], row["count"]) for row in rows] == [
        ("customer 0", 135, 9), ("customer 1", 144, 9), ("customer 2", 153, 9)]


def indexes():
    c = db.indexes
    assert c.create_index("a", unique=True, name="by_a") == "by_a"
    assert list(c.index_information()) == ["_id_", "by_a"]
    c.insert_one({"a": 1})
    assert error_of(DuplicateKeyError, lambda: c.insert_one({"a": 1})).code == 11000
    c.drop_index("by_a")
    assert list(c.index_information()) == ["_id_"]


def errors():
    c = db.errors
    c.insert_one({"_id": 1})
    error = error_of(DuplicateKeyError, lambda: c.insert_one({"_id": 1}))
    assert error.details["keyPattern"] == {"_id": 1} and error.details["keyValue"] == {"_id": 1}, error.details
    assert error_of(OperationFailure, lambda: list(c.find({"$nonsense": 1}))).code == 2
    assert error_of(OperationFailure, lambda: db.command("nonsense")).code == 59
    assert error_of(OperationFailure, lambda: c.update_one({"_id": 1}, {"$set": {"_id": 2}})).code == 66


def sessions():
    with client.start_session(causal_consistency=True) as session:
        db.sessions.insert_one({"_id": 1}, session=session)
        assert db.sessions.find_one({"_id": 1}, session=session) == {"_id": 1}
        assert session.operation_time and session.cluster_time
    assert session.has_ended


def transactions():
    c = db.accounts
    client.admin.command("shardCollection", c.full_name, key={"_id": "hashed"})
    c.insert_many([{"_id": i, "balance": 100} for i in range(10)])
    db.transfers.insert_one({"_id": 0})

    def transfer(session):
        c.update_one({"_id": 1}, {"$inc": {"balance": -30}}, session=session)
        c.update_one({"_id": 2}, {"$inc": {"balance": 30}}, session=session)
        db.transfers.insert_one({"_id": 1, "amount": 30}, session=session)

    with client.start_session() as session:
        session.with_transaction(transfer)
        session.start_transaction()
        c.update_many({}, {"$set": {"balance": 0}}, session=session)
        assert c.find_one({"_id": 1}, session=session)["balance"] == 0
        session.abort_transaction()
    assert [row["balance"] for row in c.find().sort("_id").limit(4)] == [100, 70, 130, 100]


def main():
    print("version", pymongo.version)
    client.drop_database(DATABASE)
    for check in (topology, crud, types, find, cursor, bulk, retry, compression, aggregation, indexes, errors, sessions,
                  transactions):
        try:
            check()
            print("ok", check.__name__)
        except Exception:  # what it was is told, and the other checks go on
            print(f"not ok {check.__name__}: {traceback.format_exc()}")


main()
