// Digests of bytes: MD5, SHA-256, xxHash. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel::base {

// 16 and 32 bytes.
std::string Md5(std::string_view bytes);
std::string Sha256(std::string_view bytes);
// XXH64 with seed 0 in its canonical form: 8 bytes, the highest first.
std::string Xxh64(std::string_view bytes);

}  // namespace evenkeel::base
