// Time zones: names, offsets, and clocks that are changed.
#include "query/expr/time_zone.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace evenkeel::query::expr {
namespace {

constexpr int64_t kMillisPerHour = 3'600'000;

TEST(TimeZone, NamesAndOffsets) {
  struct Row {
    std::string_view name;
    int64_t offset;
  };
  const Row rows[] = {{"UTC", 0},         {"GMT", 0},           {"Asia/Kolkata", 19'800},
                      {"+05:30", 19'800}, {"-0530", -19'800},   {"+03", 10'800},
                      {"+05:70", 22'200}, {"-99:99", -362'340}, {"EST", -18'000}};
  for (const Row& row : rows) {
    const absl::StatusOr<TimeZone> zone = TimeZone::Parse(row.name);
    ASSERT_TRUE(zone.ok()) << row.name;
    EXPECT_EQ(zone->ToLocal(1'600'000'000'000).offset, row.offset) << row.name;
  }
  for (const std::string_view name :
       {"", "Z", "europe/berlin", "+100:00", "+5", "+05:3", "+0530:", "../UTC", "/etc/localtime",
        "localtime", "right/UTC", "posixrules", "Europe", "file:UTC"}) {
    EXPECT_EQ(CodeOf(TimeZone::Parse(name).status()), Location(40485)) << name;
  }
}

TEST(TimeZone, ChangesOfClocks) {
  const TimeZone zone = *TimeZone::Parse("America/New_York");
  const absl::CivilDay spring(2021, 3, 14), autumn(2021, 11, 7);
  // 02:30 does not exist: read with the offset before the change.
  EXPECT_EQ(zone.ToMoment(spring, 5 * kMillisPerHour / 2), 1'615'707'000'000);
  // 01:30 comes twice: the first.
  EXPECT_EQ(zone.ToMoment(autumn, 3 * kMillisPerHour / 2), 1'636'263'000'000);
}

TEST(TimeZone, FarTimes) {
  for (const std::string_view name : {"UTC", "+14:00", "-11:00", "America/New_York"}) {
    const TimeZone zone = *TimeZone::Parse(name);
    for (const int64_t moment : {INT64_MIN, INT64_MIN + 1, INT64_C(-1), INT64_MAX}) {
      const LocalTime local = zone.ToLocal(moment);
      EXPECT_GE(local.millis, 0);
      EXPECT_LT(local.millis, kMillisPerDay);
      EXPECT_EQ(zone.ToMoment(local.day, local.millis), moment) << name;
    }
  }
  EXPECT_EQ(TimeZone().ToMoment(absl::CivilDay(400'000'000, 1, 1), 0), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::query::expr
