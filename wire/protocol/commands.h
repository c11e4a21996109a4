// One row of facts per command: what dispatch, hello, listCommands, metrics and docs/commands.md
// read.
//
// The rows are in commands.inc. To add a command, add its row there (sorted by name) and a handler
// in the table of the role that carries it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bson/document.h"

namespace evenkeel::wire {

// Where a command is carried out.
enum class Routing : uint8_t {
  kLocal,      // answered by the process that the client talks to
  kTargeted,   // one collection; the router picks shards
  kBroadcast,  // every shard, replies combined
  kCatalog,    // changes or reads the catalog on shard 0
};

enum CommandFlags : uint32_t {
  kReads = 1u << 0,
  kWrites = 1u << 1,
  kAdminOnly = 1u << 2,      // must be sent to the admin database: else Unauthorized 13
  kNoLogin = 1u << 3,        // allowed before authentication
  kInTransaction = 1u << 4,  // allowed inside a transaction
  kApiV1 = 1u << 5,          // part of Stable API version 1
  kInternal = 1u << 6,       // between processes of a cluster only
  kUnsupported = 1u << 7,    // known, refused with CommandNotSupported
  kTakesWriteConcern = 1u << 8,
  kTakesReadConcern = 1u << 9,
  kRetryable = 1u << 10,        // drivers may send it with a txnNumber outside transactions
  kTakesSnapshot = 1u << 11,    // readConcern level "snapshot" outside transactions
  kNeverCompressed = 1u << 12,  // handshake and secrets: replies are not compressed
  kTestOnly = 1u << 13,         // CommandNotFound unless the process runs with test commands
};

struct CommandFacts {
  std::string_view
      name;  // canonical spelling; lookup ignores nothing: MongoDB's names are case sensitive
  std::string_view alias;  // another name, or empty
  Routing routing;
  uint32_t flags;
  std::string_view help;  // one line
};

// All rows, sorted by name.
std::span<const CommandFacts> AllCommands();
// The row of a name or alias, or null.
const CommandFacts* FindCommand(std::string_view name);
// The position of a row, stable within one build: handler tables are indexed by it.
size_t CommandIndex(const CommandFacts& facts);

// The body of listCommands: {commands: {name: {help, requiresAuth, secondaryOk, adminOnly,
// apiVersions, …}}}. Internal and unsupported commands are left out, and those for tests unless
// the process runs with them.
bson::Document ListCommandsReply(bool with_test_commands);

// docs/commands.md as Markdown.
std::string CommandsPage();

}  // namespace evenkeel::wire
