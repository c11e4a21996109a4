//! The Rust driver: the checks of tests/drivers/run.py.
use std::collections::BTreeSet;
use std::env::var;
use std::future::Future;
use std::sync::{Arc, Mutex};

use futures_util::TryStreamExt;
use mongodb::bson::{doc, oid::ObjectId, Bson, Document};
use mongodb::error::{Error, ErrorKind, WriteFailure};
use mongodb::event::{sdam::SdamEvent, EventHandler};
use mongodb::options::{ClientOptions, Compressor, IndexOptions, ReturnDocument, SessionOptions};
use mongodb::{Client, Collection, Database, IndexModel};

/// The driver tells its version to nobody but the server: this is Cargo.toml's.
const DRIVER_VERSION: &str = "3.9.1";

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// What every check works on.
struct Bench {
    client: Client,
    db: Database,
    topology: Arc<Mutex<String>>,
}

impl Bench {
    async fn new(topology: Arc<Mutex<String>>) -> Result<Bench, Error> {
        let mut options = ClientOptions::parse(setting("EVENKEEL_URI")).await?;
        let seen = topology.clone();
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            if let SdamEvent::TopologyDescriptionChanged(change) = event {
                *seen.lock().unwrap() = format!("{:?}", change.new_description.topology_type());
            }
        }));
        let client = Client::with_options(options)?;
        let db = client.database(&setting("EVENKEEL_DATABASE"));
        db.drop().await?;
        Ok(Bench { client, db, topology })
    }

    fn collection(&self, name: &str) -> Collection<Document> {
        self.db.collection(name)
    }
}

fn setting(name: &str) -> String {
    var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

async fn proxied(change: impl FnOnce(&mut ClientOptions)) -> Result<Database, Error> {
    let mut options = ClientOptions::parse(setting("EVENKEEL_PROXY_URI")).await?;
    change(&mut options);
    Ok(Client::with_options(options)?.database(&setting("EVENKEEL_DATABASE")))
}

/// The code of the error that was expected.
fn code_of<T>(result: Result<T, Error>) -> i32 {
    match result.err().expect("an error was expected").kind.as_ref() {
        ErrorKind::Command(error) => error.code,
        ErrorKind::Write(WriteFailure::WriteError(error)) => error.code,
        other => panic!("an error of the server was expected, not {other}"),
    }
}

async fn topology(bench: &Bench) -> Outcome {
    assert_eq!(bench.db.run_command(doc! { "hello": 1 }).await?.get_str("msg")?, "isdbgrid");
    assert_eq!(*bench.topology.lock().unwrap(), "Sharded");
    Ok(())
}

async fn crud(bench: &Bench) -> Outcome {
    let c = bench.collection("crud");
    assert_eq!(c.insert_one(doc! { "_id": 1, "name": "Ada", "n": 1 }).await?.inserted_id, Bson::Int32(1));
    let updated = c.update_one(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).await?;
    assert_eq!((updated.matched_count, updated.modified_count), (1, 1));
    assert_eq!(c.replace_one(doc! { "_id": 1 }, doc! { "name": "Grace", "n": 5 }).await?.modified_count, 1);
    let upserted = c.update_one(doc! { "_id": 2 }, doc! { "$set": { "n": 7 } }).upsert(true).await?;
    assert_eq!(upserted.upserted_id, Some(Bson::Int32(2)));
    let after = c.find_one_and_update(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } }).return_document(ReturnDocument::After).await?;
    assert_eq!(after, Some(doc! { "_id": 1, "name": "Grace", "n": 6 }));
    assert_eq!(c.delete_one(doc! { "_id": 2 }).await?.deleted_count, 1);
    assert_eq!(c.count_documents(doc! {}).await?, 1);
    Ok(())
}

async fn types(bench: &Bench) -> Outcome {
    let c = bench.collection("types");
    let document = doc! {
        "_id": ObjectId::new(), "int": 7, "long": 9_007_199_254_740_993_i64, "double": 0.5,
        "decimal": "1.10".parse::<mongodb::bson::Decimal128>()?, "date": mongodb::bson::DateTime::from_millis(1_700_000_000_123),
        "text": "žluťoučký 🐎", "bytes": mongodb::bson::Binary { subtype: mongodb::bson::spec::BinarySubtype::Generic, bytes: vec![0, 255] },
        "stamp": mongodb::bson::Timestamp { time: 5, increment: 6 }, "yes": true, "nothing": null, "list": [1, [2, {}]],
        "object": { "a": { "b": "c" } }, "min": Bson::MinKey,
    };
    c.insert_one(&document).await?;
    assert_eq!(c.find_one(doc! {}).await?, Some(document));
    Ok(())
}

async fn find(bench: &Bench) -> Outcome {
    let c = bench.collection("find");
    c.insert_many((0..100).map(|i| doc! { "i": i, "group": i % 7 })).await?;
    let found = c.find(doc! { "i": { "$gte": 10, "$lt": 30 } }).projection(doc! { "_id": 0, "i": 1 });
    let found: Vec<Document> = found.sort(doc! { "i": -1 }).skip(5).limit(10).await?.try_collect().await?;
    assert_eq!(found, (0..10).map(|i| doc! { "i": 24 - i }).collect::<Vec<_>>());
    assert_eq!(c.count_documents(doc! { "group": 3 }).await?, 14);
    assert_eq!(c.estimated_document_count().await?, 100);
    let groups: BTreeSet<i32> = c.distinct("group", doc! {}).await?.iter().filter_map(Bson::as_i32).collect();
    assert_eq!(groups, (0..7).collect());
    Ok(())
}

async fn cursor(bench: &Bench) -> Outcome {
    let c = bench.collection("cursor");
    let name = c.namespace().to_string();
    bench.client.database("admin").run_command(doc! { "shardCollection": name, "key": { "_id": "hashed" } }).await?;
    c.insert_many((0..10_000).map(|i| doc! { "_id": i, "text": "x".repeat(100) })).await?;
    let rows: Vec<Document> = c.find(doc! {}).sort(doc! { "_id": 1 }).batch_size(500).await?.try_collect().await?;
    assert!(rows.iter().map(|row| row.get_i32("_id").unwrap()).eq(0..10_000));
    assert_eq!(c.find(doc! {}).batch_size(333).await?.try_collect::<Vec<_>>().await?.len(), 10_000);
    let mut early = c.find(doc! {}).batch_size(2).await?;
    assert!(early.advance().await?);
    Ok(())
}

async fn bulk(bench: &Bench) -> Outcome {
    // This driver's bulk_write is the bulkWrite command of wire version 25: statements of many documents instead.
    let c = bench.collection("bulk");
    assert_eq!(c.insert_many((0..3).map(|i| doc! { "_id": i, "n": 0 })).await?.inserted_ids.len(), 3);
    assert_eq!(c.update_many(doc! {}, doc! { "$inc": { "n": 1 } }).await?.modified_count, 3);
    let error = c.insert_many([0, 4, 1, 5].map(|i| doc! { "_id": i })).ordered(false).await.unwrap_err();
    let ErrorKind::InsertMany(failure) = error.kind.as_ref() else { panic!("{error}") };
    let found: Vec<_> = failure.write_errors.as_ref().unwrap().iter().map(|e| (e.code, e.index)).collect();
    assert_eq!(found, [(11000, 0), (11000, 2)]);
    assert_eq!(c.delete_many(doc! { "_id": { "$gte": 2 } }).await?.deleted_count, 3);
    Ok(())
}

async fn retry(_: &Bench) -> Outcome {
    let c = proxied(|options| options.retry_writes = Some(true)).await?.collection::<Document>("retry");
    c.insert_one(doc! { "_id": 1, "n": 0 }).await?;
    let update = doc! { "$inc": { "n": 1 }, "$set": { "note": "lose this reply" } };
    assert_eq!(c.update_one(doc! { "_id": 1 }, update).await?.modified_count, 1);
    assert_eq!(c.find_one(doc! {}).await?.unwrap().get_i32("n")?, 1);
    Ok(())
}

async fn compression(_: &Bench) -> Outcome {
    let compressors = [Compressor::Snappy, Compressor::Zlib { level: None }, Compressor::Zstd { level: None }];
    for (i, compressor) in compressors.into_iter().enumerate() {
        let db = proxied(|options| options.compressors = Some(vec![compressor])).await?;
        let c = db.collection::<Document>(&format!("compression_{i}"));
        c.insert_many((0..100).map(|i| doc! { "_id": i, "text": "compress me ".repeat(100) })).await?;
        let rows: Vec<Document> = c.find(doc! { "text": { "$regex": "^compress" } }).await?.try_collect().await?;
        assert_eq!(rows.len(), 100);
    }
    Ok(())
}

async fn aggregation(bench: &Bench) -> Outcome {
    bench.collection("customers").insert_many((0..3).map(|i| doc! { "_id": i, "name": format!("customer {i}") })).await?;
    bench.collection("orders").insert_many((0..30).map(|i| doc! { "customer": i % 3, "total": i })).await?;
    let pipeline = [
        doc! { "$match": { "total": { "$gte": 3 } } },
        doc! { "$group": { "_id": "$customer", "total": { "$sum": "$total" }, "count": { "$sum": 1 } } },
        doc! { "$lookup": { "from": "customers", "localField": "_id", "foreignField": "_id", "as": "customer" } },
        doc! { "$project": { "_id": 0, "name": { "$first": "$customer.name" }, "total": 1, "count": 1 } },
        doc! { "$sort": { "name": 1 } },
    ];
    let rows: Vec<Document> = bench.collection("orders").aggregate(pipeline).await?.try_collect().await?;
    let wanted = (0..3).map(|i| doc! { "total": 135 + 9 * i, "count": 9, "name": format!("customer {i}") });
    assert_eq!(rows, wanted.collect::<Vec<_>>());
    Ok(())
}

async fn indexes(bench: &Bench) -> Outcome {
    let c = bench.collection("indexes");
    let options = IndexOptions::builder().unique(true).name("by_a".to_string()).build();
    c.create_index(IndexModel::builder().keys(doc! { "a": 1 }).options(options).build()).await?;
    assert_eq!(c.list_index_names().await?, ["_id_", "by_a"]);
    c.insert_one(doc! { "a": 1 }).await?;
    assert_eq!(code_of(c.insert_one(doc! { "a": 1 }).await), 11000);
    c.drop_index("by_a").await?;
    assert_eq!(c.list_index_names().await?, ["_id_"]);
    Ok(())
}

async fn errors(bench: &Bench) -> Outcome {
    let c = bench.collection("errors");
    c.insert_one(doc! { "_id": 1 }).await?;
    assert_eq!(code_of(c.insert_one(doc! { "_id": 1 }).await), 11000);
    assert_eq!(code_of(c.find_one(doc! { "$nonsense": 1 }).await), 2);
    assert_eq!(code_of(bench.db.run_command(doc! { "nonsense": 1 }).await), 59);
    assert_eq!(code_of(c.update_one(doc! { "_id": 1 }, doc! { "$set": { "_id": 2 } }).await), 66);
    Ok(())
}

async fn sessions(bench: &Bench) -> Outcome {
    let options = SessionOptions::builder().causal_consistency(true).build();
    let mut session = bench.client.start_session().with_options(options).await?;
    let c = bench.collection("sessions");
    c.insert_one(doc! { "_id": 1 }).session(&mut session).await?;
    assert_eq!(c.find_one(doc! {}).session(&mut session).await?, Some(doc! { "_id": 1 }));
    assert!(session.cluster_time().is_some());
    Ok(())
}

async fn transactions(bench: &Bench) -> Outcome {
    let c = bench.collection("accounts");
    let name = c.namespace().to_string();
    bench.client.database("admin").run_command(doc! { "shardCollection": name, "key": { "_id": "hashed" } }).await?;
    c.insert_many((0..10).map(|i| doc! { "_id": i, "balance": 100 })).await?;
    bench.collection("transfers").insert_one(doc! { "_id": 0 }).await?;
    let mut session = bench.client.start_session().await?;
    session.start_transaction().await?;
    c.update_one(doc! { "_id": 1 }, doc! { "$inc": { "balance": -30 } }).session(&mut session).await?;
    c.update_one(doc! { "_id": 2 }, doc! { "$inc": { "balance": 30 } }).session(&mut session).await?;
    bench.collection("transfers").insert_one(doc! { "_id": 1, "amount": 30 }).session(&mut session).await?;
    session.commit_transaction().await?;
    session.start_transaction().await?;
    c.update_many(doc! {}, doc! { "$set": { "balance": 0 } }).session(&mut session).await?;
    session.abort_transaction().await?;
    let rows: Vec<Document> = c.find(doc! {}).sort(doc! { "_id": 1 }).limit(4).await?.try_collect().await?;
    assert!(rows.iter().map(|row| row.get_i32("balance").unwrap()).eq([100, 70, 130, 100]));
    Ok(())
}

/// Tells how a check went; one that panics ends only its own task.
async fn tell(name: &str, check: impl Future<Output = Outcome>) {
    match check.await {
        Ok(()) => println!("ok {name}"),
        Err(error) => println!("not ok {name}: {error}"),
    }
}

macro_rules! run {
    ($bench:expr, $($check:ident),*) => { $(
        let bench = $bench.clone();
        let task = tokio::spawn(async move { tell(stringify!($check), $check(&bench)).await });
        if let Err(error) = task.await {
            println!("not ok {}: {error}", stringify!($check));
        }
    )* };
}

#[tokio::main]
async fn main() {
    println!("version {}", DRIVER_VERSION);
    let bench = Arc::new(Bench::new(Arc::default()).await.expect("no connection"));
    run!(bench, topology, crud, types, find, cursor, bulk, retry, compression, aggregation, indexes, errors, sessions, transactions);
}
