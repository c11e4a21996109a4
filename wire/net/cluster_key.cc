// Implements the proof with OpenSSL.
#include "wire/net/cluster_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/check.h"

namespace evenkeel::wire {

std::string NewClusterNonce() {
  std::string nonce(kClusterNonceBytes, '\0');
  const int done =
      RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size()));
  EVENKEEL_CHECK(done == 1);
  return nonce;
}

std::string ClusterProof(std::string_view key, std::string_view role, std::string_view own,
                         std::string_view other) {
  std::string text(role);
  text.push_back('\0');
  text.append(own).append(other);
  std::string proof(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  const unsigned char* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                   reinterpret_cast<unsigned char*>(proof.data()), &size);
  EVENKEEL_CHECK(done != nullptr);
  proof.resize(size);
  return proof;
}

std::string_view ClusterBytes(bson::View body, std::string_view field) {
  const bson::Value value = body[field];
  return value.Is(bson::Type::kBinary) ? value.AsBinary().bytes : std::string_view();
}

bool IsSameProof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace evenkeel::wire
