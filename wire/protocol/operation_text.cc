// Implements what the log shows of requests.
#include "wire/protocol/operation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/random.h"
#include "wire/protocol/request.h"

namespace evenkeel::wire {
namespace {

constexpr size_t kValueBytesMax = 200;
constexpr std::string_view kSecrets[] = {"pwd", "payload"};

bool IsLeftOut(std::string_view field) {
  return field.starts_with('$') || IsGenericArgument(field);
}

// Of documents to insert only how many there are.
std::string CountText(size_t documents) { return fmt::format("[{}]", documents); }

std::string FieldText(std::string_view name, bson::Value value) {
  const bool secret =
      std::find(std::begin(kSecrets), std::end(kSecrets), name) != std::end(kSecrets);
  if (secret) return "###";
  if (name == "documents" && value.Is(bson::Type::kArray)) {
    return CountText(value.AsDocument().CountFields());
  }
  return bson::ToDisplay(value, kValueBytesMax);
}

// Of statements the first.
void AppendSequence(const DocumentSequence& sequence, std::string* out) {
  out->append(sequence.name).append(": ");
  if (sequence.name != "documents" && !sequence.documents.empty()) {
    const bson::Value first(bson::Type::kObject, sequence.documents.front().data());
    out->append(bson::ToDisplay(first, kValueBytesMax)).append(" ");
  }
  out->append(CountText(sequence.documents.size())).append(", ");
}

}  // namespace

uint64_t NewOperationId() {
  static const uint64_t process = base::GlobalRandom64() << 32;
  static std::atomic<uint32_t> last{0};
  return process | (last.fetch_add(1, std::memory_order_relaxed) + 1);
}

std::string OperationText(uint64_t id) {
  return id == 0 ? "none" : fmt::format("{:08x}-{}", id >> 32, id & 0xFFFFFFFF);
}

std::string NamespaceText(const Message& command) {
  const auto text = [](bson::Value value) {
    return value.Is(bson::Type::kString) ? value.AsString() : std::string_view();
  };
  std::string_view collection = text(command.body.Front().value);
  if (command.body.Front().key == "getMore") collection = text(command.body["collection"]);
  return fmt::format("{}.{}", text(command.body["$db"]), collection.empty() ? "$cmd" : collection);
}

std::string CommandText(const Message& command) {
  std::string out = "{ ";
  for (const auto& [name, value] : command.body) {
    if (out.size() > kCommandTextBytesMax) break;
    if (!IsLeftOut(name)) out += fmt::format("{}: {}, ", name, FieldText(name, value));
  }
  for (const DocumentSequence& sequence : command.sequences) AppendSequence(sequence, &out);
  if (out.ends_with(", ")) out.replace(out.size() - 2, 2, " }");
  if (out.size() <= kCommandTextBytesMax) return out;
  size_t end = kCommandTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
  return out.substr(0, end) + "...";
}

int64_t CountReturned(bson::View reply) {
  if (const bson::Value cursor = reply["cursor"]; cursor.Is(bson::Type::kObject)) {
    for (const std::string_view name : {"firstBatch", "nextBatch"}) {
      const bson::Value batch = cursor.AsDocument()[name];
      if (batch.Is(bson::Type::kArray))
        return static_cast<int64_t>(batch.AsDocument().CountFields());
    }
  }
  if (const bson::Value values = reply["values"]; values.Is(bson::Type::kArray)) {
    return static_cast<int64_t>(values.AsDocument().CountFields());
  }
  const bson::Value n = reply["n"];
  return n.IsNumber() ? bson::ToInt64Truncated(n) : -1;
}

}  // namespace evenkeel::wire
