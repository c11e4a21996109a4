#!/usr/bin/perl
# Debian's Perl driver: the checks of tests/drivers/run.py.
use v5.36;
use utf8;
use BSON::Types qw(bson_decimal128 bson_double bson_int64 bson_minkey bson_oid bson_regex bson_time bson_timestamp bson_bytes);
use MongoDB;
use Test::Deep::NoTest qw(cmp_details deep_diag);

binmode STDOUT, ':encoding(UTF-8)';
my ($uri, $proxy_uri, $database) = @ENV{qw(EVENKEEL_URI EVENKEEL_PROXY_URI EVENKEEL_DATABASE)};
my $client = MongoDB->connect($uri);
my $db     = $client->db($database);

sub same ($expected, $found) {
    my ($ok, $stack) = cmp_details($found, $expected);
    die deep_diag($stack) unless $ok;
}

sub error_of ($work) {
    eval { $work->(); 1 } or return $@;
    die 'an error was expected';
}

my @checks = (
    topology => sub {
        same('isdbgrid', $db->run_command([ isMaster => 1 ])->{msg});
        same('Sharded', $client->topology_type);
    },
    crud => sub {
        my $c = $db->coll('crud');
        same(1, $c->insert_one({ _id => 1, name => 'Ada', n => 1 })->inserted_id);
        my $updated = $c->update_one({ _id => 1 }, { '$inc' => { n => 1 } });
        same([ 1, 1 ], [ $updated->matched_count, $updated->modified_count ]);
        same(1, $c->replace_one({ _id => 1 }, { name => 'Grace', n => 5 })->modified_count);
        same(2, $c->update_one({ _id => 2 }, { '$set' => { n => 7 } }, { upsert => 1 })->upserted_id);
        my $after = $c->find_one_and_update({ _id => 1 }, { '$inc' => { n => 1 } }, { returnDocument => 'after' });
        same({ _id => 1, name => 'Grace', n => 6 }, $after);
        same(1, $c->delete_one({ _id => 2 })->deleted_count);
        same([ { _id => 1, name => 'Grace', n => 6 } ], [ $c->find->all ]);
    },
    types => sub {
        my %document = (
            _id => bson_oid(), int => 7, long => bson_int64('9007199254740993'), double => bson_double(0.5),
            decimal => bson_decimal128('1.10'), text => 'žluťoučký 🐎', bytes => bson_bytes("\x00\xff"), regex => bson_regex('^a', 'i'),
            stamp => bson_timestamp(5, 6), nothing => undef, list => [ 1, [ 2, {} ] ], object => { a => { b => 'c' } }, min => bson_minkey(),
        );
        $db->coll('types')->insert_one({ %document, date => bson_time(1700000000.123) });
        my $found = $db->coll('types')->with_codec(wrap_numbers => 1)->find_one;
        same($document{$_}, $found->{$_}) for qw(_id text bytes stamp nothing object min);
        same("$document{$_}", "$found->{$_}") for qw(int long decimal);
        same(0.5, $found->{double} + 0);
        same(1700000000123, $found->{date}->value);
        same([ '^a', 'i' ], [ $found->{regex}->pattern, $found->{regex}->flags ]);
    },
    find => sub {
        my $c = $db->coll('find');
        $c->insert_many([ map { { i => $_, group => $_ % 7 } } 0 .. 99 ]);
        my $found = $c->find({ i => { '$gte' => 10, '$lt' => 30 } }, { projection => { _id => 0, i => 1 } })->sort([ i => -1 ])->skip(5)->limit(10);
        same([ reverse 15 .. 24 ], [ map { $_->{i} } $found->all ]);
        same(14,  $c->count_documents({ group => 3 }));
        same(100, $c->estimated_document_count);
        same([ 0 .. 6 ], [ sort $c->distinct('group')->all ]);
    },
    cursor => sub {
        my $c = $db->coll('cursor');
        $client->db('admin')->run_command([ shardCollection => "$database.cursor", key => { _id => 'hashed' } ]);
        $c->insert_many([ map { { _id => $_, text => 'x' x 100 } } 0 .. 9999 ]);
        same([ 0 .. 9999 ], [ map { $_->{_id} } $c->find({}, { sort => [ _id => 1 ], batchSize => 500 })->all ]);
        same(10_000, scalar(my @all = $c->find({}, { batchSize => 333 })->all));
        my $early = $c->find({}, { batchSize => 2 })->result;
        same(1, defined $early->next ? 1 : 0);
    },
    bulk => sub {
        my $c      = $db->coll('bulk');
        my $result = $c->bulk_write([
            (map { +{ insert_one => [ { _id => $_, n => 0 } ] } } 0 .. 2),
            { update_one => [ { _id => 0 }, { '$inc' => { n => 1 } } ] }, { update_many => [ {}, { '$inc' => { n => 1 } } ] },
            { replace_one => [ { _id => 9 }, { n => 9 }, { upsert => 1 } ] }, { delete_one => [ { _id => 2 } ] },
        ]);
        same([ 3, 4, 1, 1 ], [ map { $result->$_ } qw(inserted_count modified_count upserted_count deleted_count) ]);
        my $error = error_of(sub { $c->bulk_write([ map { +{ insert_one => [ { _id => $_ } ] } } 0, 4, 1, 5 ], { ordered => 0 }) });
        same([ [ 11000, 0 ], [ 11000, 2 ] ], [ map { [ $_->{code}, $_->{index} ] } $error->result->write_errors->@* ]);
        same(5, $c->count_documents({}));
    },
    retry => sub {
        my $c = MongoDB->connect($proxy_uri, { retry_writes => 1 })->db($database)->coll('retry');
        $c->insert_one({ _id => 1, n => 0 });
        same(1, $c->update_one({ _id => 1 }, { '$inc' => { n => 1 }, '$set' => { note => 'lose this reply' } })->modified_count);
        same(1, $c->find_one({ _id => 1 })->{n});
    },
    compression => sub {
        my $c = MongoDB->connect($proxy_uri, { compressors => ['zlib'] })->db($database)->coll('compression');
        $c->insert_many([ map { { _id => $_, text => 'compress me ' x 100 } } 0 .. 99 ]);
        same(100, scalar(my @all = $c->find({ text => qr/^compress/ })->all));
    },
    aggregation => sub {
        $db->coll('customers')->insert_many([ map { { _id => $_, name => "customer $_" } } 0 .. 2 ]);
        $db->coll('orders')->insert_many([ map { { customer => $_ % 3, total => $_ } } 0 .. 29 ]);
        my $rows = $db->coll('orders')->aggregate([
            { '$match'   => { total => { '$gte' => 3 } } },
            { '$group'   => { _id => '$customer', total => { '$sum' => '$total' }, count => { '$sum' => 1 } } },
            { '$lookup'  => { from => 'customers', localField => '_id', foreignField => '_id', as => 'customer' } },
            { '$project' => { _id => 0, name => { '$first' => '$customer.name' }, total => 1, count => 1 } },
            { '$sort'    => { name => 1 } },
        ]);
        same([ [ 'customer 0', 135, 9 ], [ 'customer 1', 144, 9 ], [ 'customer 2', 153, 9 ] ],
            [ map { [ $_->@{qw(name total count)} ] } $rows->all ]);
    },
    indexes => sub {
        my $c     = $db->coll('indexes');
        my $names = sub { [ map { $_->{name} } $c->indexes->list->all ] };
        same('by_a', $c->indexes->create_one([ a => 1 ], { unique => 1, name => 'by_a' }));
        same([qw(_id_ by_a)], $names->());
        $c->insert_one({ a => 1 });
        same(11000, error_of(sub { $c->insert_one({ a => 1 }) })->code);
        $c->indexes->drop_one('by_a');
        same([qw(_id_)], $names->());
    },
    errors => sub {
        my $c = $db->coll('errors');
        $c->insert_one({ _id => 1 });
        my $duplicate = error_of(sub { $c->insert_one({ _id => 1 }) });
        same([ 'MongoDB::DuplicateKeyError', 11000 ], [ ref $duplicate, $duplicate->code ]);
        same(2,  error_of(sub { $c->find({ '$nonsense' => 1 })->all })->code);
        same(59, error_of(sub { $db->run_command([ nonsense => 1 ]) })->code);
        same(66, error_of(sub { $c->update_one({ _id => 1 }, { '$set' => { _id => 2 } }) })->code);
    },
    sessions => sub {
        my $session = $client->start_session({ causalConsistency => 1 });
        my $c       = $db->coll('sessions');
        $c->insert_one({ _id => 1 }, { session => $session });
        same([ { _id => 1 } ], [ $c->find({}, { session => $session })->all ]);
        same(1, $session->operation_time && $session->cluster_time ? 1 : 0);
        $session->end_session;
    },
    transactions => sub {
        my $c = $db->coll('accounts');
        $client->db('admin')->run_command([ shardCollection => "$database.accounts", key => { _id => 'hashed' } ]);
        $c->insert_many([ map { { _id => $_, balance => 100 } } 0 .. 9 ]);
        $db->coll('transfers')->insert_one({ _id => 0 });
        my $session = $client->start_session;
        my $within  = sub { +{ session => $session } };  # the driver takes what it finds out of it
        $session->start_transaction;
        $c->update_one({ _id => 1 }, { '$inc' => { balance => -30 } }, $within->());
        $c->update_one({ _id => 2 }, { '$inc' => { balance => 30 } }, $within->());
        $db->coll('transfers')->insert_one({ _id => 1, amount => 30 }, $within->());
        $session->commit_transaction;
        $session->start_transaction;
        $c->update_many({}, { '$set' => { balance => 0 } }, $within->());
        same(0, $c->find_one({ _id => 1 }, undef, $within->())->{balance});
        $session->abort_transaction;
        $session->end_session;
        same([ 100, 70, 130, 100 ], [ map { $_->{balance} } $c->find({}, { sort => [ _id => 1 ], limit => 4 })->all ]);
    },
);

say "version $MongoDB::VERSION";
$db->drop;
while (my ($name, $check) = splice @checks, 0, 2) {
    say eval { $check->(); 1 } ? "ok $name" : "not ok $name: $@";
}
