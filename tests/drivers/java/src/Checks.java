import static com.mongodb.client.model.Accumulators.sum;
import static com.mongodb.client.model.Aggregates.group;
import static com.mongodb.client.model.Aggregates.lookup;
import static com.mongodb.client.model.Aggregates.match;
import static com.mongodb.client.model.Aggregates.project;
import static com.mongodb.client.model.Aggregates.sort;
import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Filters.regex;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ConnectionString;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.connection.ClusterType;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.bson.BsonRegularExpression;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.types.Binary;
import org.bson.types.Decimal128;
import org.bson.types.MinKey;
import org.bson.types.ObjectId;

/** The synchronous Java driver: the checks of tests/drivers/run.py. */
public final class Checks {
    private static final String DATABASE = System.getenv("EVENKEEL_DATABASE");
    private static final MongoClient client = MongoClients.create(System.getenv("EVENKEEL_URI"));
    private static final MongoDatabase db = client.getDatabase(DATABASE);

    private static void same(Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    private static int codeOf(Runnable work) {
        try {
            work.run();
        } catch (MongoException error) {
            return error.getCode();
        }
        throw new AssertionError("an error was expected");
    }

    private static <T> List<T> each(int count, IntFunction<T> make) {
        return IntStream.range(0, count).mapToObj(make).toList();
    }

    private static <T> List<T> list(Iterable<T> rows) {
        List<T> all = new ArrayList<>();
        rows.forEach(all::add);
        return all;
    }

    private static MongoClient proxied(String options) {
        return MongoClients.create(new ConnectionString(System.getenv("EVENKEEL_PROXY_URI") + "?" + options));
    }

    private static void topology() {
        same("isdbgrid", db.runCommand(new Document("hello", 1)).get("msg"));
        same(ClusterType.SHARDED, client.getClusterDescription().getType());
    }

    private static void crud() {
        MongoCollection<Document> c = db.getCollection("crud");
        same(1, c.insertOne(new Document("_id", 1).append("name", "Ada").append("n", 1)).getInsertedId().asInt32().getValue());
        var updated = c.updateOne(eq(1), inc("n", 1));
        same(List.of(1L, 1L), List.of(updated.getMatchedCount(), updated.getModifiedCount()));
        same(1L, c.replaceOne(eq(1), new Document("name", "Grace").append("n", 5)).getModifiedCount());
        same(2, c.updateOne(eq(2), set("n", 7), new UpdateOptions().upsert(true)).getUpsertedId().asInt32().getValue());
        Document after = c.findOneAndUpdate(eq(1), inc("n", 1), new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER));
        same(new Document("_id", 1).append("name", "Grace").append("n", 6), after);
        same(1L, c.deleteOne(eq(2)).getDeletedCount());
        same(List.of(after), list(c.find()));
    }

    private static void types() {
        Document document = new Document("_id", new ObjectId()).append("int", 7).append("long", 9007199254740993L).append("double", 0.5)
            .append("decimal", Decimal128.parse("1.10")).append("date", new Date(1700000000123L)).append("text", "žluťoučký 🐎")
            .append("bytes", new Binary(new byte[] {0, -1})).append("regex", new BsonRegularExpression("^a", "i"))
            .append("stamp", new BsonTimestamp(5, 6)).append("yes", true).append("nothing", null)
            .append("list", List.of(1, List.of(2, new Document()))).append("object", new Document("a", "b")).append("min", new MinKey());
        db.getCollection("types").insertOne(document);
        same(document, db.getCollection("types").find().first());
    }

    private static void find() {
        MongoCollection<Document> c = db.getCollection("find");
        c.insertMany(each(100, i -> new Document("i", i).append("group", i % 7)));
        var found = c.find(and(gte("i", 10), lt("i", 30))).projection(Document.parse("{_id: 0, i: 1}")).sort(new Document("i", -1)).skip(5).limit(10);
        same(each(10, i -> new Document("i", 24 - i)), list(found));
        same(14L, c.countDocuments(eq("group", 3)));
        same(100L, c.estimatedDocumentCount());
        same(each(7, i -> i), list(c.distinct("group", Integer.class)).stream().sorted().toList());
    }

    private static void cursor() {
        MongoCollection<Document> c = db.getCollection("cursor");
        client.getDatabase("admin").runCommand(new Document("shardCollection", DATABASE + ".cursor").append("key", new Document("_id", "hashed")));
        c.insertMany(each(10_000, i -> new Document("_id", i).append("text", "x".repeat(100))));
        same(each(10_000, i -> i), list(c.find().sort(new Document("_id", 1)).batchSize(500).map(row -> row.getInteger("_id"))));
        same(10_000, list(c.find().batchSize(333)).size());
        try (var early = c.find().batchSize(2).iterator()) {
            same(true, early.hasNext());
        }
    }

    private static void bulk() {
        MongoCollection<Document> c = db.getCollection("bulk");
        IntFunction<InsertOneModel<Document>> insert = i -> new InsertOneModel<>(new Document("_id", i).append("n", 0));
        var result = c.bulkWrite(List.of(insert.apply(0), insert.apply(1), insert.apply(2), new UpdateOneModel<>(eq(0), inc("n", 1)),
            new UpdateManyModel<>(new Document(), inc("n", 1)), new ReplaceOneModel<>(eq(9), new Document("n", 9), new ReplaceOptions().upsert(true)),
            new DeleteOneModel<>(eq(2))));
        same(List.of(3, 4, 1, 1),
            List.of(result.getInsertedCount(), result.getModifiedCount(), result.getUpserts().size(), result.getDeletedCount()));
        try {
            c.bulkWrite(List.of(insert.apply(0), insert.apply(4), insert.apply(1), insert.apply(5)), new BulkWriteOptions().ordered(false));
            throw new AssertionError("an error was expected");
        } catch (MongoBulkWriteException error) {
            same(List.of(List.of(11000, 0), List.of(11000, 2)), error.getWriteErrors().stream().map(e -> List.of(e.getCode(), e.getIndex())).toList());
        }
        same(5L, c.countDocuments());
    }

    private static void retry() {
        try (MongoClient other = proxied("retryWrites=true")) {
            MongoCollection<Document> c = other.getDatabase(DATABASE).getCollection("retry");
            c.insertOne(new Document("_id", 1).append("n", 0));
            same(1L, c.updateOne(eq(1), combine(inc("n", 1), set("note", "lose this reply"))).getModifiedCount());
            same(1, c.find().first().get("n"));
        }
    }

    private static void compression() {
        for (String compressor : System.getenv("EVENKEEL_COMPRESSORS").split(",")) {
            try (MongoClient other = proxied("compressors=" + compressor)) {
                MongoCollection<Document> c = other.getDatabase(DATABASE).getCollection("compression_" + compressor);
                c.insertMany(each(100, i -> new Document("_id", i).append("text", "compress me ".repeat(100))));
                same(100, list(c.find(regex("text", "^compress"))).size());
            }
        }
    }

    private static void aggregation() {
        db.getCollection("customers").insertMany(each(3, i -> new Document("_id", i).append("name", "customer " + i)));
        db.getCollection("orders").insertMany(each(30, i -> new Document("customer", i % 3).append("total", i)));
        var rows = db.getCollection("orders").aggregate(List.of(
            match(gte("total", 3)), group("$customer", sum("total", "$total"), sum("count", 1)), lookup("customers", "_id", "_id", "customer"),
            project(Document.parse("{_id: 0, name: {$first: '$customer.name'}, total: 1, count: 1}")), sort(new Document("name", 1))));
        same(each(3, i -> new Document("total", 135 + 9 * i).append("count", 9).append("name", "customer " + i)), list(rows));
    }

    private static void indexes() {
        MongoCollection<Document> c = db.getCollection("indexes");
        same("by_a", c.createIndex(new Document("a", 1), new IndexOptions().unique(true).name("by_a")));
        same(List.of("_id_", "by_a"), list(c.listIndexes().map(index -> index.getString("name"))));
        c.insertOne(new Document("a", 1));
        same(11000, codeOf(() -> c.insertOne(new Document("a", 1))));
        c.dropIndex("by_a");
        same(List.of("_id_"), list(c.listIndexes().map(index -> index.getString("name"))));
    }

    private static void errors() {
        MongoCollection<Document> c = db.getCollection("errors");
        c.insertOne(new Document("_id", 1));
        try {
            c.insertOne(new Document("_id", 1));
            throw new AssertionError("an error was expected");
        } catch (MongoWriteException error) {
            same("DUPLICATE_KEY", error.getError().getCategory().name());
        }
        same(2, codeOf(() -> c.find(new Document("$nonsense", 1)).first()));
        same(59, codeOf(() -> db.runCommand(new Document("nonsense", 1))));
        same(66, codeOf(() -> c.updateOne(eq(1), set("_id", 2))));
    }

    private static void sessions() {
        MongoCollection<Document> c = db.getCollection("sessions");
        try (ClientSession session = client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build())) {
            c.insertOne(session, new Document("_id", 1));
            same(List.of(new Document("_id", 1)), list(c.find(session)));
            same(true, session.getOperationTime() != null && session.getClusterTime() != null);
        }
    }

    private static void transactions() {
        MongoCollection<Document> c = db.getCollection("accounts");
        client.getDatabase("admin").runCommand(new Document("shardCollection", DATABASE + ".accounts").append("key", new Document("_id", "hashed")));
        c.insertMany(each(10, i -> new Document("_id", i).append("balance", 100)));
        db.getCollection("transfers").insertOne(new Document("_id", 0));
        try (ClientSession session = client.startSession()) {
            session.withTransaction(() -> {
                c.updateOne(session, eq(1), inc("balance", -30));
                c.updateOne(session, eq(2), inc("balance", 30));
                return db.getCollection("transfers").insertOne(session, new Document("_id", 1).append("amount", 30));
            });
            session.startTransaction();
            c.updateMany(session, new Document(), set("balance", 0));
            same(0, c.find(session, eq(1)).first().get("balance"));
            session.abortTransaction();
        }
        same(List.of(100, 70, 130, 100), list(c.find().sort(new Document("_id", 1)).limit(4).map(row -> row.getInteger("balance"))));
    }

    private static void run(String name, Runnable check) {
        try {
            check.run();
            System.out.println("ok " + name);
        } catch (RuntimeException | AssertionError error) {
            System.out.println("not ok " + name + ": " + error);
        }
    }

    public static void main(String[] arguments) {
        System.out.println("version " + com.mongodb.internal.build.MongoDriverVersion.VERSION);
        db.drop();
        run("topology", Checks::topology);
        run("crud", Checks::crud);
        run("types", Checks::types);
        run("find", Checks::find);
        run("cursor", Checks::cursor);
        run("bulk", Checks::bulk);
        run("retry", Checks::retry);
        run("compression", Checks::compression);
        run("aggregation", Checks::aggregation);
        run("indexes", Checks::indexes);
        run("errors", Checks::errors);
        run("sessions", Checks::sessions);
        run("transactions", Checks::transactions);
        client.close();
    }
}
