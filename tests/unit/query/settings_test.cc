// Parameters of queries: reading, setting, what a command's context gets.
#include "query/settings.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query {
namespace {

TEST(Settings, NamesAreSortedAndKnown) {
  const auto names = Settings::Names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string_view name : names) EXPECT_TRUE(Settings::IsKnown(name));
  EXPECT_FALSE(Settings::IsKnown("noSuch"));
}

TEST(Settings, ValuesReachTheContext) {
  Settings settings;
  const struct {
    std::string_view name, value;
    size_t MemoryLimits::*limit;
  } cases[] = {
      {"internalQueryMaxBlockingSortMemoryUsageBytes", "1000", &MemoryLimits::sort},
      {"internalDocumentSourceGroupMaxMemoryBytes", "1001", &MemoryLimits::group},
      {"internalDocumentSourceSetWindowFieldsMaxMemoryBytes", "1002", &MemoryLimits::window},
  };
  for (const auto& test : cases) {
    const bson::Document value = expr::Wrap(test.value);
    ASSERT_TRUE(settings.Set(test.name, value["v"]).ok()) << test.name;
    QueryContext context;
    settings.ApplyTo(&context);
    EXPECT_EQ(std::to_string(context.memory.*test.limit), test.value) << test.name;
    bson::Builder builder;
    settings.Append(test.name, builder, "v");
    EXPECT_EQ(std::to_string(builder.Finish()["v"].AsInt64()), test.value) << test.name;
  }
  const bson::Document no = expr::Wrap("false");
  ASSERT_TRUE(settings.Set("allowDiskUseByDefault", no["v"]).ok());
  QueryContext context;
  settings.ApplyTo(&context);
  EXPECT_FALSE(context.allow_disk_use);
}

TEST(Settings, BadValues) {
  Settings settings;
  const struct {
    std::string_view name, value;
  } cases[] = {
      {"internalQueryMaxBlockingSortMemoryUsageBytes", "0"},
      {"internalQueryMaxBlockingSortMemoryUsageBytes", "-1"},
      {"internalQueryMaxBlockingSortMemoryUsageBytes", "1.5"},
      {"internalQueryMaxBlockingSortMemoryUsageBytes", "\"many\""},
      {"internalQuerySpillingMinAvailableDiskSpaceBytes", "-1"},
      {"allowDiskUseByDefault", "1"},
  };
  for (const auto& test : cases) {
    const bson::Document value = expr::Wrap(test.value);
    EXPECT_EQ(CodeOf(settings.Set(test.name, value["v"])), ErrorCode::kBadValue)
        << test.name << " " << test.value;
  }
}

}  // namespace
}  // namespace evenkeel::query
