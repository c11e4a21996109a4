// Implements log lines: formatting, the lines kept in memory, and the door to spdlog.
#include "base/log.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>
#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <deque>
#include <iterator>
#include <memory>

#include "base/status.h"

namespace evenkeel::base {
namespace {

constexpr char kSeverityLetters[] = {'D', 'I', 'W', 'E'};

// Everything that ConfigureLog may change, and the lines in memory. Lives for ever.
struct State {
  absl::Mutex mutex;
  std::shared_ptr<spdlog::logger> logger ABSL_GUARDED_BY(mutex);
  std::deque<std::string> recent ABSL_GUARDED_BY(mutex);
  std::vector<std::string> startup_warnings ABSL_GUARDED_BY(mutex);
  uint64_t total ABSL_GUARDED_BY(mutex) = 0;
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::atomic<bool> json{false};
};

std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("evenkeel", std::move(sink));
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);  // levels are decided here, not there
  logger->flush_on(spdlog::level::trace);
  return logger;
}

State& GlobalState() {
  static State* const state = [] {
    auto* made = new State();
    absl::MutexLock lock(&made->mutex);
    made->logger = MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    return made;
  }();
  return *state;
}

std::string NowText() {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
}

// Appends `text` as the inside of a JSON string; also keeps control characters out of plain lines.
void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", byte);
    } else {
      out->push_back(c);
    }
  }
}

// True for a value that a plain line can show without quotes.
bool IsPlainWord(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == 0x7F) return false;
  }
  return true;
}

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  AppendEscaped(text, out);
  out->push_back('"');
}

std::string PlainLine(LogLevel level, std::string_view component, std::string_view message,
                      LogFields fields) {
  std::string line =
      fmt::format("{} {} {} ", NowText(), kSeverityLetters[static_cast<size_t>(level)], component);
  AppendEscaped(message, &line);
  for (const LogField& field : fields) {
    fmt::format_to(std::back_inserter(line), " {}=", field.key());
    if (IsPlainWord(field.text())) {
      line.append(field.text());
    } else {
      AppendQuoted(field.text(), &line);
    }
  }
  return line;
}

std::string JsonLine(LogLevel level, std::string_view component, std::string_view message,
                     LogFields fields) {
  std::string line = fmt::format(R"({{"t":{{"$date":"{}"}},"s":"{}","c":)", NowText(),
                                 kSeverityLetters[static_cast<size_t>(level)]);
  AppendQuoted(component, &line);
  line.append(R"(,"msg":)");
  AppendQuoted(message, &line);
  if (fields.size() != 0) line.append(R"(,"attr":{)");
  bool first = true;
  for (const LogField& field : fields) {
    if (!first) line.push_back(',');
    first = false;
    AppendQuoted(field.key(), &line);
    line.push_back(':');
    if (field.quoted()) {
      AppendQuoted(field.text(), &line);
    } else {
      line.append(field.text());
    }
  }
  if (fields.size() != 0) line.push_back('}');
  line.push_back('}');
  return line;
}

void Write(LogLevel level, std::string_view component, std::string_view message, LogFields fields,
           bool startup_warning) {
  State& state = GlobalState();
  std::string line = state.json.load(std::memory_order_relaxed)
                         ? JsonLine(level, component, message, fields)
                         : PlainLine(level, component, message, fields);
  std::shared_ptr<spdlog::logger> logger;
  {
    absl::MutexLock lock(&state.mutex);
    logger = state.logger;
    ++state.total;
    if (state.recent.size() == kRecentLogLinesMax) state.recent.pop_front();
    state.recent.push_back(line);
    if (startup_warning && state.startup_warnings.size() < kStartupWarningLinesMax) {
      state.startup_warnings.push_back(line);
    }
  }
  logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

LogField::LogField(std::string_view key, double value)
    : key_(key), text_(fmt::format("{}", value)), quoted_(!(value - value == 0)) {}

LogField::LogField(std::string_view key, const absl::Status& status)
    : key_(key), text_(CodeName(CodeOf(status))), quoted_(true) {
  if (!status.ok()) text_.append(": ").append(MessageOf(status));
}

absl::Status ConfigureLog(const LogOptions& options) {
  spdlog::sink_ptr sink;
  if (options.path.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.path);
    } catch (const spdlog::spdlog_ex& error) {
      return Error(ErrorCode::kOperationFailed, "cannot open the log file: {}", error.what());
    }
  }
  State& state = GlobalState();
  state.level.store(options.level, std::memory_order_relaxed);
  state.json.store(options.json, std::memory_order_relaxed);
  absl::MutexLock lock(&state.mutex);
  state.logger = MakeLogger(std::move(sink));
  return absl::OkStatus();
}

bool LogEnabled(LogLevel level) {
  return level >= GlobalState().level.load(std::memory_order_relaxed);
}

void Log(LogLevel level, std::string_view component, std::string_view message, LogFields fields) {
  if (LogEnabled(level)) Write(level, component, message, fields, false);
}

void LogStartupWarning(std::string_view component, std::string_view message, LogFields fields) {
  Write(LogLevel::kWarning, component, message, fields, true);
}

void FlushLog() {
  State& state = GlobalState();
  absl::MutexLock lock(&state.mutex);
  state.logger->flush();
}

std::vector<std::string> RecentLogLines() {
  State& state = GlobalState();
  absl::MutexLock lock(&state.mutex);
  return {state.recent.begin(), state.recent.end()};
}

uint64_t TotalLogLines() {
  State& state = GlobalState();
  absl::MutexLock lock(&state.mutex);
  return state.total;
}

std::vector<std::string> StartupWarningLines() {
  State& state = GlobalState();
  absl::MutexLock lock(&state.mutex);
  return state.startup_warnings;
}

}  // namespace evenkeel::base
