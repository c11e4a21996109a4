// The table of parameters.
#include "query/settings.h"

#include <algorithm>
#include <array>

#include "base/bson/number.h"
#include "base/check.h"
#include "base/status.h"

namespace evenkeel::query {
namespace {

constexpr std::string_view kAllowDiskUse = "allowDiskUseByDefault";
constexpr std::string_view kDiskKept = "internalQuerySpillingMinAvailableDiskSpaceBytes";

// Where a limit's value lies; null for the two parameters that are none.
struct Parameter {
  std::string_view name;
  size_t MemoryLimits::*limit = nullptr;
};

// Sorted by name.
constexpr Parameter kParameters[] = {
    {kAllowDiskUse},
    {"internalDocumentSourceBucketAutoMaxMemoryBytes", &MemoryLimits::bucket_auto},
    {"internalDocumentSourceDensifyMaxMemoryBytes", &MemoryLimits::densify},
    {"internalDocumentSourceGraphLookupMaxMemoryBytes", &MemoryLimits::graph_lookup},
    {"internalDocumentSourceGroupMaxMemoryBytes", &MemoryLimits::group},
    {"internalDocumentSourceLookupCacheSizeBytes", &MemoryLimits::lookup},
    {"internalDocumentSourceSetWindowFieldsMaxMemoryBytes", &MemoryLimits::window},
    {"internalQueryFacetBufferSizeBytes", &MemoryLimits::facet},
    {"internalQueryMaxBlockingSortMemoryUsageBytes", &MemoryLimits::sort},
    {kDiskKept},
};

const Parameter* Find(std::string_view name) {
  const auto at = std::find_if(std::begin(kParameters), std::end(kParameters),
                               [name](const Parameter& row) { return row.name == name; });
  return at == std::end(kParameters) ? nullptr : at;
}

// Errors: BadValue unless it is a whole number from `least` on.
absl::StatusOr<int64_t> ReadBytes(std::string_view name, bson::Value value, int64_t least) {
  const std::optional<int64_t> bytes =
      value.IsNumber() ? bson::ToInt64Exact(value) : std::optional<int64_t>();
  if (bytes && *bytes >= least) return *bytes;
  return Error(ErrorCode::kBadValue, "the parameter {} must be a number of bytes from {} on", name,
               least);
}

}  // namespace

void Settings::ApplyTo(QueryContext* context) const {
  context->spill = spill_;
  absl::ReaderMutexLock lock(&mutex_);
  context->memory = memory_;
  context->allow_disk_use = allow_disk_use_;
}

std::span<const std::string_view> Settings::Names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kParameters)> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = kParameters[i].name;
    return names;
  }();
  return kNames;
}

bool Settings::IsKnown(std::string_view name) { return Find(name) != nullptr; }

absl::Status Settings::Set(std::string_view name, bson::Value value) {
  const Parameter* parameter = Find(name);
  EVENKEEL_CHECK(parameter != nullptr);
  if (name == kAllowDiskUse) {
    if (!value.Is(bson::Type::kBool)) {
      return Error(ErrorCode::kBadValue, "the parameter {} must be true or false", name);
    }
    absl::MutexLock lock(&mutex_);
    allow_disk_use_ = value.AsBool();
    return absl::OkStatus();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bytes, ReadBytes(name, value, name == kDiskKept ? 0 : 1));
  absl::MutexLock lock(&mutex_);
  if (parameter->limit != nullptr) {
    memory_.*parameter->limit = static_cast<size_t>(bytes);
  } else {
    disk_kept_bytes_ = bytes;
    if (spill_) spill_->SetFreeBytesMin(bytes);
  }
  return absl::OkStatus();
}

void Settings::Append(std::string_view name, bson::Builder& builder, std::string_view key) const {
  const Parameter* parameter = Find(name);
  EVENKEEL_CHECK(parameter != nullptr);
  absl::ReaderMutexLock lock(&mutex_);
  if (name == kAllowDiskUse) {
    builder.Append(key, allow_disk_use_);
  } else if (parameter->limit != nullptr) {
    builder.Append(key, static_cast<int64_t>(memory_.*parameter->limit));
  } else {
    builder.Append(key, disk_kept_bytes_);
  }
}

}  // namespace evenkeel::query
