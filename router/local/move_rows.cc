// Translates phases and figures of moves.
#include "router/local/move_rows.h"

#include <fmt/format.h>

#include <string>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "router/ddl/move_progress.h"

namespace evenkeel::router::local {
namespace {

using ddl::MovePhase;

// How MongoDB calls the states of the coordinator and of a recipient.
struct States {
  MovePhase phase;
  std::string_view coordinator, recipient;
};
constexpr States kStates[] = {
    {MovePhase::kBeginning, "initializing", "creating-collection"},
    {MovePhase::kCloning, "cloning", "cloning"},
    {MovePhase::kCatchingUp, "applying", "applying"},
    {MovePhase::kBlockingWrites, "blocking-writes", "strict-consistency"},
    {MovePhase::kCommitting, "committing", "strict-consistency"},
    {MovePhase::kCleaning, "done", "done"},
    {MovePhase::kUndoing, "aborting", "error"},
};

const States& StatesOf(std::string_view phase) {
  for (const States& row : kStates) {
    if (NameOf(row.phase) == phase) return row;
  }
  return kStates[0];
}

int64_t Number(bson::View move, std::string_view field) {
  const bson::Value value = move[field];
  return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
}

std::string_view Text(bson::View move, std::string_view field) {
  const bson::Value value = move[field];
  return value.Is(bson::Type::kString) ? value.AsString() : std::string_view();
}

int64_t Seconds(bson::View move, std::string_view field) { return Number(move, field) / 1000; }

// "00112233-4455-6677-8899-aabbccddeeff".
std::string UuidText(bson::Value uuid) {
  std::string text;
  if (!uuid.Is(bson::Type::kBinary)) return text;
  for (const char byte : uuid.AsBinary().bytes) {
    if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23)
      text += '-';
    text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  }
  return text;
}

}  // namespace

bson::Document MoveOperationRow(bson::View move, std::string_view host) {
  const States& states = StatesOf(Text(move, "phase"));
  const bson::Value left = move["secondsLeft"];
  bson::Builder row;
  row.Append("type", "op")
      .Append("host", host)
      .Append("desc", "ReshardingMetricsRecipientService " + UuidText(move["uuid"]))
      .Append("op", "command")
      .Append("ns", move["ns"])
      .Append("originatingCommand", move["command"])
      .Append("totalOperationTimeElapsedSecs", Seconds(move, "elapsedMs"))
      .Append("remainingOperationTimeEstimatedSecs",
              left.IsNumber() ? bson::ToInt64Truncated(left) : int64_t{-1})
      .Append("approxDocumentsToCopy", Number(move, "documentsTotal"))
      .Append("documentsCopied", Number(move, "documents"))
      .Append("approxBytesToCopy", Number(move, "bytesTotal"))
      .Append("bytesCopied", Number(move, "bytes"))
      .Append("totalCopyTimeElapsedSecs", Seconds(move, "cloningMs"))
      .Append("oplogEntriesFetched", Number(move, "notes"))
      .Append("oplogEntriesApplied", Number(move, "notes"))
      .Append("totalApplyTimeElapsedSecs", Seconds(move, "applyingMs"))
      .Append("totalCriticalSectionTimeElapsedSecs", Seconds(move, "writesClosedMs"))
      .Append("recipientState", states.recipient)
      .Append("coordinatorState", states.coordinator);
  return row.Finish();
}

}  // namespace evenkeel::router::local
