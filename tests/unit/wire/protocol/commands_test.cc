// Tests of the table of commands.
#include "wire/protocol/commands.h"

#include <gtest/gtest.h>

#include "tests/unit/wire/protocol/bytes.h"

namespace evenkeel::wire {
namespace {

TEST(FindCommand, FindsEveryRowByNameAndAlias) {
  size_t index = 0;
  for (const CommandFacts& row : AllCommands()) {
    EXPECT_EQ(FindCommand(row.name), &row) << row.name;
    if (!row.alias.empty()) {
      EXPECT_EQ(FindCommand(row.alias), &row) << row.alias;
    }
    EXPECT_EQ(CommandIndex(row), index++);
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_FALSE(row.help.ends_with('.')) << row.name;
  }
}

TEST(FindCommand, IsExact) {
  for (const char* name :
       {"", "Ping", "pin", "pingg", "FIND", "$db", "comment", "nsInfo", "logLevel"}) {
    EXPECT_EQ(FindCommand(name), nullptr) << name;
  }
  EXPECT_EQ(FindCommand(std::string(100'000, 'x')), nullptr);
  EXPECT_EQ(FindCommand("ismaster"), FindCommand("isMaster"));
  EXPECT_EQ(FindCommand("findandmodify")->name, "findAndModify");
}

TEST(Commands, StableApiIsTheManualsList) {
  constexpr std::string_view kListed[] = {"abortTransaction",
                                          "aggregate",
                                          "authenticate",
                                          "bulkWrite",
                                          "collMod",
                                          "commitTransaction",
                                          "count",
                                          "create",
                                          "createIndexes",
                                          "delete",
                                          "drop",
                                          "dropDatabase",
                                          "dropIndexes",
                                          "endSessions",
                                          "explain",
                                          "find",
                                          "findAndModify",
                                          "getMore",
                                          "hello",
                                          "insert",
                                          "killCursors",
                                          "listCollections",
                                          "listDatabases",
                                          "listIndexes",
                                          "ping",
                                          "refreshSessions",
                                          "saslContinue",
                                          "saslStart",
                                          "update"};
  std::vector<std::string_view> marked;
  for (const CommandFacts& row : AllCommands()) {
    if (row.flags & kApiV1) marked.push_back(row.name);
  }
  EXPECT_EQ(marked, std::vector<std::string_view>(std::begin(kListed), std::end(kListed)));
}

TEST(Commands, RetryableOnesAreWrites) {
  for (const CommandFacts& row : AllCommands()) {
    if (row.flags & kRetryable) {
      EXPECT_TRUE(row.flags & kWrites) << row.name;
      EXPECT_TRUE(row.flags & kTakesWriteConcern) << row.name;
    }
    if (row.flags & kTakesSnapshot) {
      EXPECT_TRUE(row.flags & kTakesReadConcern) << row.name;
    }
  }
}

TEST(ListCommandsReply, ShowsSupportedCommandsOnly) {
  const bson::Document reply = ListCommandsReply(/*with_test_commands=*/false);
  const bson::View commands = reply["commands"].AsDocument();
  EXPECT_FALSE(commands.Contains("configureFailPoint"));
  const bson::Document in_tests = ListCommandsReply(/*with_test_commands=*/true);
  EXPECT_TRUE(in_tests["commands"].AsDocument().Contains("configureFailPoint"));
  EXPECT_TRUE(commands.Contains("ping"));
  EXPECT_FALSE(commands.Contains("compact"));
  for (const bson::Element& command : commands) EXPECT_FALSE(command.key.starts_with('_'));
  const bson::View find = commands["find"].AsDocument();
  EXPECT_TRUE(find["requiresAuth"].AsBool());
  EXPECT_FALSE(find["adminOnly"].AsBool());
  EXPECT_EQ(find["apiVersions"].AsDocument().Front().value.AsString(), "1");
}

TEST(CommandsPage, ListsSupportedAndUnsupported) {
  const std::string page = CommandsPage();
  EXPECT_NE(page.find("| `findAndModify`, `findandmodify` | targeted |"), std::string::npos);
  EXPECT_NE(page.find("* `compact`: "), std::string::npos);
  EXPECT_EQ(page.find("`_"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::wire
