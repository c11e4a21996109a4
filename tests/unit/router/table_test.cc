// Every supported command has a handler.
#include "router/table.h"

#include <gtest/gtest.h>

namespace evenkeel::router {
namespace {

TEST(TableTest, SupportedCommandsHaveHandlersAndOthersHaveNone) {
  for (const wire::CommandFacts& facts : wire::AllCommands()) {
    const bool wanted = (facts.flags & (wire::kUnsupported | wire::kInternal)) == 0;
    EXPECT_EQ(FindHandler(facts) != nullptr, wanted) << facts.name;
  }
}

}  // namespace
}  // namespace evenkeel::router
