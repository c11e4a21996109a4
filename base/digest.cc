// Implements digests by OpenSSL and xxHash.
#include "base/digest.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "base/check.h"

namespace evenkeel::base {
namespace {

std::string Digest(const EVP_MD* kind, std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVENKEEL_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, kind, nullptr) == 1);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

}  // namespace

std::string Md5(std::string_view bytes) { return Digest(EVP_md5(), bytes); }
std::string Sha256(std::string_view bytes) { return Digest(EVP_sha256(), bytes); }

std::string Xxh64(std::string_view bytes) {
  XXH64_canonical_t canonical;
  XXH64_canonicalFromHash(&canonical, XXH64(bytes.data(), bytes.size(), 0));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest));
}

}  // namespace evenkeel::base
