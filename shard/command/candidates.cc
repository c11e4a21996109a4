// Runs the searches of write statements.
#include "shard/command/candidates.h"

#include <algorithm>
#include <utility>

#include "base/async/wait.h"
#include "base/status.h"

namespace evenkeel::shard {
namespace {

// Records looked at before a slice ends, and matches that one write slice takes.
constexpr size_t kExaminedPerSlice = 512;
constexpr size_t kMatchesPerSlice = 128;
constexpr size_t kBytesPerSlice = 4u << 20;
// Document keys that one statement holds. Past it an index plan gives way to a scan in key order,
// which needs none; a statement that moves documents fails.
constexpr size_t kKeyBytesMax = 32u << 20;
constexpr size_t kBytesPerKey = 40;  // beside its characters

absl::StatusOr<query::Plan> PlanOf(const WriteStatement& statement,
                                   const std::vector<query::IndexDescription>& indexes) {
  query::PlanRequest request;
  request.filter = &statement.filter();
  request.sort = &statement.sort();
  request.hint = statement.hint();
  request.collation = statement.collation();
  return query::ChoosePlan(request, indexes);
}

// Between two slices of a search: checks for interruption, waits for what the scan has met.
Awaitable<absl::Status> Pause(const CommandContext& context, const Scan& scan) {
  EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
  if (scan.blocked_on() == nullptr) co_return absl::OkStatus();
  co_return co_await context.WaitFor(scan.blocked_on());
}

// One slice of a search, in the state that the command reads now.
absl::StatusOr<bool> RunSlice(const CommandContext& context, Scan& scan, Scan::Visitor visit) {
  EVENKEEL_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.Read());
  return scan.Run(slice, kExaminedPerSlice, visit);
}

// The best candidates so far, in sort order.
class Best {
 public:
  Best(const WriteStatement& statement, bool sorted)
      : sort_(statement.sort()),
        collation_(statement.collation()),
        in_order_(sort_.empty() || sorted) {}

  // False: enough were found.
  bool Add(const Found& found) {
    if (in_order_) {
      Insert(ranked_.size(), found, {});
      return ranked_.size() < kCandidatesMax;
    }
    bson::Document key = sort_.KeyOf(found.document, collation_);
    const auto place = std::upper_bound(
        ranked_.begin(), ranked_.end(), key, [this](const bson::Document& a, const Ranked& b) {
          return sort_.CompareKeys(a.view(), b.sort_key.view(), collation_) < 0;
        });
    const auto at = static_cast<size_t>(place - ranked_.begin());
    if (at == kCandidatesMax) return true;
    Insert(at, found, std::move(key));
    if (ranked_.size() > kCandidatesMax) ranked_.pop_back();
    return true;
  }
  // True when a later slice cannot bring a better one.
  bool IsDecided() const { return in_order_ && !ranked_.empty(); }

  std::vector<Candidate> Take() {
    std::vector<Candidate> out;
    for (Ranked& ranked : ranked_) out.push_back(std::move(ranked.candidate));
    return out;
  }

 private:
  struct Ranked {
    Candidate candidate;
    bson::Document sort_key;
  };

  // Only the best one's document is kept.
  void Insert(size_t at, const Found& found, bson::Document sort_key) {
    Ranked ranked{{std::string(found.doc_key), found.version, {}}, std::move(sort_key)};
    if (at == 0) {
      if (!ranked_.empty()) ranked_.front().candidate.document = {};
      ranked.candidate.document = bson::Document(found.document);
    }
    ranked_.insert(ranked_.begin() + static_cast<std::ptrdiff_t>(at), std::move(ranked));
  }

  const query::SortPattern& sort_;
  const bson::StringComparator* const collation_;
  const bool in_order_;
  std::vector<Ranked> ranked_;
};

}  // namespace

Awaitable<absl::StatusOr<std::vector<Candidate>>> FindFirst(CommandContext& context,
                                                            const WriteStatement& statement) {
  ShardService& service = context.service;
  const auto home = service.executor();
  const std::vector<query::IndexDescription> indexes =
      DescribeIndexes(*statement.collection().entry, *service.catalog());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Plan plan, PlanOf(statement, indexes));
  Scan scan(statement.collection(), plan);
  const bool keeps_order = scan.KeepsOrder(plan, *service.catalog());
  Best best(statement, keeps_order);
  absl::Status failed;
  const auto visit = [&](const Found& found) {
    const auto matches = statement.Matches(found.document);
    failed = matches.status();
    const bool go_on = failed.ok() && (!*matches || best.Add(found));
    return go_on ? Scan::Visit::kContinue : Scan::Visit::kStop;
  };
  absl::Status status;
  bool switched = false;
  while (true) {
    const auto ended = RunSlice(context, scan, visit);
    status = ended.ok() ? failed : ended.status();
    if (!status.ok() || *ended || best.IsDecided()) break;
    status = co_await Pause(context, scan);
    if (!status.ok()) break;
    co_await base::SwitchTo(service.pool());
    switched = true;
  }
  if (switched) co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(BeforeAnyChange(status));
  co_return best.Take();
}

absl::Status BeforeAnyChange(const absl::Status& status) {
  if (status.ok() || CodeOf(status) != ErrorCode::kQueryPlanKilled) return status;
  return MakeError(ErrorCode::kStaleConfig, MessageOf(status));
}

AllCandidates::~AllCandidates() = default;

absl::StatusOr<std::unique_ptr<AllCandidates>> AllCandidates::Start(
    CommandContext& context, const WriteStatement& statement) {
  auto out = std::unique_ptr<AllCandidates>(new AllCandidates());
  out->statement_ = &statement;
  out->indexes_ = DescribeIndexes(*statement.collection().entry, *context.service.catalog());
  EVENKEEL_ASSIGN_OR_RETURN(const query::Plan plan, PlanOf(statement, out->indexes_));
  out->scan_ = std::make_unique<Scan>(statement.collection(), plan);
  out->keys_first_ = out->scan_->UsesIndexRecords();
  return out;
}

Awaitable<absl::Status> AllCandidates::CollectKeys(CommandContext& context) {
  const auto home = context.service.executor();
  absl::Status status;
  size_t bytes = 0;
  bool switched = false;
  while (true) {
    absl::Status failed;
    const auto visit = [&](const Found& found) {
      const auto matches = statement_->Matches(found.document);
      failed = matches.status();
      if (!failed.ok()) return Scan::Visit::kStop;
      if (*matches) {
        keys_.emplace_back(found.doc_key);
        bytes += found.doc_key.size() + kBytesPerKey;
      }
      return Scan::Visit::kContinue;
    };
    const auto ended = RunSlice(context, *scan_, visit);
    status = ended.ok() ? failed : ended.status();
    if (status.ok()) status = co_await Pause(context, *scan_);
    if (!status.ok() || *ended || bytes > kKeyBytesMax) break;
    co_await base::SwitchTo(context.service.pool());
    switched = true;
  }
  if (bytes > kKeyBytesMax) {
    keys_ = {};
    keys_first_ = false;
    scan_ = std::make_unique<Scan>(statement_->collection());
  } else {
    std::sort(keys_.begin(), keys_.end());
    ended_ = true;
  }
  if (switched) co_await base::SwitchTo(home);
  co_return status;
}

void AllCandidates::AddKeys(const storage::ReadSlice& slice, std::vector<Candidate>* out) {
  size_t bytes = 0;
  while (next_key_ < keys_.size() && out->size() < kMatchesPerSlice && bytes < kBytesPerSlice) {
    std::string& key = keys_[next_key_++];
    const auto record = slice.Get(storage::Table::kDocs, key);
    if (!record) continue;  // removed meanwhile
    const bson::View document(record->value.data());
    bytes += document.SizeBytes();
    // One that does not match any more may do so again: the writer looks.
    if (statement_->Matches(document).value_or(false)) {
      out->push_back({std::move(key), record->commit_timestamp, bson::Document(document)});
    } else {
      out->push_back({std::move(key), {}, {}});
    }
  }
}

absl::StatusOr<bool> AllCandidates::AddMatches(const CommandContext& context,
                                               std::vector<Candidate>* out) {
  size_t bytes = 0;
  absl::Status failed;
  const auto ended = RunSlice(context, *scan_, [&](const Found& found) {
    if (!moved_.empty() && moved_.contains(found.doc_key)) return Scan::Visit::kContinue;
    const auto matches = statement_->Matches(found.document);
    failed = matches.status();
    if (!failed.ok()) return Scan::Visit::kStop;
    if (!*matches) return Scan::Visit::kContinue;
    out->push_back({std::string(found.doc_key), found.version, bson::Document(found.document)});
    bytes += found.document.SizeBytes();
    return out->size() < kMatchesPerSlice && bytes < kBytesPerSlice ? Scan::Visit::kContinue
                                                                    : Scan::Visit::kStop;
  });
  EVENKEEL_RETURN_IF_ERROR(failed);
  return ended;
}

Awaitable<absl::StatusOr<std::vector<Candidate>>> AllCandidates::Next(CommandContext& context) {
  std::vector<Candidate> out;
  if (keys_first_ && !ended_) EVENKEEL_CO_RETURN_IF_ERROR(co_await CollectKeys(context));
  if (keys_first_) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.Read());
    AddKeys(slice, &out);
    co_return out;
  }
  const auto home = context.service.executor();
  bool switched = false;
  absl::Status status;
  while (!ended_ && status.ok() && out.empty()) {
    const auto ended = AddMatches(context, &out);
    status = ended.status();
    if (ended.ok()) ended_ = *ended;
    if (status.ok() && out.empty()) status = co_await Pause(context, *scan_);
    if (status.ok() && !ended_ && out.empty()) {
      co_await base::SwitchTo(context.service.pool());
      switched = true;
    }
  }
  if (switched) co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  co_return out;
}

absl::Status AllCandidates::Skip(std::vector<std::string> doc_keys) {
  if (keys_first_) return absl::OkStatus();  // all keys are known already
  for (std::string& key : doc_keys) {
    moved_bytes_ += key.size() + kBytesPerKey;
    moved_.insert(std::move(key));
  }
  if (moved_bytes_ <= kKeyBytesMax) return absl::OkStatus();
  return MakeError(ErrorCode::kExceededMemoryLimit,
                   "the update moves more documents to new places than fit into memory");
}

}  // namespace evenkeel::shard
