// Hand-made message bytes for tests of the wire protocol.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "base/bson/json.h"
#include "base/check.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

inline bson::Document Json(std::string_view text) {
  absl::StatusOr<bson::Document> document = bson::FromJson(text);
  EVENKEEL_CHECK(document.ok());
  return *std::move(document);
}

inline std::string Int32Bytes(int32_t value) {
  std::string out(4, '\0');
  std::memcpy(out.data(), &value, 4);
  return out;
}

// Bytes written in hexadecimal, blanks ignored.
inline std::string FromHex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\n') digits.push_back(c);
  }
  std::string out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return out;
}

inline std::string BodySection(const bson::Document& document) {
  return std::string(1, '\0') + document.bytes();
}

inline std::string SequenceSection(std::string_view name,
                                   const std::vector<bson::Document>& documents) {
  std::string inner = std::string(name) + std::string(1, '\0');
  for (const bson::Document& document : documents) inner += document.bytes();
  return std::string(1, '\1') + Int32Bytes(static_cast<int32_t>(inner.size() + 4)) + inner;
}

// What follows the header of an OP_MSG.
inline std::string MsgPayload(uint32_t flags, const std::string& sections) {
  return Int32Bytes(static_cast<int32_t>(flags)) + sections;
}

// A whole message with its header.
inline std::string Framed(OpCode op_code, const std::string& payload, int32_t request_id = 7) {
  return Int32Bytes(static_cast<int32_t>(payload.size() + kHeaderBytes)) + Int32Bytes(request_id) +
         Int32Bytes(0) + Int32Bytes(static_cast<int32_t>(op_code)) + payload;
}

// Parses a whole OP_MSG as a connection does.
inline absl::StatusOr<Message> ParseWhole(const std::string& bytes) {
  absl::StatusOr<MessageHeader> header = ParseHeader(bytes);
  if (!header.ok()) return header.status();
  return ParseOpMsg(*header, std::string_view(bytes).substr(0, kHeaderBytes),
                    std::make_shared<const std::string>(bytes.substr(kHeaderBytes)));
}

}  // namespace evenkeel::wire
