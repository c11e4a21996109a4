// Installs changes of documents on the writer thread: docs, index records, counters, uniqueness.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <optional>

#include "shard/command/command.h"
#include "shard/command/index_keys.h"
#include "storage/store.h"

namespace evenkeel::shard {

// The collection as the writer sees it now. Errors: StaleConfig when it is not `seen`'s version any
// more, or closed for writes.
absl::Status CheckUnchanged(storage::WriteContext& context, const Collection& seen);

// A document with the records that it stands for, computed before on a reader's thread.
struct PreparedDocument {
  bson::View document;
  DocumentRecords records;
};

// Puts a new document. Errors: DuplicateKey with its details; nothing is changed then.
absl::Status InstallInsert(storage::WriteContext& context, const Collection& collection,
                           const PreparedDocument& added);
// Replaces `old` (as it is in the store) by `added`; their places may differ. Errors: DuplicateKey;
// nothing is changed then.
absl::Status InstallReplace(storage::WriteContext& context, const Collection& collection,
                            const PreparedDocument& old, const PreparedDocument& added);
void InstallRemove(storage::WriteContext& context, const Collection& collection,
                   const PreparedDocument& old);

// The parts, for index builds.
// True when another document than `replaced` has a record with the same indexed values.
bool IsTaken(storage::WriteContext& context, const Collection& collection,
             const IndexRecord& record, std::string_view replaced);
void PutIndexRecord(storage::WriteContext& context, const IndexRecord& record);
void MarkMultikey(storage::WriteContext& context, IndexId index);
absl::Status DuplicateOf(const Collection& collection, const catalog::IndexEntry& index,
                         bson::View document);

}  // namespace evenkeel::shard
