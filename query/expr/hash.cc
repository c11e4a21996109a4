// $hash, $hexHash: digests of strings and binary data.
#include "query/expr/hash.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/text.h"
#include "base/digest.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

struct Algorithm {
  std::string_view name;
  std::string (*digest)(std::string_view bytes);
};
constexpr Algorithm kAlgorithms[] = {
    {"md5", base::Md5}, {"sha256", base::Sha256}, {"xxh64", base::Xxh64}};

enum HashArg { kInput, kAlgorithm };

// The digest; nothing when an argument is null. Errors: TypeMismatch for an input of another type,
// BadValue for an unknown algorithm.
absl::StatusOr<std::optional<std::string>> DigestOf(const Call& call) {
  const bson::Value input = call.args[kInput], algorithm = call.args[kAlgorithm];
  if (algorithm.IsNullish()) return std::nullopt;
  if (!algorithm.Is(Type::kString)) {
    return WrongType(call, ErrorCode::kTypeMismatch, "requires 'algorithm' to be a string",
                     algorithm);
  }
  const auto* found =
      std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                   [&](const Algorithm& known) { return known.name == algorithm.AsString(); });
  if (found == std::end(kAlgorithms)) {
    return Error(ErrorCode::kBadValue, "{} does not know the algorithm '{}'", call.op.name,
                 algorithm.AsString());
  }
  if (input.IsNullish()) return std::nullopt;
  if (input.Is(Type::kString)) return found->digest(input.AsString());
  if (input.Is(Type::kBinary)) return found->digest(input.AsBinary().bytes);
  return WrongType(call, ErrorCode::kTypeMismatch, "requires 'input' to be a string or binary data",
                   input);
}

}  // namespace

absl::StatusOr<bson::Value> EvalHash(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<std::string> digest, DigestOf(call));
  if (!digest) return NullValue();
  bson::Builder builder;
  builder.AppendBinary("", 0, *digest);
  return call.arena().Copy(builder.Finish().view().Front().value);
}

absl::StatusOr<bson::Value> EvalHexHash(const Call& call) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<std::string> digest, DigestOf(call));
  if (!digest) return NullValue();
  return call.arena().String(absl::AsciiStrToUpper(bson::HexText(*digest)));
}

}  // namespace evenkeel::query::expr
