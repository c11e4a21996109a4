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

absl::StatusOr<query::Plan> PlanOf(const WriteStatement& statement,
                                   const std::vector<query::IndexDescription>& indexes) {
  query::PlanRequest request;
  request.filter = &statement.filter();
  request.sort = &statement.sort();
  request.hint = statement.hint();
  return query::ChoosePlan(request, indexes);
}

// The best candidates so far, in sort order.
class Best {
 public:
  Best(const query::SortPattern& sort, bool sorted)
      : sort_(sort), keep_all_order_(sort.empty() || sorted) {}

  // False: enough were found.
  bool Add(const Found& found) {
    if (keep_all_order_) {
      candidates_.push_back(Make(found));
      return candidates_.size() < kCandidatesMax;
    }
    auto place = std::upper_bound(candidates_.begin(), candidates_.end(), found.document,
                                  [this](bson::View document, const Candidate& candidate) {
                                    return sort_.CompareDocuments(
                                               document, candidate.document.view(), nullptr) < 0;
                                  });
    if (place == candidates_.end() && candidates_.size() == kCandidatesMax) return true;
    candidates_.insert(place, Make(found));
    if (candidates_.size() > kCandidatesMax) candidates_.pop_back();
    return true;
  }

  std::vector<Candidate> Take() { return std::move(candidates_); }

 private:
  static Candidate Make(const Found& found) {
    return {std::string(found.doc_key), found.version, bson::Document(found.document)};
  }
  const query::SortPattern& sort_;
  const bool keep_all_order_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Awaitable<absl::StatusOr<std::vector<Candidate>>> FindFirst(CommandContext& context,
                                                            const WriteStatement& statement) {
  ShardService& service = context.service;
  const auto home = service.executor();
  std::vector<query::IndexDescription> indexes =
      DescribeIndexes(*statement.collection().entry, CatalogOf(service.store().Read()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::Plan plan, PlanOf(statement, indexes));
  Scan scan(statement.collection(), plan);
  Best best(statement.sort(), plan.sorted);
  const query::Filter& filter = statement.filter();
  absl::StatusOr<bool> ended = false;
  bool enough = false, switched = false;
  const Scan::Visitor visit = [&](const Found& found) {
    if (filter.Matches(found.document) && !best.Add(found)) {
      enough = true;
      return Scan::Visit::kStop;
    }
    return Scan::Visit::kContinue;
  };
  absl::Status status;
  while (true) {
    ended = scan.Run(service.store().Read(), kExaminedPerSlice, visit);
    status = ended.ok() ? context.CheckInterrupt() : ended.status();
    if (!status.ok() || *ended || enough) break;
    co_await base::SwitchTo(service.pool());
    switched = true;
  }
  if (switched) co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  co_return best.Take();
}

AllCandidates::~AllCandidates() = default;

absl::StatusOr<std::unique_ptr<AllCandidates>> AllCandidates::Start(
    CommandContext& context, const WriteStatement& statement) {
  auto out = std::unique_ptr<AllCandidates>(new AllCandidates());
  out->statement_ = &statement;
  out->indexes_ =
      DescribeIndexes(*statement.collection().entry, CatalogOf(context.service.store().Read()));
  EVENKEEL_ASSIGN_OR_RETURN(const query::Plan plan, PlanOf(statement, out->indexes_));
  out->scan_ = std::make_unique<Scan>(statement.collection(), plan);
  out->keys_first_ = plan.kind == query::PlanKind::kIndexScan;
  return out;
}

Awaitable<absl::Status> AllCandidates::CollectKeys(CommandContext& context) {
  const auto home = context.service.executor();
  const query::Filter& filter = statement_->filter();
  absl::Status status;
  bool switched = false;
  while (true) {
    const auto ended =
        scan_->Run(context.service.store().Read(), kExaminedPerSlice, [&](const Found& found) {
          if (filter.Matches(found.document)) keys_.emplace_back(found.doc_key);
          return Scan::Visit::kContinue;
        });
    status = ended.ok() ? context.CheckInterrupt() : ended.status();
    if (!status.ok() || *ended) break;
    co_await base::SwitchTo(context.service.pool());
    switched = true;
  }
  if (switched) co_await base::SwitchTo(home);
  std::sort(keys_.begin(), keys_.end());
  ended_ = true;
  co_return status;
}

Awaitable<absl::StatusOr<std::vector<Candidate>>> AllCandidates::Next(CommandContext& context) {
  std::vector<Candidate> out;
  if (keys_first_) {
    if (!ended_) EVENKEEL_CO_RETURN_IF_ERROR(co_await CollectKeys(context));
    while (next_key_ < keys_.size() && out.size() < kMatchesPerSlice) {
      out.push_back({std::move(keys_[next_key_++]), {}, {}});
    }
    co_return out;
  }
  const auto home = context.service.executor();
  const query::Filter& filter = statement_->filter();
  size_t bytes = 0;
  bool switched = false;
  absl::Status status;
  while (!ended_ && status.ok() && out.empty()) {
    const auto ended =
        scan_->Run(context.service.store().Read(), kExaminedPerSlice, [&](const Found& found) {
          if (!filter.Matches(found.document)) return Scan::Visit::kContinue;
          out.push_back(
              {std::string(found.doc_key), found.version, bson::Document(found.document)});
          bytes += found.document.SizeBytes();
          return out.size() < kMatchesPerSlice && bytes < kBytesPerSlice ? Scan::Visit::kContinue
                                                                         : Scan::Visit::kStop;
        });
    status = ended.ok() ? context.CheckInterrupt() : ended.status();
    if (status.ok()) ended_ = *ended;
    if (status.ok() && !ended_ && out.empty()) {
      co_await base::SwitchTo(context.service.pool());
      switched = true;
    }
  }
  if (switched) co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  co_return out;
}

}  // namespace evenkeel::shard
