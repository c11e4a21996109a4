// Proof that a router and a shard are of one cluster: both hold its key, and each shows that to the
// other without sending it.
//
// The proof is HMAC-SHA-256 over the role of the prover and the nonces of both sides, so that no
// proof can be used again or sent back to where it came from. It does not hide what is sent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::wire {

inline constexpr size_t kClusterNonceBytes = 32;
inline constexpr size_t kClusterKeyBytesMin = 16;

// Random bytes that are used once.
std::string NewClusterNonce();

// What `role` ("router" or "shard") sends to prove that it has `key`.
//
// own, other  the nonces of the prover and of its peer.
std::string ClusterProof(std::string_view key, std::string_view role, std::string_view own,
                         std::string_view other);

// A nonce or proof in a message of the handshake; empty when it is missing or no binary value.
std::string_view ClusterBytes(bson::View body, std::string_view field);

// Compares in a time that does not tell where the difference is.
bool IsSameProof(std::string_view a, std::string_view b);

}  // namespace evenkeel::wire
