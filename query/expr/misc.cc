// What belongs to no other group: $createObjectId, $meta, $rand, $toHashedIndexKey; and known ones
// that are not supported.
#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/random.h"
#include "query/expr/groups.h"
#include "query/expr/hash.h"
#include "query/expr/meta.h"
#include "query/expr/nodes.h"
#include "query/expr/similarity.h"

namespace evenkeel::query::expr {
namespace {

absl::StatusOr<bson::Value> EvalRand(const Call& call) {
  constexpr double kTwoTo53 = 9007199254740992.0;
  return call.arena().Double(static_cast<double>(base::GlobalRandom64() >> 11) / kTwoTo53);
}

absl::StatusOr<ExpressionPtr> ParseRand(const ExprOp& op, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kObject) && !args.Is(bson::Type::kArray)) {
    return Error(Location(10065), "invalid parameter: expected an object ($rand)");
  }
  if (!args.AsDocument().empty()) {
    return Error(Location(3040501), "$rand does not currently accept arguments");
  }
  return MakeOperator(op, {}, scope.context());
}

absl::StatusOr<bson::Value> EvalToHashedIndexKey(const Call& call) {
  return call.arena().Int64(bson::HashValue(call.args[0]));
}

absl::StatusOr<bson::Value> EvalCreateObjectId(const Call& call) {
  const std::string id = bson::NewObjectId();
  return call.arena().Copy(bson::Value(bson::Type::kObjectId, id.data()));
}

absl::StatusOr<ExpressionPtr> ParseCreateObjectId(const ExprOp& op, bson::Value args,
                                                  ParseScope& scope) {
  if (!args.Is(bson::Type::kObject) || !args.AsDocument().empty()) {
    return Error(ErrorCode::kFailedToParse, "$createObjectId takes an empty object");
  }
  return MakeOperator(op, {}, scope.context());
}

// Metadata that no row has: a kind that only its operator makes (a text search) is an error, the
// others have no value, as for documents without them.
absl::StatusOr<bson::Value> EvalRequiredMeta(const Call&) {
  return Error(Location(40218), "query requires metadata that is not available");
}
absl::StatusOr<bson::Value> EvalOptionalMeta(const Call&) { return bson::Value(); }

constexpr ExprOp kRequiredMeta = {.name = "$meta", .pure = false, .eval = EvalRequiredMeta};
constexpr ExprOp kOptionalMeta = {.name = "$meta", .pure = false, .eval = EvalOptionalMeta};

absl::StatusOr<ExpressionPtr> ParseMeta(const ExprOp&, bson::Value args, ParseScope& scope) {
  constexpr std::string_view kRequired[] = {"geoNearDistance", "geoNearPoint", "textScore"};
  constexpr std::string_view kOptional[] = {"randVal",
                                            "searchHighlights",
                                            "searchScore",
                                            "searchScoreDetails",
                                            "searchSequenceToken",
                                            "timeseriesBucketMaxTime",
                                            "timeseriesBucketMinTime",
                                            "vectorSearchScore"};
  if (!args.Is(bson::Type::kString)) {
    return Error(Location(17307), "$meta only supports string arguments");
  }
  const auto is_in = [kind = args.AsString()](std::span<const std::string_view> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  if (const std::string_view field = MetaField(args.AsString()); !field.empty()) {
    bson::Builder path;
    path.Append("", std::string("$").append(field));
    return Expression::Parse(path.Finish()[""], scope);
  }
  if (is_in(kRequired)) return MakeOperator(kRequiredMeta, {}, scope.context());
  if (is_in(kOptional)) return MakeOperator(kOptionalMeta, {}, scope.context());
  return Error(Location(17308), "Unsupported argument to $meta: {}", args.AsString());
}

constexpr ExprOp SimilarityRow(std::string_view name, EvalFn eval, std::string_view spec) {
  return {.name = name,
          .arity = Arity::Exactly(2),
          .parse = ParseSimilarity,
          .eval = eval,
          .spec = spec,
          .tests = "none"};
}

constexpr ExprOp kRows[] = {
    {.name = "$createObjectId",
     .pure = false,
     .parse = ParseCreateObjectId,
     .eval = EvalCreateObjectId,
     .spec = "operator/aggregation/createObjectId",
     .tests = "expressions/misc"},
    Unsupported("$encStrContains", "operator/aggregation/encStrContains", "none"),
    Unsupported("$encStrEndsWith", "operator/aggregation/encStrEndsWith", "none"),
    Unsupported("$encStrNormalizedEq", "operator/aggregation/encStrNormalizedEq", "none"),
    Unsupported("$encStrStartsWith", "operator/aggregation/encStrStartsWith", "none"),
    Unsupported("$function", "operator/aggregation/function", "expressions/custom/function"),
    {.name = "$hash",
     .parse = ParseNamed,
     .eval = EvalHash,
     .named = kHashArgs,
     .spec = "operator/aggregation/hash",
     .tests = "expressions/misc"},
    {.name = "$hexHash",
     .parse = ParseNamed,
     .eval = EvalHexHash,
     .named = kHashArgs,
     .spec = "operator/aggregation/hexHash",
     .tests = "expressions/misc"},
    {.name = "$meta",
     .pure = false,
     .parse = ParseMeta,
     .spec = "operator/aggregation/meta",
     .tests = "expressions/misc/meta"},
    {.name = "$rand",
     .pure = false,
     .parse = ParseRand,
     .eval = EvalRand,
     .spec = "operator/aggregation/rand",
     .tests = "expressions/misc/rand"},
    SimilarityRow("$similarityCosine", EvalCosine, "operator/aggregation/similarityCosine"),
    SimilarityRow("$similarityDotProduct", EvalDotProduct,
                  "operator/aggregation/similarityDotProduct"),
    SimilarityRow("$similarityEuclidean", EvalEuclidean,
                  "operator/aggregation/similarityEuclidean"),
    {.name = "$toHashedIndexKey",
     .arity = Arity::Exactly(1),
     .parse = ParseArguments,
     .eval = EvalToHashedIndexKey,
     .spec = "operator/aggregation/toHashedIndexKey",
     .tests = "expressions/misc/toHashedIndexKey"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> MiscOps() { return kRows; }

}  // namespace evenkeel::query::expr
