// $convert and its short forms: $toBool, $toInt, $toString, $toUUID …
#include <algorithm>

#include "query/expr/convert.h"
#include "query/expr/ejson.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

enum ConvertArg { kInput, kTo, kFormat, kByteOrder, kBase, kOnNull, kOnError };

absl::StatusOr<Type> ParseType(bson::Value to) {
  if (to.Is(Type::kString)) {
    const std::optional<Type> type = TypeFromAlias(to.AsString());
    if (!type) return Error(ErrorCode::kBadValue, "Unknown type name: {}", to.AsString());
    return *type;
  }
  if (!to.IsNumber()) {
    return Error(ErrorCode::kFailedToParse,
                 "$convert's 'to' argument must be a string or number, but is {}",
                 TypeName(to.type()));
  }
  const std::optional<int64_t> number = bson::ToInt64Exact(to);
  if (number == 0) return Type::kEod;
  const std::optional<Type> type = number ? TypeFromNumber(*number) : std::nullopt;
  if (!type) return Error(ErrorCode::kFailedToParse, "In $convert, 'to' is no numeric type code");
  return *type;
}

absl::StatusOr<uint8_t> ParseSubtype(bson::Value value) {
  if (!value.IsNumber()) {
    return Error(Location(4341108), "$convert's 'subtype' argument must be a number, but is {}",
                 TypeName(value.type()));
  }
  const std::optional<int64_t> number = bson::ToInt64Exact(value);
  if (!number) return Error(Location(4341106), "In $convert, 'subtype' must be a whole number");
  constexpr int64_t kLastDefined = 9, kFirstCustom = 128, kLastCustom = 255;
  const bool defined = *number >= 0 && *number <= kLastDefined;
  if (!defined && (*number < kFirstCustom || *number > kLastCustom)) {
    return Error(Location(4341107), "In $convert, numeric value for 'subtype' is unknown: {}",
                 *number);
  }
  return static_cast<uint8_t>(*number);
}

absl::Status ParseTarget(bson::Value to, ConvertTarget* target) {
  if (!to.Is(Type::kObject)) {
    EVENKEEL_ASSIGN_OR_RETURN(target->type, ParseType(to));
    return absl::OkStatus();
  }
  EVENKEEL_ASSIGN_OR_RETURN(target->type, ParseType(to.AsDocument()["type"]));
  if (const bson::Value subtype = to.AsDocument()["subtype"]; !subtype.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(target->subtype, ParseSubtype(subtype));
  }
  return absl::OkStatus();
}

absl::StatusOr<BinaryFormat> ParseFormat(bson::Value value) {
  constexpr std::string_view kNames[] = {"auto", "base64", "base64url", "hex", "utf8", "uuid"};
  if (!value.Is(Type::kString)) {
    return Error(Location(4341114), "$convert requires 'format' to be a string, found: {}",
                 TypeName(value.type()));
  }
  const auto* found = std::find(std::begin(kNames), std::end(kNames), value.AsString());
  if (found == std::end(kNames)) {
    return Error(Location(4341125), "Invalid 'format' argument for $convert: {}", value.AsString());
  }
  return static_cast<BinaryFormat>(found - std::begin(kNames));
}

absl::Status ParseOptions(const Call& call, ConvertTarget* target) {
  if (const bson::Value format = call.args[kFormat]; !format.IsNullish()) {
    EVENKEEL_ASSIGN_OR_RETURN(target->format, ParseFormat(format));
  }
  if (const bson::Value order = call.args[kByteOrder]; !order.IsNullish()) {
    if (!order.Is(Type::kString)) {
      return WrongType(call, Location(9130001), "requires 'byteOrder' to be a string", order);
    }
    target->big_endian = order.AsString() == "big";
    if (!target->big_endian && order.AsString() != "little") {
      return Error(Location(9130002), "Invalid 'byteOrder' argument for $convert: {}",
                   order.AsString());
    }
  }
  if (const bson::Value base = call.args[kBase]; !base.IsNullish()) {
    const std::optional<int32_t> number = Int32Of(base);
    if (!number) return WrongType(call, Location(3501300), "requires an integral 'base'", base);
    if (*number != 2 && *number != 8 && *number != 10 && *number != 16) {
      return Error(Location(3501301), "In $convert, 'base' must be 2, 8, 10 or 16");
    }
    target->base = *number;
  }
  return absl::OkStatus();
}

absl::StatusOr<bson::Value> EvalConvert(const Call& call) {
  const bool has_target = !call.args[kTo].IsNullish();
  ConvertTarget target;
  if (has_target) EVENKEEL_RETURN_IF_ERROR(ParseTarget(call.args[kTo], &target));
  EVENKEEL_RETURN_IF_ERROR(ParseOptions(call, &target));
  if (call.args[kInput].IsNullish()) {
    return call.Given(kOnNull) ? call.EvaluateLazy(kOnNull) : NullValue();
  }
  if (!has_target) return NullValue();
  absl::StatusOr<bson::Value> result = Convert(call.args[kInput], target, call.arena());
  if (call.Given(kOnError) && CodeOf(result.status()) == ErrorCode::kConversionFailure) {
    return call.EvaluateLazy(kOnError);
  }
  return result;
}

template <Type To>
absl::StatusOr<bson::Value> EvalTo(const Call& call) {
  return Convert(call.args[0], {.type = To, .format = BinaryFormat::kAuto}, call.arena());
}

absl::StatusOr<bson::Value> EvalToUuid(const Call& call) {
  const ConvertTarget uuid{
      .type = Type::kBinary, .subtype = kUuidSubtype, .format = BinaryFormat::kUuid};
  return Convert(call.args[0], uuid, call.arena());
}

// {$toInt: x} and {$toInt: [x]}.
absl::StatusOr<ExpressionPtr> ParseShort(const ExprOp& op, bson::Value args, ParseScope& scope) {
  if (args.Is(Type::kArray)) {
    if (const size_t count = args.AsDocument().CountFields(); count != 1) {
      return Error(Location(50723), "{} requires a single argument, got {}", op.name, count);
    }
    args = args.AsDocument().Front().value;
  }
  std::vector<ExpressionPtr> children(1);
  EVENKEEL_ASSIGN_OR_RETURN(children[0], Expression::Parse(args, scope));
  return MakeOperator(op, std::move(children), scope.context());
}

constexpr ExprOp ShortRow(std::string_view name, EvalFn eval, std::string_view spec,
                          std::string_view tests) {
  return {.name = name,
          .nulls = Nulls::kPropagate,
          .parse = ParseShort,
          .eval = eval,
          .spec = spec,
          .tests = tests};
}

constexpr NamedArg kConvertArgs[] = {{.name = "input", .required = true},
                                     {.name = "to", .required = true},
                                     {.name = "format"},
                                     {.name = "byteOrder"},
                                     {.name = "base"},
                                     {.name = "onNull", .lazy = true},
                                     {.name = "onError", .lazy = true}};

constexpr ExprOp kRows[] = {
    {.name = "$convert",
     .parse = ParseNamed,
     .eval = EvalConvert,
     .named = kConvertArgs,
     .spec = "operator/aggregation/convert",
     .tests = "expressions/type/convert"},
    {.name = "$deserializeEJSON",
     .parse = ParseNamed,
     .eval = EvalDeserializeEjson,
     .named = kDeserializeEjsonArgs,
     .spec = "operator/aggregation/deserializeEJSON",
     .tests = "expressions/type"},
    {.name = "$serializeEJSON",
     .parse = ParseNamed,
     .eval = EvalSerializeEjson,
     .named = kSerializeEjsonArgs,
     .spec = "operator/aggregation/serializeEJSON",
     .tests = "expressions/type"},
    ShortRow("$toArray", EvalTo<Type::kArray>, "operator/aggregation/toArray", "expressions/type"),
    ShortRow("$toBool", EvalTo<Type::kBool>, "operator/aggregation/toBool",
             "expressions/type/toBool"),
    ShortRow("$toDate", EvalTo<Type::kDate>, "operator/aggregation/toDate",
             "expressions/type/toDate"),
    ShortRow("$toDecimal", EvalTo<Type::kDecimal128>, "operator/aggregation/toDecimal",
             "expressions/type/toDecimal"),
    ShortRow("$toDouble", EvalTo<Type::kDouble>, "operator/aggregation/toDouble",
             "expressions/type/toDouble"),
    ShortRow("$toInt", EvalTo<Type::kInt32>, "operator/aggregation/toInt",
             "expressions/type/toInt"),
    ShortRow("$toLong", EvalTo<Type::kInt64>, "operator/aggregation/toLong",
             "expressions/type/toLong"),
    ShortRow("$toObject", EvalTo<Type::kObject>, "operator/aggregation/toObject",
             "expressions/type"),
    ShortRow("$toObjectId", EvalTo<Type::kObjectId>, "operator/aggregation/toObjectId",
             "expressions/type/toObjectId"),
    ShortRow("$toString", EvalTo<Type::kString>, "operator/aggregation/toString",
             "expressions/string/toString"),
    ShortRow("$toUUID", EvalToUuid, "operator/aggregation/toUUID", "expressions/type/toUUID"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> ConvertOps() { return kRows; }

}  // namespace evenkeel::query::expr
