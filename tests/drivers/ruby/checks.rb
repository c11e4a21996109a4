# frozen_string_literal: true

# Debian's Ruby driver: the checks of tests/drivers/run.py.
require 'mongo'
require 'bigdecimal'

Mongo::Logger.logger.level = Logger::FATAL
URI_, PROXY_URI, DATABASE = ENV.values_at('EVENKEEL_URI', 'EVENKEEL_PROXY_URI', 'EVENKEEL_DATABASE')
CLIENT = Mongo::Client.new(URI_, database: DATABASE)

def same(expected, found)
  raise "expected #{expected.inspect}, found #{found.inspect}" unless expected == found
end

# This old driver tells the code only in the message.
def code_of(error)
  error.message[/\((\d+)\)/, 1].to_i
end

def error_of
  yield
rescue Mongo::Error => e
  e
else
  raise 'an error was expected'
end

CHECKS = {
  topology: lambda {
    same('isdbgrid', CLIENT.database.command(isMaster: 1).first['msg'])
    same(Mongo::Cluster::Topology::Sharded, CLIENT.cluster.topology.class)
  },
  crud: lambda {
    c = CLIENT[:crud]
    same(1, c.insert_one(_id: 1, name: 'Ada', n: 1).inserted_id)
    updated = c.update_one({ _id: 1 }, '$inc' => { n: 1 })
    same([1, 1], [updated.matched_count, updated.modified_count])
    same(1, c.replace_one({ _id: 1 }, name: 'Grace', n: 5).modified_count)
    same(2, c.update_one({ _id: 2 }, { '$set' => { n: 7 } }, upsert: true).upserted_id)
    after = c.find_one_and_update({ _id: 1 }, { '$inc' => { n: 1 } }, return_document: :after)
    same({ '_id' => 1, 'name' => 'Grace', 'n' => 6 }, after)
    same(1, c.delete_one(_id: 2).deleted_count)
    same([{ '_id' => 1, 'name' => 'Grace', 'n' => 6 }], c.find.to_a)
  },
  types: lambda {
    document = {
      '_id' => BSON::ObjectId.new, 'int' => 7, 'long' => 9_007_199_254_740_993, 'double' => 0.5, 'decimal' => BSON::Decimal128.new('1.10'),
      'date' => Time.at(1_700_000_000, 123, :millisecond).utc, 'text' => 'žluťoučký 🐎', 'bytes' => BSON::Binary.new("\x00\xff".b),
      'regex' => BSON::Regexp::Raw.new('^a', 'i'), 'stamp' => BSON::Timestamp.new(5, 6), 'yes' => true, 'nothing' => nil,
      'list' => [1, [2, {}]], 'object' => { 'a' => { 'b' => 'c' } }, 'min' => BSON::MinKey.new
    }
    CLIENT[:types].insert_one(document)
    found = CLIENT[:types].find.first
    document.each { |field, value| same([field, value], [field, found[field]]) }
  },
  find: lambda {
    c = CLIENT[:find]
    c.insert_many((0...100).map { |i| { i: i, group: i % 7 } })
    found = c.find({ i: { '$gte' => 10, '$lt' => 30 } }, projection: { _id: 0, i: 1 }, sort: { i: -1 }, skip: 5, limit: 10)
    same((15..24).to_a.reverse, found.map { |row| row['i'] })
    same(14, c.find(group: 3).count)
    same((0..6).to_a, c.distinct(:group).to_a.sort)
  },
  cursor: lambda {
    c = CLIENT[:cursor]
    CLIENT.use(:admin).database.command(shardCollection: "#{DATABASE}.cursor", key: { _id: 'hashed' })
    c.insert_many((0...10_000).map { |i| { _id: i, text: 'x' * 100 } })
    same((0...10_000).to_a, c.find({}, sort: { _id: 1 }, batch_size: 500).map { |row| row['_id'] })
    same(10_000, c.find({}, batch_size: 333).to_a.length)
    same(true, c.find({}, batch_size: 2).each.next.key?('_id'))
  },
  bulk: lambda {
    c = CLIENT[:bulk]
    inserts = ->(ids) { ids.map { |i| { insert_one: { _id: i, n: 0 } } } }
    result = c.bulk_write(inserts.call([0, 1, 2]) + [
      { update_one: { filter: { _id: 0 }, update: { '$inc' => { n: 1 } } } }, { update_many: { filter: {}, update: { '$inc' => { n: 1 } } } },
      { replace_one: { filter: { _id: 9 }, replacement: { n: 9 }, upsert: true } }, { delete_one: { filter: { _id: 2 } } }
    ])
    same([3, 4, 1, 1], [result.inserted_count, result.modified_count, result.upserted_count, result.deleted_count])
    error = error_of { c.bulk_write(inserts.call([0, 4, 1, 5]), ordered: false) }
    same([[11_000, 0], [11_000, 2]], error.result['writeErrors'].map { |e| e.values_at('code', 'index') })
    same(5, c.find.count)
  },
  retry: lambda {
    c = Mongo::Client.new(PROXY_URI, database: DATABASE, retry_writes: true)[:retry]
    c.insert_one(_id: 1, n: 0)
    same(1, c.update_one({ _id: 1 }, '$inc' => { n: 1 }, '$set' => { note: 'lose this reply' }).modified_count)
    same(1, c.find.first['n'])
  },
  compression: lambda {
    c = Mongo::Client.new(PROXY_URI, database: DATABASE, compressors: ['zlib'])[:compression]
    c.insert_many((0...100).map { |i| { _id: i, text: 'compress me ' * 100 } })
    same(100, c.find(text: /^compress/).to_a.length)
  },
  aggregation: lambda {
    CLIENT[:customers].insert_many((0...3).map { |i| { _id: i, name: "customer #{i}" } })
    CLIENT[:orders].insert_many((0...30).map { |i| { customer: i % 3, total: i } })
    rows = CLIENT[:orders].aggregate([
      { '$match' => { total: { '$gte' => 3 } } },
      { '$group' => { _id: '$customer', total: { '$sum' => '$total' }, count: { '$sum' => 1 } } },
      { '$lookup' => { from: 'customers', localField: '_id', foreignField: '_id', as: 'customer' } },
      { '$project' => { _id: 0, name: { '$first' => '$customer.name' }, total: 1, count: 1 } },
      { '$sort' => { name: 1 } }
    ])
    same([['customer 0', 135, 9], ['customer 1', 144, 9], ['customer 2', 153, 9]], rows.map { |row| row.values_at('name', 'total', 'count') })
  },
  indexes: lambda {
    c = CLIENT[:indexes]
    c.indexes.create_one({ a: 1 }, unique: true, name: 'by_a')
    same(%w[_id_ by_a], c.indexes.map { |index| index['name'] })
    c.insert_one(a: 1)
    same(11_000, code_of(error_of { c.insert_one(a: 1) }))
    c.indexes.drop_one('by_a')
    same(%w[_id_], c.indexes.map { |index| index['name'] })
  },
  errors: lambda {
    c = CLIENT[:errors]
    c.insert_one(_id: 1)
    same(11_000, code_of(error_of { c.insert_one(_id: 1) }))
    same(2, code_of(error_of { c.find('$nonsense' => 1).to_a }))
    same(59, code_of(error_of { CLIENT.database.command(nonsense: 1) }))
    same(66, code_of(error_of { c.update_one({ _id: 1 }, '$set' => { _id: 2 }) }))
  },
  sessions: lambda {
    session = CLIENT.start_session(causal_consistency: true)
    CLIENT[:sessions].insert_one({ _id: 1 }, session: session)
    same([{ '_id' => 1 }], CLIENT[:sessions].find({}, session: session).to_a)
    same(true, !session.operation_time.nil? && !session.cluster_time.nil?)
    session.end_session
    same(true, session.ended?)
  }
}.freeze

puts "version #{Mongo::VERSION}"
puts 'skip transactions: newer than this driver'
CLIENT.database.drop
CHECKS.each do |name, check|
  check.call
  puts "ok #{name}"
rescue StandardError => e
  puts "not ok #{name}: #{e.class}: #{e.message} #{e.backtrace.first(5).join("\n")}"
end
