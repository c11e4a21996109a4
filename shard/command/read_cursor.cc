// Drives scans and operators slice by slice.
#include "shard/command/read_cursor.h"

#include <utility>

#include "base/async/wait.h"
#include "base/status.h"
#include "shard/command/foreign_reads.h"

namespace evenkeel::shard {
namespace {

// Records of one slice: the first is taken on the network thread, so a small query never leaves it.
constexpr size_t kFirstSliceRecords = 128;
constexpr size_t kSliceRecords = 1024;
// Bytes of documents given to operators in one slice: what they do not take by its end is copied.
constexpr size_t kSliceInputBytes = 4u << 20;

}  // namespace

ReadCursor::~ReadCursor() = default;

absl::StatusOr<std::unique_ptr<ReadCursor>> ReadCursor::Open(const CommandContext& context,
                                                             const Collection& collection,
                                                             ReadSpec spec) {
  auto out = std::unique_ptr<ReadCursor>(new ReadCursor());
  out->collection_ = collection;
  out->read_ = context.service.open_reads().Begin(*collection.entry);
  out->spec_ = std::move(spec);
  if (!out->spec_.query_context) {
    EVENKEEL_ASSIGN_OR_RETURN(out->spec_.query_context, MakeQueryContext(context, collection));
  }
  EVENKEEL_ASSIGN_OR_RETURN(query::Filter filter,
                            query::Filter::Parse(out->spec_.filter, out->query_context()));
  out->filter_ = std::make_unique<query::Filter>(std::move(filter));
  if (!out->spec_.sort.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(out->sort_, query::SortPattern::Parse(out->spec_.sort));
  }
  out->indexes_ = DescribeIndexes(*collection.entry, *context.service.catalog());
  out->request_.filter = out->filter_.get();
  out->request_.sort = &out->sort_;
  out->request_.hint = out->spec_.hint;
  out->request_.collation = out->query_context().collation;
  EVENKEEL_ASSIGN_OR_RETURN(out->plan_, query::ChoosePlan(out->request_, out->indexes_));
  out->scan_ = std::make_unique<Scan>(collection, out->plan_);
  out->sorted_ = out->scan_->KeepsOrder(out->plan_, *context.service.catalog());
  return out;
}

absl::StatusOr<query::Step> SliceInput::Pull(query::Batch* out) {
  if (rows_.empty()) return finished_ ? query::Step::kEnd : query::Step::kNeedInput;
  for (size_t i = 0; i < query::kBatchRows && !rows_.empty(); ++i) {
    out->push_back(std::move(rows_.front()));
    rows_.pop_front();
  }
  return query::Step::kRows;
}

absl::Status ReadCursor::SetOperators(std::shared_ptr<void> keep, const BuildOperators& build) {
  keep_ = std::move(keep);
  auto input = std::make_unique<SliceInput>();
  input_ = input.get();
  EVENKEEL_ASSIGN_OR_RETURN(operators_, build(std::move(input)));
  return absl::OkStatus();
}

void ReadCursor::SetForeignReader(std::unique_ptr<ForeignReader> reader) {
  foreign_ = std::move(reader);
}

bool ReadCursor::WaitsForForeign() const { return foreign_ && foreign_->HasWanted(); }

absl::StatusOr<bool> ReadCursor::Matches(bson::View document) const {
  if (range_ && !range_->Contains(document)) return false;
  if (scan_->IsExact(plan_)) return true;
  return filter_->Evaluate(document);
}

absl::Status ReadCursor::PullOperators(RowVisitor visit) {
  query::Batch batch;
  while (wants_more_ && !operators_ended_) {
    batch.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const query::Step step, operators_->Pull(&batch));
    for (query::Row& row : batch) {
      if (wants_more_) {
        wants_more_ = visit(row.view);
      } else {
        row.MakeOwned();
        kept_.push_back(std::move(row));
      }
    }
    if (step == query::Step::kNeedInput) break;
    operators_ended_ = step == query::Step::kEnd;
  }
  return absl::OkStatus();
}

absl::Status ReadCursor::RunScan(const storage::ReadSlice& slice, RowVisitor visit) {
  const size_t records = scan_->docs_examined() == 0 ? kFirstSliceRecords : kSliceRecords;
  size_t bytes = 0;
  absl::Status failed;
  EVENKEEL_ASSIGN_OR_RETURN(scan_ended_, scan_->Run(slice, records, [&](const Found& found) {
    const auto matches = Matches(found.document);
    failed = matches.status();
    if (!failed.ok()) return Scan::Visit::kStop;
    if (!*matches) return Scan::Visit::kContinue;
    if (!operators_) return ShowRow(found.document, visit);
    input_->Push(found.document);
    ++found_;
    bytes += found.document.SizeBytes();
    return bytes < kSliceInputBytes ? Scan::Visit::kContinue : Scan::Visit::kStop;
  }));
  if (limit_left_ == 0) scan_ended_ = true;
  return failed;
}

Scan::Visit ReadCursor::ShowRow(bson::View row, RowVisitor visit) {
  if (skip_left_ > 0) {
    --skip_left_;
    return Scan::Visit::kContinue;
  }
  wants_more_ = visit(row);
  --limit_left_;
  return wants_more_ && limit_left_ > 0 ? Scan::Visit::kContinue : Scan::Visit::kStop;
}

absl::StatusOr<bool> ReadCursor::RunSlice(const storage::ReadSlice& slice, RowVisitor visit) {
  wants_more_ = true;
  // First what the operators still have: rows of an earlier slice that a batch had no room for.
  if (operators_) EVENKEEL_RETURN_IF_ERROR(PullOperators(visit));
  if (WaitsForForeign()) return false;
  if (!scan_ended_ && wants_more_ && !operators_ended_) {
    EVENKEEL_RETURN_IF_ERROR(RunScan(slice, visit));
  }
  if (!operators_) return scan_ended_;
  if (scan_ended_) input_->Finish();
  const absl::Status pulled = PullOperators(visit);
  input_->EndSlice();
  EVENKEEL_RETURN_IF_ERROR(pulled);
  return operators_ended_;
}

absl::Status ReadCursor::RunSlice(const CommandContext& context, RowVisitor visit) {
  EVENKEEL_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.Read());
  EVENKEEL_ASSIGN_OR_RETURN(ended_, RunSlice(slice, visit));
  return context.CheckInterrupt();
}

Awaitable<absl::Status> ReadCursor::Pause(CommandContext& context) {
  if (scan_->blocked_on() != nullptr) {
    const absl::Status status = co_await context.WaitFor(scan_->blocked_on());
    EVENKEEL_CO_RETURN_IF_ERROR(status);
  }
  if (!WaitsForForeign()) co_return absl::OkStatus();
  co_return co_await foreign_->Serve(context);
}

Awaitable<absl::StatusOr<bool>> ReadCursor::NextBatch(CommandContext& context,
                                                      const BatchLimits& limits,
                                                      bson::Builder* builder) {
  const auto home = context.service.executor();
  bson::ArrayAppender array(*builder);
  int64_t rows = 0;
  const size_t start = builder->SizeBytes();
  const int64_t rows_max = limits.rows.value_or(INT64_MAX);
  bool full = rows_max == 0;
  const auto fits = [&](bson::View row) {
    return rows == 0 || builder->SizeBytes() - start + row.SizeBytes() <= limits.bytes_max;
  };
  const auto add = [&](bson::View row) {
    array.Add(row);
    full = ++rows >= rows_max;
  };
  // A row that was shown and does not fit is kept for the next batch.
  const auto take = [&](bson::View row) {
    if (fits(row)) {
      add(row);
    } else {
      kept_.push_back(query::Row::Own(bson::Document(row)));
      full = true;
    }
    return !full;
  };
  while (!kept_.empty() && !full) {
    full = !fits(kept_.front().view);
    if (full) break;
    add(kept_.front().view);
    kept_.pop_front();
  }
  // Behind the scan operators may read what they have put on disk.
  bool switched = operators_ && scan_ended_ && !ended_ && !full;
  if (switched) co_await base::SwitchTo(context.service.pool());
  absl::Status status;
  while (!ended_ && !full && status.ok()) {
    status = RunSlice(context, take);
    if (status.ok() && !ended_ && !full) status = co_await Pause(context);
    if (!ended_ && !full && status.ok()) {
      co_await base::SwitchTo(context.service.pool());
      switched = true;
    }
  }
  if (switched) co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  co_return ended_&& kept_.empty();
}

Awaitable<absl::Status> ReadCursor::RunAll(CommandContext& context,
                                           const std::function<absl::Status(bson::View)>& visit) {
  const auto home = context.service.executor();
  absl::Status status;
  bool switched = false;
  const auto take = [&](bson::View row) {
    status = visit(row);
    return status.ok();
  };
  while (!ended_ && status.ok()) {
    const absl::Status ran = RunSlice(context, take);
    if (status.ok()) status = ran;
    if (status.ok() && !ended_) status = co_await Pause(context);
    if (!ended_ && status.ok()) {
      co_await base::SwitchTo(context.service.pool());
      switched = true;
    }
  }
  if (switched) co_await base::SwitchTo(home);
  co_return status;
}

}  // namespace evenkeel::shard
