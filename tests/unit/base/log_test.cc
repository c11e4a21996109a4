// Tests of log lines: both forms, levels, the lines kept in memory.
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/status.h"

namespace evenkeel::base {
namespace {

using ::testing::EndsWith;
using ::testing::MatchesRegex;

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "evenkeel_log_test." + std::to_string(getpid());
    std::remove(path_.c_str());
  }
  void TearDown() override {
    ASSERT_TRUE(ConfigureLog({}).ok());
    std::remove(path_.c_str());
  }
  void Configure(LogLevel level, bool json) {
    ASSERT_TRUE(ConfigureLog({.level = level, .json = json, .path = path_}).ok());
  }
  static std::string LastLine() { return RecentLogLines().back(); }

  std::string path_;
};

TEST_F(LogTest, PlainLine) {
  Configure(LogLevel::kInfo, false);
  LogInfo("storage", "shard opened", {{"shard", 0}, {"path", "/data/shard 0"}, {"clean", true}});
  EXPECT_THAT(LastLine(),
              MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z I storage shard opened shard=0 "
                           "path=\"/data/shard 0\" clean=true"));
}

TEST_F(LogTest, JsonLine) {
  Configure(LogLevel::kInfo, true);
  LogWarning("wire", "closed \"early\"", {{"peer", "a\nb"}, {"bytes", 12u}, {"rate", 0.5}});
  EXPECT_THAT(LastLine(), EndsWith(R"("s":"W","c":"wire","msg":"closed \"early\"",)"
                                   R"("attr":{"peer":"a\nb","bytes":12,"rate":0.5}})"));
  LogError("wire", "no fields");
  EXPECT_THAT(LastLine(), EndsWith(R"("s":"E","c":"wire","msg":"no fields"})"));
}

TEST_F(LogTest, ValuesCannotBreakTheLine) {
  Configure(LogLevel::kInfo, false);
  struct Case {
    std::string value;
    std::string shown;
  };
  const Case cases[] = {
      {"plain", "v=plain"},
      {"", "v=\"\""},
      {"two words", "v=\"two words\""},
      {"a=b", "v=\"a=b\""},
      {"a\nb", "v=\"a\\nb\""},
      {"q\"", "v=\"q\\\"\""},
      {"\x1b[0m", "v=\"\\u001b[0m\""},
      {"gr\xC3\xBC\xC3\x9F", "v=gr\xC3\xBC\xC3\x9F"},
  };
  for (const Case& c : cases) {
    LogInfo("t", "m", {{"v", c.value}});
    EXPECT_THAT(LastLine(), EndsWith(" t m " + c.shown));
  }
}

TEST_F(LogTest, NumbersThatJsonLacksAreQuoted) {
  Configure(LogLevel::kInfo, true);
  LogInfo("t", "m", {{"v", 1.0 / 0.0 - 1.0 / 0.0}});
  EXPECT_THAT(LastLine(), MatchesRegex(".*\"attr\":\\{\"v\":\"-?nan\"\\}\\}"));
}

TEST_F(LogTest, StatusField) {
  Configure(LogLevel::kInfo, false);
  LogInfo("t", "m", {{"error", MakeError(ErrorCode::kWriteConflict, "key is taken")}});
  EXPECT_THAT(LastLine(), EndsWith("error=\"WriteConflict: key is taken\""));
}

TEST_F(LogTest, LevelsBelowAreDropped) {
  Configure(LogLevel::kWarning, false);
  const uint64_t before = TotalLogLines();
  LogDebug("t", "no");
  LogInfo("t", "no");
  EXPECT_EQ(TotalLogLines(), before);
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  LogWarning("t", "yes");
  LogError("t", "yes");
  EXPECT_EQ(TotalLogLines(), before + 2);
}

TEST_F(LogTest, WritesToTheFile) {
  Configure(LogLevel::kInfo, false);
  LogInfo("t", "into the file");
  FlushLog();
  std::ifstream file(path_);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_THAT(line, EndsWith(" I t into the file"));
}

TEST_F(LogTest, KeepsTheLastLinesOnly) {
  Configure(LogLevel::kInfo, false);
  for (size_t i = 0; i < kRecentLogLinesMax + 5; ++i) LogInfo("t", "m", {{"i", i}});
  const std::vector<std::string> lines = RecentLogLines();
  EXPECT_EQ(lines.size(), kRecentLogLinesMax);
  EXPECT_THAT(lines.front(), EndsWith(" i=5"));
  EXPECT_THAT(lines.back(), EndsWith(" i=1028"));
}

TEST_F(LogTest, StartupWarningsAreKept) {
  Configure(LogLevel::kError, false);
  const size_t before = StartupWarningLines().size();
  LogStartupWarning("cli", "no access control");
  ASSERT_EQ(StartupWarningLines().size(), before + 1);
  EXPECT_THAT(StartupWarningLines().back(), EndsWith(" W cli no access control"));
}

TEST_F(LogTest, UnusableFileIsAnError) {
  const absl::Status status = ConfigureLog({.path = "/proc/no/such/log"});
  EXPECT_EQ(CodeOf(status), ErrorCode::kOperationFailed);
  LogInfo("t", "still works");
  EXPECT_THAT(LastLine(), EndsWith("still works"));
}

}  // namespace
}  // namespace evenkeel::base
