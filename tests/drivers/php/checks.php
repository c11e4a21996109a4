<?php
// Debian's PHP driver, the extension alone: the checks of tests/drivers/run.py.
declare(strict_types=1);

use MongoDB\BSON;
use MongoDB\Driver\{BulkWrite, Command, Manager, Query, Server};
use MongoDB\Driver\Exception\{BulkWriteException, CommandException};

$database = getenv('EVENKEEL_DATABASE');
$manager = new Manager(getenv('EVENKEEL_URI'));

function same($expected, $found): void {
    if ($expected != $found) {
        throw new Exception('expected ' . var_export($expected, true) . ', found ' . var_export($found, true));
    }
}

function command(array $command, ?Manager $through = null, ?string $on = null): array {
    global $database, $manager;
    return rows(($through ?? $manager)->executeCommand($on ?? $database, new Command($command)));
}

function rows(MongoDB\Driver\Cursor $cursor): array {
    $cursor->setTypeMap(['root' => 'array', 'document' => 'array', 'array' => 'array']);
    return $cursor->toArray();
}

function find(string $collection, array $filter = [], array $options = [], ?Manager $through = null): array {
    global $database, $manager;
    return rows(($through ?? $manager)->executeQuery("$database.$collection", new Query($filter, $options)));
}

function write(string $collection, callable $fill, array $options = [], ?Manager $through = null) {
    global $database, $manager;
    $bulk = new BulkWrite($options);
    $fill($bulk);
    return ($through ?? $manager)->executeBulkWrite("$database.$collection", $bulk);
}

function insert(string $collection, array $documents, ?Manager $through = null) {
    return write($collection, function ($bulk) use ($documents) { array_map([$bulk, 'insert'], $documents); }, [], $through);
}

function errorOf(callable $work): Throwable {
    try {
        $work();
    } catch (MongoDB\Driver\Exception\Exception $error) {
        return $error;
    }
    throw new Exception('an error was expected');
}

$checks = [
    'topology' => function () use ($manager) {
        same('isdbgrid', command(['hello' => 1])[0]['msg']);
        same([Server::TYPE_MONGOS], array_map(fn ($server) => $server->getType(), array_values($manager->getServers())));
    },
    'crud' => function () {
        same(1, insert('crud', [['_id' => 1, 'name' => 'Ada', 'n' => 1]])->getInsertedCount());
        same(1, write('crud', fn ($bulk) => $bulk->update(['_id' => 1], ['$inc' => ['n' => 1]]))->getModifiedCount());
        same(1, write('crud', fn ($bulk) => $bulk->update(['_id' => 1], ['name' => 'Grace', 'n' => 5]))->getModifiedCount());
        $upserted = write('crud', fn ($bulk) => $bulk->update(['_id' => 2], ['$set' => ['n' => 7]], ['upsert' => true]));
        same([0 => 2], $upserted->getUpsertedIds());
        $after = command(['findAndModify' => 'crud', 'query' => ['_id' => 1], 'update' => ['$inc' => ['n' => 1]], 'new' => true])[0];
        same(['_id' => 1, 'name' => 'Grace', 'n' => 6], $after['value']);
        same(1, write('crud', fn ($bulk) => $bulk->delete(['_id' => 2], ['limit' => 1]))->getDeletedCount());
        same([['_id' => 1, 'name' => 'Grace', 'n' => 6]], find('crud'));
    },
    'types' => function () {
        $document = [
            '_id' => new BSON\ObjectId(), 'int' => 7, 'long' => 9007199254740993, 'double' => 0.5, 'decimal' => new BSON\Decimal128('1.10'),
            'date' => new BSON\UTCDateTime(1700000000123), 'text' => 'žluťoučký 🐎', 'bytes' => new BSON\Binary("\x00\xff", 0),
            'regex' => new BSON\Regex('^a', 'i'), 'stamp' => new BSON\Timestamp(6, 5), 'yes' => true, 'nothing' => null,
            'list' => [1, [2, []]], 'object' => ['a' => ['b' => 'c']], 'min' => new BSON\MinKey(),
        ];
        insert('types', [$document]);
        same([$document], find('types'));
    },
    'find' => function () {
        insert('find', array_map(fn ($i) => ['i' => $i, 'group' => $i % 7], range(0, 99)));
        $options = ['projection' => ['_id' => 0, 'i' => 1], 'sort' => ['i' => -1], 'skip' => 5, 'limit' => 10];
        same(range(24, 15), array_column(find('find', ['i' => ['$gte' => 10, '$lt' => 30]], $options), 'i'));
        same(14, command(['count' => 'find', 'query' => ['group' => 3]])[0]['n']);
        $distinct = command(['distinct' => 'find', 'key' => 'group'])[0]['values'];
        sort($distinct);
        same(range(0, 6), $distinct);
    },
    'cursor' => function () use ($manager, $database) {
        command(['shardCollection' => "$database.cursor", 'key' => ['_id' => 'hashed']], null, 'admin');
        insert('cursor', array_map(fn ($i) => ['_id' => $i, 'text' => str_repeat('x', 100)], range(0, 9999)));
        same(range(0, 9999), array_column(find('cursor', [], ['sort' => ['_id' => 1], 'batchSize' => 500]), '_id'));
        same(10000, count(find('cursor', [], ['batchSize' => 333])));
        $early = $manager->executeQuery("$database.cursor", new Query([], ['batchSize' => 2]));
        $early->rewind();
        same(true, $early->valid() && !$early->isDead());
        unset($early);
    },
    'bulk' => function () {
        $result = write('bulk', function ($bulk) {
            foreach (range(0, 2) as $i) {
                $bulk->insert(['_id' => $i, 'n' => 0]);
            }
            $bulk->update(['_id' => 0], ['$inc' => ['n' => 1]]);
            $bulk->update([], ['$inc' => ['n' => 1]], ['multi' => true]);
            $bulk->update(['_id' => 9], ['n' => 9], ['upsert' => true]);
            $bulk->delete(['_id' => 2]);
        });
        same([3, 4, 1, 1], [$result->getInsertedCount(), $result->getModifiedCount(), $result->getUpsertedCount(), $result->getDeletedCount()]);
        $error = errorOf(fn () => write('bulk', function ($bulk) {
            foreach ([0, 4, 1, 5] as $i) {
                $bulk->insert(['_id' => $i]);
            }
        }, ['ordered' => false]));
        $found = array_map(fn ($e) => [$e->getCode(), $e->getIndex()], $error->getWriteResult()->getWriteErrors());
        same([[11000, 0], [11000, 2]], $found);
        same(5, count(find('bulk')));
    },
    'retry' => function () {
        $proxied = new Manager(getenv('EVENKEEL_PROXY_URI'), ['retryWrites' => true]);
        insert('retry', [['_id' => 1, 'n' => 0]], $proxied);
        $update = ['$inc' => ['n' => 1], '$set' => ['note' => 'lose this reply']];
        same(1, write('retry', fn ($bulk) => $bulk->update(['_id' => 1], $update), [], $proxied)->getModifiedCount());
        same(1, find('retry')[0]['n']);
    },
    'compression' => function () {
        foreach (explode(',', getenv('EVENKEEL_COMPRESSORS')) as $compressor) {
            $proxied = new Manager(getenv('EVENKEEL_PROXY_URI'), ['compressors' => $compressor]);
            $documents = array_map(fn ($i) => ['_id' => $i, 'text' => str_repeat('compress me ', 100)], range(0, 99));
            insert("compression_$compressor", $documents, $proxied);
            same(100, count(find("compression_$compressor", ['text' => new BSON\Regex('^compress')], [], $proxied)));
        }
    },
    'aggregation' => function () {
        insert('customers', array_map(fn ($i) => ['_id' => $i, 'name' => "customer $i"], range(0, 2)));
        insert('orders', array_map(fn ($i) => ['customer' => $i % 3, 'total' => $i], range(0, 29)));
        $rows = command(['aggregate' => 'orders', 'cursor' => new stdClass(), 'pipeline' => [
            ['$match' => ['total' => ['$gte' => 3]]],
            ['$group' => ['_id' => '$customer', 'total' => ['$sum' => '$total'], 'count' => ['$sum' => 1]]],
            ['$lookup' => ['from' => 'customers', 'localField' => '_id', 'foreignField' => '_id', 'as' => 'customer']],
            ['$project' => ['_id' => 0, 'name' => ['$first' => '$customer.name'], 'total' => 1, 'count' => 1]],
            ['$sort' => ['name' => 1]],
        ]]);
        same([['customer 0', 135, 9], ['customer 1', 144, 9], ['customer 2', 153, 9]],
            array_map(fn ($row) => [$row['name'], $row['total'], $row['count']], $rows));
    },
    'indexes' => function () {
        $names = fn () => array_column(command(['listIndexes' => 'indexes']), 'name');
        command(['createIndexes' => 'indexes', 'indexes' => [['key' => ['a' => 1], 'name' => 'by_a', 'unique' => true]]]);
        same(['_id_', 'by_a'], $names());
        insert('indexes', [['a' => 1]]);
        same(11000, errorOf(fn () => insert('indexes', [['a' => 1]]))->getCode());
        command(['dropIndexes' => 'indexes', 'index' => 'by_a']);
        same(['_id_'], $names());
    },
    'errors' => function () {
        insert('errors', [['_id' => 1]]);
        $error = errorOf(fn () => insert('errors', [['_id' => 1]]));
        same([true, 11000], [$error instanceof BulkWriteException, $error->getCode()]);
        same(2, errorOf(fn () => find('errors', ['$nonsense' => 1]))->getCode());
        $error = errorOf(fn () => command(['nonsense' => 1]));
        same([true, 59], [$error instanceof CommandException, $error->getCode()]);
        same(66, errorOf(fn () => write('errors', fn ($bulk) => $bulk->update(['_id' => 1], ['$set' => ['_id' => 2]])))->getCode());
    },
    'sessions' => function () use ($manager, $database) {
        $session = $manager->startSession(['causalConsistency' => true]);
        $bulk = new BulkWrite();
        $bulk->insert(['_id' => 1]);
        $manager->executeBulkWrite("$database.sessions", $bulk, ['session' => $session]);
        same([['_id' => 1]], rows($manager->executeQuery("$database.sessions", new Query([]), ['session' => $session])));
        same(true, $session->getOperationTime() !== null && $session->getClusterTime() !== null);
        $session->endSession();
    },
    'transactions' => function () use ($manager, $database) {
        command(['shardCollection' => "$database.accounts", 'key' => ['_id' => 'hashed']], null, 'admin');
        insert('accounts', array_map(fn ($i) => ['_id' => $i, 'balance' => 100], range(0, 9)));
        insert('transfers', [['_id' => 0]]);
        $session = $manager->startSession();
        $within = function (string $collection, callable $fill) use ($manager, $database, $session) {
            $bulk = new BulkWrite();
            $fill($bulk);
            $manager->executeBulkWrite("$database.$collection", $bulk, ['session' => $session]);
        };
        $session->startTransaction();
        $within('accounts', fn ($bulk) => $bulk->update(['_id' => 1], ['$inc' => ['balance' => -30]]));
        $within('accounts', fn ($bulk) => $bulk->update(['_id' => 2], ['$inc' => ['balance' => 30]]));
        $within('transfers', fn ($bulk) => $bulk->insert(['_id' => 1, 'amount' => 30]));
        $session->commitTransaction();
        $session->startTransaction();
        $within('accounts', fn ($bulk) => $bulk->update([], ['$set' => ['balance' => 0]], ['multi' => true]));
        $session->abortTransaction();
        $session->endSession();
        same([100, 70, 130, 100], array_column(find('accounts', [], ['sort' => ['_id' => 1], 'limit' => 4]), 'balance'));
    },
];

echo 'version ', phpversion('mongodb'), "\n";
command(['dropDatabase' => 1]);
foreach ($checks as $name => $check) {
    try {
        $check();
        echo "ok $name\n";
    } catch (Throwable $error) {
        echo "not ok $name: $error\n";
    }
}
