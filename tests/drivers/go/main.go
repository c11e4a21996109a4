// The Go driver: the checks of tests/drivers/run.py.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/version"
)

var (
	ctx      = context.Background()
	database = os.Getenv("EVENKEEL_DATABASE")
	topology atomic.Value
	client   *mongo.Client
	db       *mongo.Database
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func same(expected, found any) {
	if !reflect.DeepEqual(expected, found) {
		panic(fmt.Sprintf("expected %#v, found %#v", expected, found))
	}
}

func codeOf(err error) int {
	var failure mongo.ServerError
	if !errors.As(err, &failure) {
		panic(fmt.Sprintf("an error of the server was expected, not %v", err))
	}
	return failure.ErrorCodes()[0]
}

func numbers(count int, document func(i int) any) []any {
	documents := make([]any, count)
	for i := range documents {
		documents[i] = document(i)
	}
	return documents
}

func all(cursor *mongo.Cursor, err error) []bson.M {
	var rows []bson.M
	if err = must(cursor, err).All(ctx, &rows); err != nil {
		panic(err)
	}
	return rows
}

func connect(uri string, more func(*options.ClientOptions)) *mongo.Client {
	settings := options.Client().ApplyURI(uri)
	more(settings)
	return must(mongo.Connect(settings))
}

func proxied(more func(*options.ClientOptions), work func(db *mongo.Database)) {
	other := connect(os.Getenv("EVENKEEL_PROXY_URI"), more)
	defer other.Disconnect(ctx)
	work(other.Database(database))
}

func checkTopology() {
	var hello bson.M
	must(0, db.RunCommand(ctx, bson.M{"hello": 1}).Decode(&hello))
	same("isdbgrid", hello["msg"])
	same("Sharded", topology.Load())
}

func checkCrud() {
	c := db.Collection("crud")
	same(int32(1), must(c.InsertOne(ctx, bson.M{"_id": 1, "name": "Ada", "n": 1})).InsertedID)
	updated := must(c.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"n": 1}}))
	same([]int64{1, 1}, []int64{updated.MatchedCount, updated.ModifiedCount})
	same(int64(1), must(c.ReplaceOne(ctx, bson.M{"_id": 1}, bson.M{"name": "Grace", "n": 5})).ModifiedCount)
	upsert := options.UpdateOne().SetUpsert(true)
	same(int32(2), must(c.UpdateOne(ctx, bson.M{"_id": 2}, bson.M{"$set": bson.M{"n": 7}}, upsert)).UpsertedID)
	var after bson.M
	now := options.FindOneAndUpdate().SetReturnDocument(options.After)
	must(0, c.FindOneAndUpdate(ctx, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"n": 1}}, now).Decode(&after))
	same(bson.M{"_id": int32(1), "name": "Grace", "n": int32(6)}, after)
	same(int64(1), must(c.DeleteOne(ctx, bson.M{"_id": 2})).DeletedCount)
	same([]bson.M{after}, all(c.Find(ctx, bson.M{})))
}

func checkTypes() {
	c := db.Collection("types")
	document := bson.M{
		"_id": bson.NewObjectID(), "int": int32(7), "long": int64(9007199254740993), "double": 0.5, "decimal": must(bson.ParseDecimal128("1.10")),
		"date": bson.DateTime(1700000000123), "text": "žluťoučký 🐎", "bytes": bson.Binary{Data: []byte{0, 255}},
		"regex": bson.Regex{Pattern: "^a", Options: "i"}, "stamp": bson.Timestamp{T: 5, I: 6}, "yes": true, "nothing": nil,
		"list": bson.A{int32(1), bson.A{int32(2)}}, "object": bson.D{{Key: "a", Value: "b"}}, "min": bson.MinKey{}}
	must(c.InsertOne(ctx, document))
	same([]bson.M{document}, all(c.Find(ctx, bson.M{})))
}

func checkFind() {
	c := db.Collection("find")
	must(c.InsertMany(ctx, numbers(100, func(i int) any { return bson.M{"i": i, "group": i % 7} })))
	how := options.Find().SetProjection(bson.M{"_id": 0, "i": 1}).SetSort(bson.M{"i": -1}).SetSkip(5).SetLimit(10)
	for at, row := range all(c.Find(ctx, bson.M{"i": bson.M{"$gte": 10, "$lt": 30}}, how)) {
		same(bson.M{"i": int32(24 - at)}, row)
	}
	same(int64(14), must(c.CountDocuments(ctx, bson.M{"group": 3})))
	same(int64(100), must(c.EstimatedDocumentCount(ctx)))
	var groups []int
	must(0, c.Distinct(ctx, "group", bson.M{}).Decode(&groups))
	slices.Sort(groups)
	same([]int{0, 1, 2, 3, 4, 5, 6}, groups)
}

func checkCursor() {
	c := db.Collection("cursor")
	shard := bson.D{{Key: "shardCollection", Value: database + ".cursor"}, {Key: "key", Value: bson.M{"_id": "hashed"}}}
	must(0, client.Database("admin").RunCommand(ctx, shard).Err())
	must(c.InsertMany(ctx, numbers(10_000, func(i int) any { return bson.M{"_id": i, "text": strings.Repeat("x", 100)} })))
	rows := all(c.Find(ctx, bson.M{}, options.Find().SetSort(bson.M{"_id": 1}).SetBatchSize(500)))
	same(10_000, len(rows))
	for i, row := range rows {
		same(int32(i), row["_id"])
	}
	same(10_000, len(all(c.Find(ctx, bson.M{}, options.Find().SetBatchSize(333)))))
	early := must(c.Find(ctx, bson.M{}, options.Find().SetBatchSize(2)))
	same(true, early.Next(ctx))
	must(0, early.Close(ctx))
}

func checkBulk() {
	c := db.Collection("bulk")
	insert := func(i int) mongo.WriteModel { return mongo.NewInsertOneModel().SetDocument(bson.M{"_id": i, "n": 0}) }
	one := bson.M{"$inc": bson.M{"n": 1}}
	result := must(c.BulkWrite(ctx, []mongo.WriteModel{
		insert(0), insert(1), insert(2), mongo.NewUpdateOneModel().SetFilter(bson.M{"_id": 0}).SetUpdate(one),
		mongo.NewUpdateManyModel().SetFilter(bson.M{}).SetUpdate(one),
		mongo.NewReplaceOneModel().SetFilter(bson.M{"_id": 9}).SetReplacement(bson.M{"n": 9}).SetUpsert(true),
		mongo.NewDeleteOneModel().SetFilter(bson.M{"_id": 2})}))
	same([]int64{3, 4, 1, 1}, []int64{result.InsertedCount, result.ModifiedCount, result.UpsertedCount, result.DeletedCount})
	_, err := c.BulkWrite(ctx, []mongo.WriteModel{insert(0), insert(4), insert(1), insert(5)}, options.BulkWrite().SetOrdered(false))
	var failure mongo.BulkWriteException
	same(true, errors.As(err, &failure))
	same(2, len(failure.WriteErrors))
	for at, index := range []int{0, 2} {
		same([]int{11000, index}, []int{failure.WriteErrors[at].Code, failure.WriteErrors[at].Index})
	}
	same(int64(5), must(c.CountDocuments(ctx, bson.M{})))
}

func checkRetry() {
	proxied(func(settings *options.ClientOptions) { settings.SetRetryWrites(true) }, func(db *mongo.Database) {
		c := db.Collection("retry")
		must(c.InsertOne(ctx, bson.M{"_id": 1, "n": 0}))
		update := bson.M{"$inc": bson.M{"n": 1}, "$set": bson.M{"note": "lose this reply"}}
		same(int64(1), must(c.UpdateOne(ctx, bson.M{"_id": 1}, update)).ModifiedCount)
		same(int32(1), all(c.Find(ctx, bson.M{}))[0]["n"])
	})
}

func checkCompression() {
	for _, compressor := range strings.Split(os.Getenv("EVENKEEL_COMPRESSORS"), ",") {
		proxied(func(settings *options.ClientOptions) { settings.SetCompressors([]string{compressor}) }, func(db *mongo.Database) {
			c := db.Collection("compression_" + compressor)
			must(c.InsertMany(ctx, numbers(100, func(i int) any { return bson.M{"_id": i, "text": strings.Repeat("compress me ", 100)} })))
			same(100, len(all(c.Find(ctx, bson.M{"text": bson.Regex{Pattern: "^compress"}}))))
		})
	}
}

func checkAggregation() {
	must(db.Collection("customers").InsertMany(ctx, numbers(3, func(i int) any { return bson.M{"_id": i, "name": fmt.Sprint("customer ", i)} })))
	must(db.Collection("orders").InsertMany(ctx, numbers(30, func(i int) any { return bson.M{"customer": i % 3, "total": i} })))
	rows := all(db.Collection("orders").Aggregate(ctx, []bson.M{
		{"$match": bson.M{"total": bson.M{"$gte": 3}}},
		{"$group": bson.M{"_id": "$customer", "total": bson.M{"$sum": "$total"}, "count": bson.M{"$sum": 1}}},
		{"$lookup": bson.M{"from": "customers", "localField": "_id", "foreignField": "_id", "as": "customer"}},
		{"$project": bson.M{"_id": 0, "name": bson.M{"$first": "$customer.name"}, "total": 1, "count": 1}},
		{"$sort": bson.M{"name": 1}}}))
	same(3, len(rows))
	for i, row := range rows {
		same(bson.M{"name": fmt.Sprint("customer ", i), "total": int32(135 + 9*i), "count": int32(9)}, row)
	}
}

func checkIndexes() {
	c := db.Collection("indexes")
	names := func() (found []string) {
		for _, index := range must(c.Indexes().ListSpecifications(ctx)) {
			found = append(found, index.Name)
		}
		return found
	}
	byA := mongo.IndexModel{Keys: bson.M{"a": 1}, Options: options.Index().SetUnique(true).SetName("by_a")}
	same("by_a", must(c.Indexes().CreateOne(ctx, byA)))
	same([]string{"_id_", "by_a"}, names())
	must(c.InsertOne(ctx, bson.M{"a": 1}))
	_, err := c.InsertOne(ctx, bson.M{"a": 1})
	same(true, mongo.IsDuplicateKeyError(err))
	must(0, c.Indexes().DropOne(ctx, "by_a"))
	same([]string{"_id_"}, names())
}

func checkErrors() {
	c := db.Collection("errors")
	must(c.InsertOne(ctx, bson.M{"_id": 1}))
	_, err := c.InsertOne(ctx, bson.M{"_id": 1})
	same(11000, codeOf(err))
	_, err = c.Find(ctx, bson.M{"$nonsense": 1})
	same(2, codeOf(err))
	same(59, codeOf(db.RunCommand(ctx, bson.M{"nonsense": 1}).Err()))
	_, err = c.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$set": bson.M{"_id": 2}})
	same(66, codeOf(err))
}

func checkSessions() {
	session := must(client.StartSession(options.Session().SetCausalConsistency(true)))
	within := mongo.NewSessionContext(ctx, session)
	c := db.Collection("sessions")
	must(c.InsertOne(within, bson.M{"_id": 1}))
	same(int64(1), must(c.CountDocuments(within, bson.M{"_id": 1})))
	same(true, session.OperationTime() != nil && session.ClusterTime() != nil)
	session.EndSession(ctx)
}

func checkTransactions() {
	c := db.Collection("accounts")
	shard := bson.D{{Key: "shardCollection", Value: database + ".accounts"}, {Key: "key", Value: bson.M{"_id": "hashed"}}}
	must(0, client.Database("admin").RunCommand(ctx, shard).Err())
	must(c.InsertMany(ctx, numbers(10, func(i int) any { return bson.M{"_id": i, "balance": 100} })))
	must(db.Collection("transfers").InsertOne(ctx, bson.M{"_id": 0}))
	session := must(client.StartSession())
	defer session.EndSession(ctx)
	must(session.WithTransaction(ctx, func(within context.Context) (any, error) {
		if _, err := c.UpdateOne(within, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"balance": -30}}); err != nil {
			return nil, err
		}
		if _, err := c.UpdateOne(within, bson.M{"_id": 2}, bson.M{"$inc": bson.M{"balance": 30}}); err != nil {
			return nil, err
		}
		return db.Collection("transfers").InsertOne(within, bson.M{"_id": 1, "amount": 30})
	}))
	must(0, session.StartTransaction())
	must(c.UpdateMany(mongo.NewSessionContext(ctx, session), bson.M{}, bson.M{"$set": bson.M{"balance": 0}}))
	must(0, session.AbortTransaction(ctx))
	rows := all(c.Find(ctx, bson.M{}, options.Find().SetSort(bson.M{"_id": 1}).SetLimit(4)))
	for i, balance := range []int32{100, 70, 130, 100} {
		same(balance, rows[i]["balance"])
	}
}

// Runs one check and tells how it went.
func run(name string, check func()) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Printf("not ok %s: %v\n", name, problem)
		} else {
			fmt.Printf("ok %s\n", name)
		}
	}()
	check()
}

func main() {
	fmt.Println("version", version.Driver)
	monitor := &event.ServerMonitor{TopologyDescriptionChanged: func(change *event.TopologyDescriptionChangedEvent) {
		topology.Store(change.NewDescription.Kind)
	}}
	client = connect(os.Getenv("EVENKEEL_URI"), func(settings *options.ClientOptions) {
		settings.SetServerMonitor(monitor).SetServerSelectionTimeout(20 * time.Second)
	})
	db = client.Database(database)
	must(0, db.Drop(ctx))
	run("topology", checkTopology)
	run("crud", checkCrud)
	run("types", checkTypes)
	run("find", checkFind)
	run("cursor", checkCursor)
	run("bulk", checkBulk)
	run("retry", checkRetry)
	run("compression", checkCompression)
	run("aggregation", checkAggregation)
	run("indexes", checkIndexes)
	run("errors", checkErrors)
	run("sessions", checkSessions)
	run("transactions", checkTransactions)
}
