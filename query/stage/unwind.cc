// $unwind.
#include "query/exec/streaming.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

class UnwindStage final : public Stage {
 public:
  UnwindStage(const StageOp& op, bson::Value spec, UnwindOptions options)
      : Stage(op, spec), options_(std::move(options)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    return std::make_unique<UnwindOperator>(std::move(input), options_);
  }
  bool MatchMayPass(const std::vector<std::string>& paths) const override {
    return !AnyOverlap(paths, options_.path.dotted()) &&
           !(options_.index_as && AnyOverlap(paths, options_.index_as->dotted()));
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    reads->paths.insert(std::string(options_.path.dotted()));
    return Reads::kSome;
  }
  const UnwindOptions* Unwinds() const override { return &options_; }

 private:
  UnwindOptions options_;
};

absl::Status ReadPath(bson::Value value, UnwindOptions* options) {
  if (!value.Is(bson::Type::kString)) {
    return Error(Location(28808), "expected a string as the path for $unwind stage, got {}",
                 expr::TypeName(value.type()));
  }
  const std::string_view path = value.AsString();
  if (path.empty()) return Error(Location(28812), "no path specified to $unwind stage");
  if (!path.starts_with('$')) {
    return Error(Location(28818), "path option to $unwind stage should be prefixed with a '$': {}",
                 path);
  }
  if (path.find('\0') != std::string_view::npos) {
    return Error(Location(16419), "field path must not contain embedded null characters");
  }
  EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(path.substr(1)));
  options->path = bson::Path(path.substr(1));
  return absl::OkStatus();
}

absl::Status ReadOption(const bson::Element& option, UnwindOptions* options) {
  const bson::Value value = option.value;
  if (option.key == "path") return ReadPath(value, options);
  if (option.key == "preserveNullAndEmptyArrays") {
    if (!value.Is(bson::Type::kBool)) {
      return Error(Location(28809),
                   "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, "
                   "got {}",
                   expr::TypeName(value.type()));
    }
    options->preserve_empty = value.AsBool();
    return absl::OkStatus();
  }
  if (option.key == "includeArrayIndex") {
    if (!value.Is(bson::Type::kString) || value.AsString().empty()) {
      return Error(Location(28810),
                   "expected a non-empty string for the includeArrayIndex option to $unwind stage, "
                   "got {}",
                   expr::TypeName(value.type()));
    }
    if (value.AsString().starts_with('$')) {
      return Error(Location(28822),
                   "includeArrayIndex option to $unwind stage should not be prefixed with a '$': "
                   "{}",
                   value.AsString());
    }
    EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(value.AsString()));
    options->index_as = bson::Path(value.AsString());
    return absl::OkStatus();
  }
  return Error(Location(28811), "unrecognized option to $unwind stage: {}", option.key);
}

absl::Status ParseUnwind(const StageOp& op, bson::Value spec, const QueryContext&, StageList* out) {
  UnwindOptions options;
  if (spec.Is(bson::Type::kString)) {
    EVENKEEL_RETURN_IF_ERROR(ReadPath(spec, &options));
  } else if (spec.Is(bson::Type::kObject)) {
    for (const bson::Element& option : spec.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(ReadOption(option, &options));
    }
    if (options.path.size() == 0) {
      return Error(Location(28812), "no path specified to $unwind stage");
    }
  } else {
    return Error(Location(15981),
                 "expected either a string or an object as specification for $unwind stage, got {}",
                 expr::TypeName(spec.type()));
  }
  return AddStage<UnwindStage>(out, op, spec, std::move(options));
}

constexpr StageOp kRows[] = {
    {.name = "$unwind",
     .parse = ParseUnwind,
     .spec = "operator/aggregation/unwind",
     .tests = "stages/unwind"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> UnwindStages() { return kRows; }

}  // namespace evenkeel::query::stage
