// Measures the storage engine in its real form: one shared log, some shards, 1 KB documents with
// one index entry each.
//
// storage_bench --folder DIR [--docs 3000000] [--shards 3] [--batch 64] [--in-flight 8]
//               [--order key|hash64|hash12] [--ids rising|clients|random]
//               [--index none|ordered|random]
// --order is the placement in front of `_id`: none, a hash, or the first 12 bits of one. --ids are
// ObjectIds of one client, ObjectIds of 64 clients whose clocks agree, or values in random order.
// Reports documents per second, the longest stall, how long syncs of the log took, what was written
// to the disk, and anonymous memory. DIR is removed afterwards.
#include <absl/synchronization/blocking_counter.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/clock.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/thread.h"
#include "storage/file.h"
#include "storage/log/shared_log.h"
#include "storage/store.h"

namespace evenkeel {
namespace {

struct Settings {
  std::string folder;
  uint64_t docs = 3'000'000;
  uint64_t shards = 3;
  std::string order = "key";
  std::string ids = "rising";
  std::string index = "ordered";
  uint64_t batch = 64;
  uint64_t in_flight = 8;  // batches per shard
  uint64_t doc_bytes = 1024;
};

// Durations, for percentiles at the end.
class Samples {
 public:
  void Add(absl::Duration duration) {
    absl::MutexLock lock(&mutex_);
    samples_.push_back(duration);
  }
  std::string Summary() {
    absl::MutexLock lock(&mutex_);
    if (samples_.empty()) return "none";
    std::sort(samples_.begin(), samples_.end());
    const auto at = [this](double share) {
      const auto place = static_cast<size_t>(share * static_cast<double>(samples_.size() - 1));
      return absl::ToDoubleMilliseconds(samples_[place]);
    };
    return fmt::format("n={} p50={:.2f} p99={:.2f} p99.9={:.2f} max={:.2f} ms", samples_.size(),
                       at(0.5), at(0.99), at(0.999), at(1));
  }

 private:
  absl::Mutex mutex_;
  std::vector<absl::Duration> samples_ ABSL_GUARDED_BY(mutex_);
};

// The system's files, with the syncs timed.
class TimedFile final : public storage::File {
 public:
  TimedFile(std::unique_ptr<File> file, Samples* syncs) : file_(std::move(file)), syncs_(syncs) {}
  absl::Status WriteAt(uint64_t offset, std::string_view bytes) override {
    return file_->WriteAt(offset, bytes);
  }
  absl::StatusOr<std::string> ReadAt(uint64_t offset, size_t length) const override {
    return file_->ReadAt(offset, length);
  }
  absl::Status Sync() override {
    const absl::Time begin = absl::Now();
    absl::Status status = file_->Sync();
    syncs_->Add(absl::Now() - begin);
    return status;
  }
  absl::Status Allocate(uint64_t bytes) override { return file_->Allocate(bytes); }
  uint64_t SizeBytes() const override { return file_->SizeBytes(); }

 private:
  const std::unique_ptr<File> file_;
  Samples* const syncs_;
};

class TimedFileSystem final : public storage::FileSystem {
 public:
  explicit TimedFileSystem(Samples* syncs) : syncs_(syncs) {}
  absl::StatusOr<std::unique_ptr<storage::File>> Open(const std::string& path,
                                                      bool create) override {
    auto file = System()->Open(path, create);
    if (!file.ok()) return file.status();
    return std::make_unique<TimedFile>(*std::move(file), syncs_);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) override {
    return System()->List(folder);
  }
  absl::Status CreateFolder(const std::string& folder) override {
    return System()->CreateFolder(folder);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    return System()->Rename(from, to);
  }
  absl::Status Remove(const std::string& path) override { return System()->Remove(path); }
  absl::Status SyncFolder(const std::string& folder) override {
    return System()->SyncFolder(folder);
  }
  absl::StatusOr<uint64_t> FreeBytes(const std::string& folder) override {
    return System()->FreeBytes(folder);
  }
  bool Exists(const std::string& path) override { return System()->Exists(path); }

 private:
  Samples* const syncs_;
};

// A shard's log with the waits for space timed.
class TimedShardLog final : public storage::ShardLog {
 public:
  TimedShardLog(ShardLog* log, Samples* waits) : log_(log), waits_(waits) {}
  void SetCommittedListener(CommittedListener listener) override {
    log_->SetCommittedListener(std::move(listener));
  }
  absl::Status Reserve(size_t bytes) override {
    const absl::Time begin = absl::Now();
    absl::Status status = log_->Reserve(bytes);
    waits_->Add(absl::Now() - begin);
    return status;
  }
  absl::Status ReserveEssential(size_t bytes) override { return log_->ReserveEssential(bytes); }
  size_t PayloadBytesMax() const override { return log_->PayloadBytesMax(); }
  void Append(storage::LogEntry entry) override { log_->Append(std::move(entry)); }
  LogIndex committed() const override { return log_->committed(); }
  LogIndex first_index() const override { return log_->first_index(); }
  absl::StatusOr<std::vector<storage::LogEntry>> Read(LogIndex from, size_t bytes_max) override {
    return log_->Read(from, bytes_max);
  }
  absl::Status CutSuffix(LogIndex from) override { return log_->CutSuffix(from); }
  void Forget(LogIndex last) override { log_->Forget(last); }
  uint64_t HeldBackBytes() const override { return log_->HeldBackBytes(); }

 private:
  ShardLog* const log_;
  Samples* const waits_;
};

uint64_t MixedHash(uint64_t number) {
  number ^= number >> 33;
  number *= 0xff51afd7ed558ccd;
  number ^= number >> 33;
  number *= 0xc4ceb9fe1a85ec53;
  return number ^ number >> 33;
}

void AppendBigEndian(uint64_t number, int bytes, std::string* out) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    out->push_back(static_cast<char>(number >> shift));
}

// The 12 bytes of an ObjectId (seconds, a process's own number, a counter), or as many random ones.
std::string IdOf(const std::string& ids, uint64_t number) {
  constexpr uint64_t kDocsPerSecond = 20'000;
  constexpr uint64_t kClients = 64;
  std::string id;
  if (ids == "random") {
    AppendBigEndian(MixedHash(number + 1'000'000'007), 8, &id);
    AppendBigEndian(number, 4, &id);
    return id;
  }
  const uint64_t client = ids == "clients" ? MixedHash(number) % kClients : 0;
  AppendBigEndian(0x65650000 + number / kDocsPerSecond, 4, &id);
  AppendBigEndian(MixedHash(client + 1) >> 24, 5, &id);
  AppendBigEndian(number, 3, &id);
  return id;
}

// Collection, placement by `order`, the encoded _id.
std::string DocKey(const Settings& settings, uint64_t number) {
  std::string key;
  AppendBigEndian(7, 8, &key);
  const uint64_t hash = MixedHash(number);
  if (settings.order == "hash64") AppendBigEndian(hash, 8, &key);
  if (settings.order == "hash12") AppendBigEndian(hash >> 52, 2, &key);
  key.push_back('\x40');
  return key + IdOf(settings.ids, number);
}

std::string IndexKey(const std::string& index, uint64_t id, const std::string& doc_key) {
  std::string key;
  AppendBigEndian(9, 8, &key);
  AppendBigEndian(index == "random" ? MixedHash(id + 77) : id, 8, &key);
  key.append(doc_key, 8);
  return key;
}

// What the load shares.
struct Load {
  explicit Load(const Settings& settings_in) : settings(settings_in) {}
  const Settings settings;
  std::string document;
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> done{0};
  std::atomic<int64_t> last_end{absl::ToUnixNanos(absl::Now())};
  std::atomic<int64_t> longest_gap{0};
  Samples latencies;
};

// One statement of `batch` inserts; when it is finished the next one of the same place is
// submitted.
class InsertOp final : public storage::WriteOp {
 public:
  InsertOp(Load* load, storage::ShardStore* store, absl::BlockingCounter* places)
      : load_(load), store_(store), places_(places), begin_(absl::Now()) {
    first_ = load_->next.fetch_add(load_->settings.batch);
    const uint64_t docs = load_->settings.docs;
    count_ = first_ >= docs ? 0 : std::min(load_->settings.batch, docs - first_);
    for (uint64_t i = 0; i < count_; ++i) {
      doc_keys_.push_back(DocKey(load_->settings, first_ + i));
      index_keys_.push_back(IndexKey(load_->settings.index, first_ + i, doc_keys_.back()));
    }
  }
  uint64_t count() const { return count_; }

  void Execute(storage::WriteContext& context) override {
    const bool has_index = load_->settings.index != "none";
    for (uint64_t i = 0; i < count_; ++i) {
      context.NextUnit();
      EVENKEEL_CHECK(!context.Get(storage::Table::kDocs, doc_keys_[i]).has_value());
      context.Put(storage::Table::kDocs, doc_keys_[i], load_->document);
      if (has_index) context.Put(storage::Table::kIndex, index_keys_[i], {});
      context.AddToCounter("7", {1, static_cast<int64_t>(load_->document.size())});
    }
  }
  void Finished(const absl::Status& status, Timestamp) override {
    EVENKEEL_CHECK(status.ok());
    const absl::Time now = absl::Now();
    load_->latencies.Add(now - begin_);
    load_->done.fetch_add(count_);
    const int64_t gap = absl::ToUnixNanos(now) - load_->last_end.exchange(absl::ToUnixNanos(now));
    int64_t longest = load_->longest_gap.load();
    while (gap > longest && !load_->longest_gap.compare_exchange_weak(longest, gap)) {
    }
    auto next = std::make_unique<InsertOp>(load_, store_, places_);
    if (next->count() == 0) {
      places_->DecrementCount();
    } else {
      EVENKEEL_CHECK(store_->Submit(std::move(next)).ok());
    }
  }
  size_t SizeBytes() const override { return count_ * (load_->document.size() + 128); }

 private:
  Load* const load_;
  storage::ShardStore* const store_;
  absl::BlockingCounter* const places_;
  const absl::Time begin_;
  uint64_t first_ = 0;
  uint64_t count_ = 0;
  std::vector<std::string> doc_keys_;
  std::vector<std::string> index_keys_;
};

uint64_t AnonymousMegabytes() {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("RssAnon:")) return std::strtoull(line.c_str() + 8, nullptr, 10) / 1024;
  }
  return 0;
}

// What this process has sent to the disk, its log too.
uint64_t WrittenMegabytes() {
  std::ifstream file("/proc/self/io");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("write_bytes:"))
      return std::strtoull(line.c_str() + 12, nullptr, 10) >> 20;
  }
  return 0;
}

double ProcessorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Shards {
  std::unique_ptr<storage::SharedLog> log;
  std::vector<std::unique_ptr<TimedShardLog>> shard_logs;
  std::vector<std::unique_ptr<storage::ShardStore>> stores;
};

Shards OpenShards(const Settings& settings, TimedFileSystem* files, Samples* waits,
                  base::HybridClock* clock) {
  Shards shards;
  std::vector<ShardId> ids;
  for (uint32_t i = 0; i < settings.shards; ++i) ids.push_back(ShardId{i});
  storage::SharedLogOptions options;
  options.folder = settings.folder + "/log";
  options.file_system = files;
  auto log = storage::SharedLog::Open(options, ids);
  EVENKEEL_CHECK(log.ok());
  shards.log = *std::move(log);
  for (const ShardId id : ids) {
    storage::StoreOptions store_options;
    store_options.folder = fmt::format("{}/shard{}", settings.folder, id.value);
    shards.shard_logs.push_back(std::make_unique<TimedShardLog>(shards.log->shard(id), waits));
    auto store = storage::ShardStore::Open(store_options, shards.shard_logs.back().get(), clock);
    EVENKEEL_CHECK(store.ok());
    shards.stores.push_back(*std::move(store));
  }
  return shards;
}

// Prints a line a second until the load is done.
void Watch(const Load& load, const Shards& shards, uint64_t* peak_memory) {
  uint64_t before = 0;
  while (before < load.settings.docs) {
    absl::SleepFor(absl::Seconds(1));
    const uint64_t done = load.done.load();
    *peak_memory = std::max(*peak_memory, AnonymousMegabytes());
    uint64_t frozen = 0;
    uint64_t checkpoints = 0;
    for (const auto& store : shards.stores) {
      const storage::StoreStats stats = store->Stats();
      frozen += stats.frozen_table_bytes;
      checkpoints += stats.checkpoints;
    }
    fmt::print("  {:8} docs  {:6}/s  frozen {:4} MB  checkpoints {:3}  anonymous {:5} MB\n", done,
               done - before, frozen >> 20, checkpoints, AnonymousMegabytes());
    std::fflush(stdout);
    before = done;
  }
}

void Run(const Settings& settings) {
  Samples syncs;
  Samples waits;
  TimedFileSystem files(&syncs);
  base::HybridClock clock(base::WallClock::System(), absl::Seconds(10));
  Shards shards = OpenShards(settings, &files, &waits, &clock);
  Load load(settings);
  base::Random random(1);
  load.document = random.Bytes(settings.doc_bytes);

  const absl::Time begin = absl::Now();
  absl::BlockingCounter places(static_cast<int>(settings.shards * settings.in_flight));
  for (uint64_t i = 0; i < settings.shards * settings.in_flight; ++i) {
    storage::ShardStore* store = shards.stores[i % settings.shards].get();
    EVENKEEL_CHECK(store->Submit(std::make_unique<InsertOp>(&load, store, &places)).ok());
  }
  uint64_t peak_memory = 0;
  Watch(load, shards, &peak_memory);
  places.Wait();
  const absl::Duration loaded = absl::Now() - begin;
  for (const auto& store : shards.stores) EVENKEEL_CHECK(store->Checkpoint().ok());
  const absl::Duration checkpointed = absl::Now() - begin;
  uint64_t lmdb_bytes = 0;
  for (const auto& store : shards.stores) lmdb_bytes += store->Stats().lmdb_bytes;
  for (const auto& store : shards.stores) EVENKEEL_CHECK(store->Close().ok());

  const auto docs = static_cast<double>(settings.docs);
  fmt::print(
      "order {} ids {} index {}: {:.0f} docs/s, {:.0f} docs/s until all is in LMDB ({:.1f} s)\n",
      settings.order, settings.ids, settings.index, docs / absl::ToDoubleSeconds(loaded),
      docs / absl::ToDoubleSeconds(checkpointed), absl::ToDoubleSeconds(checkpointed));
  fmt::print(
      "longest stall {:.1f} ms, anonymous memory {} MB, LMDB {} MB, written {} MB, {:.1f} us of "
      "processor per document\n",
      static_cast<double>(load.longest_gap.load()) / 1e6, peak_memory, lmdb_bytes >> 20,
      WrittenMegabytes(), ProcessorSeconds() * 1e6 / docs);
  fmt::print("statement latency: {}\nlog sync: {}\nwait for log space: {}\n",
             load.latencies.Summary(), syncs.Summary(), waits.Summary());
}

}  // namespace
}  // namespace evenkeel

int main(int argc, char** argv) {
  evenkeel::Settings settings;
  const std::map<std::string, uint64_t*> numbers = {{"--docs", &settings.docs},
                                                    {"--shards", &settings.shards},
                                                    {"--batch", &settings.batch},
                                                    {"--in-flight", &settings.in_flight},
                                                    {"--doc-bytes", &settings.doc_bytes}};
  const std::map<std::string, std::string*> texts = {{"--folder", &settings.folder},
                                                     {"--order", &settings.order},
                                                     {"--ids", &settings.ids},
                                                     {"--index", &settings.index}};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (const auto number = numbers.find(argv[i]); number != numbers.end()) {
      *number->second = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (const auto text = texts.find(argv[i]); text != texts.end()) {
      *text->second = argv[i + 1];
    } else {
      fmt::print(stderr, "unknown option {}\n", argv[i]);
      return 2;
    }
  }
  if (settings.folder.empty() || std::filesystem::exists(settings.folder)) {
    fmt::print(stderr, "--folder must name a folder that does not exist yet\n");
    return 2;
  }
  evenkeel::Run(settings);
  std::filesystem::remove_all(settings.folder);
  return 0;
}
