// The table of commands, its lookup, and the pages made from it.
#include "wire/protocol/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/bson/builder.h"

namespace evenkeel::wire {
namespace {

constexpr CommandFacts kCommands[] = {
#define EVENKEEL_COMMAND(name, alias, routing, flags, help) \
  {#name, alias, Routing::routing, flags, help},
#include "wire/protocol/commands.inc"
#undef EVENKEEL_COMMAND
};
constexpr size_t kCommandCount = std::size(kCommands);

static_assert(std::is_sorted(std::begin(kCommands), std::end(kCommands),
                             [](const auto& a, const auto& b) { return a.name <= b.name; }),
              "rows are sorted by name and unique");
static_assert(std::all_of(std::begin(kCommands), std::end(kCommands),
                          [](const auto& row) {
                            return row.name.starts_with('_') == ((row.flags & kInternal) != 0);
                          }),
              "internal commands, and only they, start with an underscore");

// Open addressing by a hash of the name; filled at compile time, so a lookup is one hash and one
// comparison.
constexpr size_t kSlots = 1024;
static_assert(kCommandCount * 4 < kSlots);
constexpr uint8_t kEmptySlot = 255;
static_assert(kCommandCount < kEmptySlot);

constexpr size_t SlotOf(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return (hash ^ hash >> 15) % kSlots;
}

constexpr void Put(std::array<uint8_t, kSlots>& slots, std::string_view name, size_t row) {
  size_t slot = SlotOf(name);
  while (slots[slot] != kEmptySlot) slot = (slot + 1) % kSlots;
  slots[slot] = static_cast<uint8_t>(row);
}

constexpr std::array<uint8_t, kSlots> MakeSlots() {
  std::array<uint8_t, kSlots> slots{};
  for (uint8_t& slot : slots) slot = kEmptySlot;
  for (size_t i = 0; i < kCommandCount; ++i) {
    Put(slots, kCommands[i].name, i);
    if (!kCommands[i].alias.empty()) Put(slots, kCommands[i].alias, i);
  }
  return slots;
}

constexpr std::array<uint8_t, kSlots> kSlotRows = MakeSlots();

std::string_view RoutingName(Routing routing) {
  switch (routing) {
    case Routing::kLocal:
      return "local";
    case Routing::kTargeted:
      return "targeted";
    case Routing::kBroadcast:
      return "broadcast";
    case Routing::kCatalog:
      return "catalog";
  }
  return "";
}

}  // namespace

std::span<const CommandFacts> AllCommands() { return kCommands; }

const CommandFacts* FindCommand(std::string_view name) {
  for (size_t slot = SlotOf(name); kSlotRows[slot] != kEmptySlot; slot = (slot + 1) % kSlots) {
    const CommandFacts& row = kCommands[kSlotRows[slot]];
    if (row.name == name || (!row.alias.empty() && row.alias == name)) return &row;
  }
  return nullptr;
}

size_t CommandIndex(const CommandFacts& facts) { return static_cast<size_t>(&facts - kCommands); }

bson::Document ListCommandsReply(bool with_test_commands) {
  const uint32_t left_out = kInternal | kUnsupported | (with_test_commands ? 0u : kTestOnly);
  bson::Builder builder;
  builder.OpenDocument("commands");
  for (const CommandFacts& row : kCommands) {
    if (row.flags & left_out) continue;
    builder.OpenDocument(row.name).Append("help", row.help);
    builder.Append("requiresAuth", (row.flags & kNoLogin) == 0);
    builder.Append("secondaryOk", (row.flags & kWrites) == 0);
    builder.Append("adminOnly", (row.flags & kAdminOnly) != 0);
    builder.OpenArray("apiVersions");
    if (row.flags & kApiV1) builder.Append("0", "1");
    builder.Close();
    builder.OpenArray("deprecatedApiVersions").Close();
    builder.Close();
  }
  builder.Close();
  return builder.Finish();
}

std::string CommandsPage() {
  std::string page =
      "# Commands\n\n"
      "Generated from `wire/protocol/commands.inc`. \"API\" marks commands of Stable API version "
      "1.\n\n"
      "| command | where it runs | admin only | in transactions | API | what it does |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  const auto mark = [](uint32_t bit) { return bit != 0 ? "yes" : ""; };
  for (const CommandFacts& row : kCommands) {
    if (row.flags & (kInternal | kUnsupported)) continue;
    page += fmt::format("| `{}`{} | {} | {} | {} | {} | {} |\n", row.name,
                        row.alias.empty() ? "" : fmt::format(", `{}`", row.alias),
                        RoutingName(row.routing), mark(row.flags & kAdminOnly),
                        mark(row.flags & kInTransaction), mark(row.flags & kApiV1), row.help);
  }
  page += "\n## Known, not supported\n\nThese get `CommandNotSupported` (115).\n\n";
  for (const CommandFacts& row : kCommands) {
    if (row.flags & kUnsupported) page += fmt::format("* `{}`: {}\n", row.name, row.help);
  }
  return page;
}

}  // namespace evenkeel::wire
