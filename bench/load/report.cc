// Implements the two forms of a report.
#include "bench/load/report.h"

#include <absl/strings/str_join.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace evenkeel::bench {
namespace {

double Micros(absl::Duration duration) { return absl::ToDoubleMicroseconds(duration); }

double PerSecond(const Result& result, const Histogram& operation) {
  const double seconds = std::max(absl::ToDoubleSeconds(result.elapsed), 1e-9);
  return static_cast<double>(operation.count()) / seconds;
}

// `text` as a JSON string.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}

std::string JsonOf(const Result& result, const Histogram& operation) {
  return fmt::format(
      R"({{"count": {}, "perSecond": {:.1f}, "meanMicros": {:.1f}, "p50Micros": {:.1f}, )"
      R"("p95Micros": {:.1f}, "p99Micros": {:.1f}, "maxMicros": {:.1f}}})",
      operation.count(), PerSecond(result, operation), Micros(operation.Mean()),
      Micros(operation.Percentile(0.5)), Micros(operation.Percentile(0.95)),
      Micros(operation.Percentile(0.99)), Micros(operation.max()));
}

}  // namespace

std::string TextOf(const Result& result) {
  std::string text;
  for (int i = 0; i < kOperationCount; ++i) {
    const Histogram& operation = result.operations[static_cast<size_t>(i)];
    if (operation.count() == 0) continue;
    text += fmt::format(
        "{:<22} {:>3} threads  {:<18} {:>10.0f} /s   p50 {:>8.0f}  p95 {:>8.0f}  p99 {:>8.0f} us\n",
        result.name, result.threads, NameOf(static_cast<Operation>(i)),
        PerSecond(result, operation), Micros(operation.Percentile(0.5)),
        Micros(operation.Percentile(0.95)), Micros(operation.Percentile(0.99)));
  }
  if (result.error_count > 0) {
    text += fmt::format("{:<22} {} errors; the first: {}\n", result.name, result.error_count,
                        result.first_error);
  }
  return text;
}

std::string JsonOf(const Result& result) {
  std::vector<std::string> operations;
  for (int i = 0; i < kOperationCount; ++i) {
    const Histogram& operation = result.operations[static_cast<size_t>(i)];
    if (operation.count() == 0) continue;
    operations.push_back(
        fmt::format(R"("{}": {})", NameOf(static_cast<Operation>(i)), JsonOf(result, operation)));
  }
  return fmt::format(
      R"({{"name": {}, "threads": {}, "seconds": {:.2f}, "errors": {}, "firstError": {}, )"
      R"("operations": {{{}}}}})",
      Quoted(result.name), result.threads, absl::ToDoubleSeconds(result.elapsed),
      result.error_count, Quoted(result.first_error), absl::StrJoin(operations, ", "));
}

std::string JsonOf(std::span<const Result> results) {
  std::vector<std::string> lines;
  for (const Result& result : results) lines.push_back(JsonOf(result));
  return "[" + absl::StrJoin(lines, ",\n ") + "]\n";
}

}  // namespace evenkeel::bench
