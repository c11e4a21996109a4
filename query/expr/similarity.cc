// $similarityCosine, $similarityDotProduct, $similarityEuclidean: how alike two vectors are.
//
// A vector is an array of numbers or binary data of subtype 9 (float32, int8, packed bits). Source:
// the operators' pages in the manual; the BSON specification of binary vectors.
#include "query/expr/similarity.h"

#include <cmath>
#include <cstring>

namespace evenkeel::query::expr {
namespace {

using bson::Type;

using Vector = absl::InlinedVector<double, 64>;

constexpr uint8_t kVectorSubtype = 9;
enum ElementKind : uint8_t { kInt8 = 0x03, kPackedBit = 0x10, kFloat32 = 0x27 };

absl::Status NoVector(const Call& call) {
  return Error(ErrorCode::kBadValue, "{}: binary data that is no vector", call.op.name);
}

absl::Status ReadBinary(const Call& call, bson::BinaryView binary, Vector* out) {
  constexpr size_t kHeaderBytes = 2;  // kind of the elements, unused bits of the last byte
  const std::string_view bytes = binary.bytes;
  if (binary.subtype != kVectorSubtype || bytes.size() < kHeaderBytes) return NoVector(call);
  const std::string_view data = bytes.substr(kHeaderBytes);
  const auto padding = static_cast<uint8_t>(bytes[1]);
  switch (static_cast<uint8_t>(bytes[0])) {
    case kInt8:
      for (const char byte : data) out->push_back(static_cast<int8_t>(byte));
      return absl::OkStatus();
    case kFloat32:
      if (data.size() % sizeof(float) != 0) return NoVector(call);
      for (size_t at = 0; at < data.size(); at += sizeof(float)) {
        float element;
        std::memcpy(&element, data.data() + at, sizeof(element));
        out->push_back(element);
      }
      return absl::OkStatus();
    case kPackedBit:
      if (padding > 7 || (padding > 0 && data.empty())) return NoVector(call);
      for (size_t bit = 0; bit < data.size() * 8 - padding; ++bit) {
        out->push_back((static_cast<uint8_t>(data[bit / 8]) >> (7 - bit % 8)) & 1);
      }
      return absl::OkStatus();
    default:
      return NoVector(call);
  }
}

// Errors: TypeMismatch for what is no vector and for elements that are no numbers; BadValue.
absl::Status ReadVector(const Call& call, bson::Value value, Vector* out) {
  if (value.Is(Type::kBinary)) return ReadBinary(call, value.AsBinary(), out);
  if (!value.Is(Type::kArray)) {
    return WrongType(call, ErrorCode::kTypeMismatch, "requires arrays of numbers or binary vectors",
                     value);
  }
  for (const auto& [key, element] : value.AsDocument()) {
    if (!element.IsNumber()) {
      return WrongType(call, ErrorCode::kTypeMismatch, "requires vectors of numbers", element);
    }
    out->push_back(bson::ToDouble(element));
  }
  return absl::OkStatus();
}

// A measure of two vectors of one length, and the score that it stands for.
struct Measure {
  double (*of)(const Vector& a, const Vector& b);
  double (*score)(double measured);
};

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double Cosine(const Vector& a, const Vector& b) {
  const double norms = std::sqrt(Dot(a, a) * Dot(b, b));
  return norms == 0 ? 0 : Dot(a, b) / norms;
}
double Distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}
double ScoreOfProduct(double product) { return (1 + product) / 2; }
double ScoreOfDistance(double distance) { return 1 / (1 + distance); }

constexpr Measure kCosine = {Cosine, ScoreOfProduct};
constexpr Measure kDotProduct = {Dot, ScoreOfProduct};
constexpr Measure kEuclidean = {Distance, ScoreOfDistance};

enum SimilarityArg { kFirst, kSecond, kScore };

template <const Measure& Of>
absl::StatusOr<bson::Value> EvalSimilarity(const Call& call) {
  if (call.args[kFirst].IsNullish() || call.args[kSecond].IsNullish()) return NullValue();
  Vector first, second;
  EVENKEEL_RETURN_IF_ERROR(ReadVector(call, call.args[kFirst], &first));
  EVENKEEL_RETURN_IF_ERROR(ReadVector(call, call.args[kSecond], &second));
  if (first.size() != second.size()) {
    return Error(ErrorCode::kBadValue, "{} requires vectors of equal length, found {} and {}",
                 call.op.name, first.size(), second.size());
  }
  const double measured = Of.of(first, second);
  return call.arena().Double(bson::Truthy(call.args[kScore]) ? Of.score(measured) : measured);
}

}  // namespace

absl::StatusOr<bson::Value> EvalCosine(const Call& call) { return EvalSimilarity<kCosine>(call); }
absl::StatusOr<bson::Value> EvalDotProduct(const Call& call) {
  return EvalSimilarity<kDotProduct>(call);
}
absl::StatusOr<bson::Value> EvalEuclidean(const Call& call) {
  return EvalSimilarity<kEuclidean>(call);
}

absl::StatusOr<ExpressionPtr> ParseSimilarity(const ExprOp& op, bson::Value args,
                                              ParseScope& scope) {
  bson::Value vectors = args, score = FalseValue();
  if (args.Is(Type::kObject) && !args.AsDocument().Front().key.starts_with('$')) {
    vectors = {};
    for (const auto& [name, value] : args.AsDocument()) {
      if (name == "vectors") {
        vectors = value;
      } else if (name == "score") {
        score = value;
      } else {
        return Error(ErrorCode::kFailedToParse, "{} found an unknown argument: {}", op.name, name);
      }
    }
    if (!score.Is(Type::kBool)) {
      return Error(ErrorCode::kTypeMismatch, "{} requires 'score' to be a boolean", op.name);
    }
  }
  if (!vectors.Is(Type::kArray)) {
    return Error(ErrorCode::kFailedToParse, "{} requires an array of two vectors", op.name);
  }
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<ExpressionPtr> children,
                            ParseArgumentList(op, vectors, scope));
  children.push_back(MakeConstant(score));
  return MakeOperator(op, std::move(children), scope.context());
}

}  // namespace evenkeel::query::expr
