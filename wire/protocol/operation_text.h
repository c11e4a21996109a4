// How the log speaks of a client's request: its id, its namespace, its command in short.
//
// Pure, but for the ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bson/view.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

// An id for a request that came in here: no other process of the cluster gives the same one out, by
// all odds. It goes on to the shards with what the request makes them do. Any thread.
uint64_t NewOperationId();
// "5f3a91c2-12"; "none" for 0.
std::string OperationText(uint64_t id);

// "test.people"; "test.$cmd" for a command without a collection.
std::string NamespaceText(const Message& command);

// The command with its values cut short and without the fields that any command may carry; no
// passwords. At most kCommandTextBytesMax bytes and "...".
inline constexpr size_t kCommandTextBytesMax = 1024;
std::string CommandText(const Message& command);

// How many documents a reply brings or has counted; -1 where that means nothing.
int64_t CountReturned(bson::View reply);

}  // namespace evenkeel::wire
