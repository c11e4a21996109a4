// Structured log lines: time, severity, component, message, and named values.
//
//   LogInfo("storage", "shard opened", {{"shard", 0}, {"path", path}});
//   2026-01-01T00:00:00.000Z I storage shard opened shard=0 path=/data/shard0
//
// Any thread may log. The last lines are kept in memory for the getLog command. Values must not
// hold secrets. Messages are constant text, what varies goes into the fields, so that lines can be
// searched and counted.
#pragma once

#include <absl/status/status.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::base {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// One named value of a line. Numbers and truth values stay unquoted in the JSON form.
class LogField {
 public:
  LogField(std::string_view key, std::string_view text) : key_(key), text_(text), quoted_(true) {}
  LogField(std::string_view key, const char* text) : LogField(key, std::string_view(text)) {}
  LogField(std::string_view key, const std::string& text) : LogField(key, std::string_view(text)) {}
  LogField(std::string_view key, bool value) : key_(key), text_(value ? "true" : "false") {}
  LogField(std::string_view key, double value);
  template <std::integral T>
  LogField(std::string_view key, T value) : key_(key), text_(std::to_string(value)) {}
  // The code's name and the message.
  LogField(std::string_view key, const absl::Status& status);

  std::string_view key() const { return key_; }
  const std::string& text() const { return text_; }
  bool quoted() const { return quoted_; }

 private:
  std::string_view key_;
  std::string text_;
  bool quoted_ = false;
};

using LogFields = std::initializer_list<LogField>;

struct LogOptions {
  LogLevel level = LogLevel::kInfo;  // lines below it are dropped
  bool json = false;                 // --log-format json: one JSON object per line
  std::string path;                  // empty: standard error
};

// Applies the options to all later lines. Errors: OperationFailed when the file cannot be opened.
absl::Status ConfigureLog(const LogOptions& options);

// True when a line of this level would be written: for fields that are costly to compute.
bool LogEnabled(LogLevel level);

// Writes one line.
void Log(LogLevel level, std::string_view component, std::string_view message,
         LogFields fields = {});

inline void LogDebug(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (LogEnabled(LogLevel::kDebug)) Log(LogLevel::kDebug, component, message, fields);
}
inline void LogInfo(std::string_view component, std::string_view message, LogFields fields = {}) {
  Log(LogLevel::kInfo, component, message, fields);
}
inline void LogWarning(std::string_view component, std::string_view message,
                       LogFields fields = {}) {
  Log(LogLevel::kWarning, component, message, fields);
}
inline void LogError(std::string_view component, std::string_view message, LogFields fields = {}) {
  Log(LogLevel::kError, component, message, fields);
}
// A warning that is shown again to everyone who connects with a shell (getLog: "startupWarnings").
void LogStartupWarning(std::string_view component, std::string_view message, LogFields fields = {});

// Writes everything that is buffered.
void FlushLog();

inline constexpr size_t kRecentLogLinesMax = 1024;      // what getLog shows, as in MongoDB
inline constexpr size_t kStartupWarningLinesMax = 128;  // later ones are only logged

// The last lines, oldest first, as they were written.
std::vector<std::string> RecentLogLines();
// How many lines were written since the start.
uint64_t TotalLogLines();
std::vector<std::string> StartupWarningLines();

}  // namespace evenkeel::base
