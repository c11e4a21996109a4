// Shows the reply to clusterMoves, once or again and again.
#include "cli/moves.h"

#include <absl/time/clock.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "base/bson/json.h"
#include "base/status.h"
#include "cli/moves_table.h"

namespace evenkeel::cli {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(1);
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

void Print(const MovesOptions& options, bson::View moves) {
  if (options.watch && !options.json && isatty(STDOUT_FILENO) != 0) std::cout << kClearScreen;
  std::cout << (options.json ? bson::ToJson(moves) + "\n" : MovesTable(moves)) << std::flush;
}

bool IsIdle(bson::View moves) {
  const bson::Value list = moves["moves"];
  return !list.Is(bson::Type::kArray) || list.AsDocument().empty();
}

}  // namespace

int ShowMoves(const MovesOptions& options) {
  while (true) {
    const auto moves = AskRouter(options.router, "clusterMoves");
    if (!moves.ok()) {
      std::cerr << "evenkeel: " << MessageOf(moves.status()) << "\n";
      return kCannotAsk;
    }
    Print(options, *moves);
    if (!options.watch || IsIdle(*moves)) {
      const bson::Value state = (*moves)["state"];
      return state.Is(bson::Type::kString) && state.AsString() == "ok" ? kWell : kDegraded;
    }
    absl::SleepFor(kPeriod);
  }
}

}  // namespace evenkeel::cli
