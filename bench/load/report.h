// Prints results: a line per operation for people, JSON for programs.
#pragma once

#include <span>
#include <string>

#include "bench/load/runner.h"

namespace evenkeel::bench {

// A table: operations per second and p50, p95, p99 of each operation; errors below it.
std::string TextOf(const Result& result);
// One object: {"name", "threads", "seconds", "errors", "operations": {"read": {"count",
// "perSecond", "meanMicros", "p50Micros", "p95Micros", "p99Micros", "maxMicros"}}}.
std::string JsonOf(const Result& result);
// The objects as an array, one per line.
std::string JsonOf(std::span<const Result> results);

}  // namespace evenkeel::bench
