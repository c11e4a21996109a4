// What a process lets its queries use: memory per operator, disk, and where on disk.
//
// Set by parameters with MongoDB's names, at the start or while running. One per process, shared by
// its router and shards. Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <span>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/view.h"
#include "query/context.h"
#include "query/memory_limits.h"
#include "query/spill/spill_folder.h"

namespace evenkeel::query {

class Settings {
 public:
  // `spill` may be null: nothing goes to disk then.
  explicit Settings(std::shared_ptr<SpillFolder> spill = nullptr) : spill_(std::move(spill)) {}

  // Puts the values of now into a command's context.
  void ApplyTo(QueryContext* context) const;

  // The names of all parameters, sorted.
  static std::span<const std::string_view> Names();
  static bool IsKnown(std::string_view name);
  // Errors: BadValue for a value out of range or of the wrong type, naming the parameter.
  // Requires IsKnown(name).
  absl::Status Set(std::string_view name, bson::Value value);
  // Appends the parameter's value under `key`. Requires IsKnown(name).
  void Append(std::string_view name, bson::Builder& builder, std::string_view key) const;

 private:
  const std::shared_ptr<SpillFolder> spill_;
  mutable absl::Mutex mutex_;
  MemoryLimits memory_ ABSL_GUARDED_BY(mutex_);
  bool allow_disk_use_ ABSL_GUARDED_BY(mutex_) = true;
  int64_t disk_kept_bytes_ ABSL_GUARDED_BY(mutex_) = SpillFolder::kFreeBytesMin;
};

}  // namespace evenkeel::query
