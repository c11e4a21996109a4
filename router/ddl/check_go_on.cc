// Waits for the rate, reports to the table of moves.
#include "router/ddl/check_go_on.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <cmath>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/ddl/copy_rate.h"
#include "router/router.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router::ddl {
namespace {

// A copy that waits for its turn notices within that time that it was aborted, or a new rate.
constexpr absl::Duration kNapMax = absl::Milliseconds(200);

struct Size {
  int64_t documents = 0, bytes = 0;
};

Size SizeOf(bson::View batch) {
  Size size;
  for (const auto& [key, document] : batch) {
    ++size.documents;
    size.bytes += static_cast<int64_t>(document.AsDocument().SizeBytes());
  }
  return size;
}

Awaitable<absl::Status> Interrupted() {
  co_return MakeError(
      ErrorCode::kInterruptedAtShutdown,
      "the router stops: the move is undone by another one or after the next start");
}

}  // namespace

Awaitable<absl::Status> CheckGoOn::operator()() const {
  return absl::ToUnixMillis(absl::Now()) > router_.stop_ms.load() ? Interrupted() : ask_();
}

Awaitable<absl::Status> CheckGoOn::Measure(ShardId source, const catalog::CollectionEntry& entry,
                                           double share) const {
  bson::Builder body;
  body.Append("_collStats", int32_t{1});
  wire::AppendEnvelope(body, {.collection = entry.id, .version = entry.version});
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document stats,
      co_await router_.cluster->Call(source, body.Finish(), absl::InfiniteFuture(), {}));
  if (progress_ != nullptr) {
    progress_->AddTotals(std::llround(share * bson::ToDouble(stats["count"])),
                         std::llround(share * bson::ToDouble(stats["size"])));
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> CheckGoOn::AwaitTurn(bson::View batch) const {
  const int64_t bytes = SizeOf(batch).bytes;
  while (true) {
    const absl::Duration wait = router_.copy_rate->TryTake(bytes);
    if (wait == absl::ZeroDuration()) co_return absl::OkStatus();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(std::min(wait, kNapMax)));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await (*this)());
  }
}

void CheckGoOn::Copied(bson::View batch) const {
  if (progress_ == nullptr) return;
  const Size size = SizeOf(batch);
  progress_->Copied(size.documents, size.bytes);
}

void CheckGoOn::GiveWay(absl::Duration took) const { router_.copy_rate->GiveWay(took); }

void CheckGoOn::TookOver(int64_t notes) const {
  if (progress_ != nullptr) progress_->TookOver(notes);
}

void CheckGoOn::EndRound(int64_t notes) const {
  if (progress_ != nullptr) progress_->SetLag(notes);
}

}  // namespace evenkeel::router::ddl
