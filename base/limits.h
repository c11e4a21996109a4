// Every named bound of the program, with unit and reason. Settable ones are defaults of cli
// options.
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::limits {

// Wire protocol (MongoDB's public limits, shown in hello).
inline constexpr int32_t kDocumentBytesMax = 16 * 1024 * 1024;
inline constexpr int32_t kInternalDocumentBytesMax =
    kDocumentBytesMax + 16 * 1024;  // commands around one document
inline constexpr int32_t kMessageBytesMax = 48'000'000;
inline constexpr int32_t kWriteBatchCountMax = 100'000;
// Documents within documents, the outermost counted: 180 inside a stored one, 200 inside a command.
// The manual promises 100; the recorded cases show these.
inline constexpr int kBsonDepthMax = 181;
inline constexpr int kCommandDepthMax = 201;

// Memory held for clients.
inline constexpr size_t kConnectionsMax = 10'000;
inline constexpr size_t kInFlightBytesPerConnectionMax =
    64u << 20;                                           // one largest message and its reply
inline constexpr size_t kInFlightBytesMax = 512u << 20;  // all connections together
inline constexpr size_t kPendingWriteBytesPerShardMax = 128u << 20;  // submitted, not yet durable
inline constexpr size_t kReplyBatchBytesMax = 16u << 20;  // documents of one cursor batch
inline constexpr size_t kCursorsMax = 100'000;

// Storage.
inline constexpr size_t kLogSegmentBytes = 64u << 20;
inline constexpr size_t kLogGroupBytesMax =
    4u << 20;  // one fdatasync; keeps a huge record from blocking others
inline constexpr size_t kMemTableBytesMax = 64u << 20;  // frozen at this size
inline constexpr int kMemTableAgeSecondsMax = 60;       // or at this age
inline constexpr size_t kHistoryBytesMax = 96u << 20;   // retained tables per shard
inline constexpr int kHistorySeconds = 300;
inline constexpr size_t kCheckpointDirtyPagesMax = 4'000;  // per LMDB transaction
inline constexpr size_t kLmdbKeyBytesMax = 511;            // compiled into the distribution's LMDB
inline constexpr size_t kPlacementKeyBytesMax = 256;

// Sessions.
inline constexpr int kSessionTimeoutMinutes = 30;

}  // namespace evenkeel::limits
