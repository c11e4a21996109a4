// Reads the documents that a fuzz target's input consists of.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/bson/validate.h"
#include "base/bson/view.h"

namespace evenkeel::fuzz {

// The first N documents of the input, one behind the other; nothing when one is no valid BSON.
template <size_t N>
std::optional<std::array<bson::View, N>> Documents(std::string_view bytes) {
  std::array<bson::View, N> documents;
  for (bson::View& document : documents) {
    if (bytes.size() < sizeof(int32_t)) return std::nullopt;
    const auto length = bson::LoadLittle<int32_t>(bytes.data());
    if (length < 5 || static_cast<size_t>(length) > bytes.size()) return std::nullopt;
    if (!bson::Validate(bytes.substr(0, static_cast<size_t>(length))).ok()) return std::nullopt;
    document = bson::View(bytes.data());
    bytes.remove_prefix(static_cast<size_t>(length));
  }
  return documents;
}

}  // namespace evenkeel::fuzz
