// Implements figures and the log line of slow commands.
#include "shard/command/figures.h"

#include <algorithm>

#include "base/log.h"
#include "shard/command/read_cursor.h"
#include "wire/protocol/operation_text.h"
#include "wire/protocol/peer_fields.h"

namespace evenkeel::shard {
namespace {

// A request may be slow though each of its shards is not: they tell from this part of slowms on.
constexpr int kShare = 4;

}  // namespace

std::string PlanSummary(const query::Plan& plan) {
  switch (plan.kind) {
    case query::PlanKind::kNothing:
      return "EOF";
    case query::PlanKind::kById:
      return "IDHACK";
    case query::PlanKind::kCollectionScan:
      return "COLLSCAN";
    case query::PlanKind::kIndexScan:
      break;
  }
  std::string fields;
  for (size_t i = 0; i < plan.index->fields.size(); ++i) {
    const query::SortField& field = plan.index->fields[i];
    const bool hashed = i < plan.index->hashed.size() && plan.index->hashed[i];
    const char* const direction = field.ascending ? "1" : "-1";
    fields += fields.empty() ? " " : ", ";
    fields += std::string(field.path.dotted()) + ": " + (hashed ? "\"hashed\"" : direction);
  }
  return "IXSCAN {" + fields + " }";
}

void NoteFigures(CommandContext& context, const ReadCursor& cursor) {
  const absl::Duration took = context.service.wall().Now() - context.begun;
  if (took * kShare < context.service.slow_after()) return;
  context.figures =
      Figures{PlanSummary(cursor.plan()), static_cast<int64_t>(cursor.scan().keys_examined()),
              static_cast<int64_t>(cursor.scan().docs_examined())};
}

void AppendFigures(const CommandContext& context, bson::Builder* reply) {
  if (!context.figures) return;
  reply->OpenDocument(wire::kStatsField)
      .Append("plan", context.figures->plan)
      .Append("keys", context.figures->keys_examined)
      .Append("docs", context.figures->docs_examined)
      .Close();
}

void LogIfSlow(const CommandContext& context, bson::View reply, absl::Duration took) {
  if (took < context.service.slow_after()) return;
  const Figures figures = context.figures.value_or(Figures{});
  const bson::Value code = reply["codeName"];
  const std::string_view outcome = code.Is(bson::Type::kString) ? code.AsString() : "OK";
  base::LogInfo("shard", "slow operation",
                {{"shard", context.service.catalog()->shard().value},
                 {"request", wire::OperationText(context.message.operation)},
                 {"ns", wire::NamespaceText(context.message)},
                 {"command", wire::CommandText(context.message)},
                 {"plan", figures.plan},
                 {"keysExamined", figures.keys_examined},
                 {"docsExamined", figures.docs_examined},
                 {"nreturned", std::max<int64_t>(wire::CountReturned(reply), 0)},
                 {"outcome", outcome},
                 {"ms", absl::ToInt64Milliseconds(took)}});
}

}  // namespace evenkeel::shard
