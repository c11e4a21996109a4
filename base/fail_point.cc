// Implements fail points: the table's objects, their modes and the text form.
#include "base/fail_point.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/status.h"

namespace evenkeel::base {
namespace {

constexpr int kCrashStatus = 137;  // what a shell shows for a killed process

}  // namespace

namespace fail_points {
#define EVENKEEL_FAIL_POINT_ROW(name, meaning) constinit FailPoint name(#name, meaning);
#include "base/fail_points.inc"
#undef EVENKEEL_FAIL_POINT_ROW
}  // namespace fail_points

namespace {

constinit FailPoint* const kAll[] = {
#define EVENKEEL_FAIL_POINT_ROW(name, meaning) &fail_points::name,
#include "base/fail_points.inc"
#undef EVENKEEL_FAIL_POINT_ROW
};

using Kind = FailPointMode::Kind;

bool ParseNth(const std::vector<std::string>& words, uint64_t* nth) {
  return words.size() == 2 && absl::SimpleAtoi(words[1], nth) && *nth > 0;
}

bool ParseProbability(const std::vector<std::string>& words, FailPointMode* mode) {
  if (words.size() != 2 && words.size() != 3) return false;
  mode->seed = 1;
  if (words.size() == 3 && !absl::SimpleAtoi(words[2], &mode->seed)) return false;
  return absl::SimpleAtod(words[1], &mode->probability) && mode->probability >= 0 &&
         mode->probability <= 1;
}

// One mode, "nth:3". False when it is malformed.
bool ParseMode(const std::string& text, FailPointMode* mode) {
  const std::vector<std::string> words = absl::StrSplit(text, ':');
  const std::string& kind = words[0];
  constexpr std::pair<std::string_view, Kind> kCounted[] = {
      {"nth", Kind::kNth}, {"times", Kind::kTimes}, {"skip", Kind::kSkip}, {"crash", Kind::kCrash}};
  for (const auto& [name, counted] : kCounted) {
    if (kind != name) continue;
    mode->kind = counted;
    const bool may_lack = counted == Kind::kCrash && words.size() == 1;
    return may_lack || ParseNth(words, &mode->nth);
  }
  if (kind == "probability") {
    mode->kind = Kind::kProbability;
    return ParseProbability(words, mode);
  }
  if (words.size() != 1) return false;
  constexpr std::pair<std::string_view, Kind> kPlain[] = {
      {"off", Kind::kOff}, {"always", Kind::kAlways}, {"pause", Kind::kPause}};
  for (const auto& [name, plain] : kPlain) {
    if (kind != name) continue;
    mode->kind = plain;
    return true;
  }
  return false;
}

}  // namespace

void FailPoint::Set(FailPointMode mode) {
  absl::MutexLock lock(&mutex_);
  mode_ = mode;
  ++generation_;
  passes_ = 0;
  hits_before_ += hits_;
  hits_ = 0;
  on_.store(mode.kind != Kind::kOff, std::memory_order_relaxed);
}

bool FailPointMode::Hits(uint64_t pass) const {
  switch (kind) {
    case Kind::kOff:
      return false;
    case Kind::kAlways:
    case Kind::kPause:
      return true;
    case Kind::kNth:
    case Kind::kCrash:
      return pass == nth;
    case Kind::kTimes:
      return pass <= nth;
    case Kind::kSkip:
      return pass > nth;
    case Kind::kProbability: {
      Random random(seed + pass * 0x9E3779B97F4A7C15u);
      return random.Chance(probability);
    }
  }
  return false;
}

bool FailPoint::PassSlow() {
  absl::MutexLock lock(&mutex_);
  ++passes_;
  if (!mode_.Hits(passes_)) return false;
  ++hits_;
  if (mode_.kind == Kind::kCrash) _exit(kCrashStatus);
  if (mode_.kind != Kind::kPause) return true;
  const uint64_t generation = generation_;
  const auto released = [this, generation]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return generation_ != generation;
  };
  mutex_.Await(absl::Condition(&released));
  return false;
}

bool FailPoint::WaitForHits(uint64_t count, absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto reached = [this, count]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return hits_ >= count; };
  return mutex_.AwaitWithTimeout(absl::Condition(&reached), timeout);
}

uint64_t FailPoint::hits() const {
  absl::MutexLock lock(&mutex_);
  return hits_;
}

uint64_t FailPoint::total_hits() const {
  absl::MutexLock lock(&mutex_);
  return hits_before_ + hits_;
}

std::vector<FailPoint*> AllFailPoints() { return {std::begin(kAll), std::end(kAll)}; }

FailPoint* FindFailPoint(std::string_view name) {
  for (FailPoint* point : kAll) {
    if (point->name() == name) return point;
  }
  return nullptr;
}

void ResetFailPoints() {
  for (FailPoint* point : kAll) point->Set(FailPointMode::Off());
}

absl::Status ConfigureFailPoints(std::string_view spec) {
  std::vector<std::pair<FailPoint*, FailPointMode>> parsed;
  const std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(spec.data(), spec.size()), ';', absl::SkipWhitespace());
  for (const std::string& part : parts) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      return Error(ErrorCode::kFailedToParse, "fail point '{}' has no mode", part);
    }
    FailPoint* point = FindFailPoint(std::string_view(part).substr(0, equals));
    if (point == nullptr) {
      return Error(ErrorCode::kFailedToParse, "unknown fail point '{}'", part.substr(0, equals));
    }
    FailPointMode mode;
    if (!ParseMode(part.substr(equals + 1), &mode)) {
      return Error(ErrorCode::kFailedToParse, "fail point mode in '{}' is malformed", part);
    }
    parsed.emplace_back(point, mode);
  }
  for (const auto& [point, mode] : parsed) point->Set(mode);
  return absl::OkStatus();
}

}  // namespace evenkeel::base
