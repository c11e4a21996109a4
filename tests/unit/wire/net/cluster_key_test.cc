// The proof of the cluster's key.
#include "wire/net/cluster_key.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace evenkeel::wire {
namespace {

TEST(ClusterKey, NoncesAreNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string nonce = NewClusterNonce();
    EXPECT_EQ(nonce.size(), kClusterNonceBytes);
    EXPECT_TRUE(seen.insert(nonce).second);
  }
}

TEST(ClusterKey, AProofDependsOnKeyRoleAndBothNonces) {
  const std::string key = "a key of 24 bytes, or so", a = NewClusterNonce(), b = NewClusterNonce();
  const std::string proof = ClusterProof(key, "router", a, b);
  EXPECT_EQ(proof.size(), 32u);
  EXPECT_TRUE(IsSameProof(proof, ClusterProof(key, "router", a, b)));
  // Another key, the other role's, a replayed one, one that is sent back.
  EXPECT_FALSE(IsSameProof(proof, ClusterProof(key + "!", "router", a, b)));
  EXPECT_FALSE(IsSameProof(proof, ClusterProof(key, "shard", a, b)));
  EXPECT_FALSE(IsSameProof(proof, ClusterProof(key, "router", NewClusterNonce(), b)));
  EXPECT_FALSE(IsSameProof(proof, ClusterProof(key, "router", b, a)));
  EXPECT_FALSE(IsSameProof(proof, ""));
  EXPECT_FALSE(IsSameProof(proof, proof.substr(0, 31)));
}

}  // namespace
}  // namespace evenkeel::wire
