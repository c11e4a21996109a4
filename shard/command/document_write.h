// Installs changes of documents on the writer thread: docs, index records, counters, uniqueness.
#pragma once

#include <absl/status/status.h>

#include <span>
#include <string_view>
#include <vector>

#include "shard/command/command.h"
#include "shard/command/index_keys.h"
#include "storage/store.h"

namespace evenkeel::shard {

// The collection as the writer sees it now. Errors: StaleConfig when it is not `seen`'s version any
// more, or closed for writes.
absl::Status CheckUnchanged(storage::WriteContext& context, const Collection& seen);
// The same for what a job writes, to which a collection is never closed.
absl::Status CheckSameVersion(storage::WriteContext& context, const Collection& seen);

// A document with the records that it stands for, computed before on a reader's thread.
struct PreparedDocument {
  bson::View document;
  DocumentRecords records;
};

// Puts a new document. Errors: DuplicateKey with its details; nothing is changed then.
absl::Status InstallInsert(storage::WriteContext& context, const Collection& collection,
                           const PreparedDocument& added);
// All three claim the keys that they change first (WriteConflict).
// Replaces `old` (as it is in the store) by `added`; their places may differ. Errors: DuplicateKey;
// nothing is changed then.
absl::Status InstallReplace(storage::WriteContext& context, const Collection& collection,
                            const PreparedDocument& old, const PreparedDocument& added);
// Removes `old` (as it is in the store).
absl::Status InstallRemove(storage::WriteContext& context, const Collection& collection,
                           const PreparedDocument& old);

// The parts, for index builds.
// Claims a document and its values in unique indexes. Errors: WriteConflict.
absl::Status ClaimDocument(storage::WriteContext& context, const Collection& collection,
                           std::string_view doc_key, std::span<const IndexRecord> records);
// Errors: DuplicateKey when another document than `replaced` has a record with the values of
// `record`, which stands for `document` under `doc_key`.
absl::Status CheckNotTaken(storage::WriteContext& context, const Collection& collection,
                           const IndexRecord& record, bson::View document, std::string_view doc_key,
                           std::string_view replaced);
// Puts a record that may be there already.
void PutIndexRecord(storage::WriteContext& context, const IndexRecord& record);
// Remembers what the planner and scans must know of the indexes.
void MarkIndexes(storage::WriteContext& context, const std::vector<IndexId>& multikey,
                 const std::vector<IndexId>& long_keys);

}  // namespace evenkeel::shard
