// Reads a command's generic arguments in one pass and applies the rules that hold for all commands.
#include "wire/protocol/request.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/limits.h"
#include "base/status.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/concerns.h"
#include "wire/protocol/field_errors.h"

namespace evenkeel::wire {
namespace {

using bson::Type;

constexpr ErrorCode kNoDatabase = Location(40571);
constexpr ErrorCode kApiWithoutVersion = Location(4886600);
constexpr ErrorCode kNotRetryable = Location(50768);
constexpr size_t kDatabaseNameBytesMax = 63;

// The generic arguments that are read here; a bit each, so that duplicates are found.
enum Field : uint32_t {
  kNone = 0,
  kDb = 1u << 0,
  kLsid = 1u << 1,
  kTxnNumber = 1u << 2,
  kStartTransaction = 1u << 3,
  kAutocommit = 1u << 4,
  kClusterTime = 1u << 5,
  kMaxTimeMs = 1u << 6,
  kComment = 1u << 7,
  kReadConcern = 1u << 8,
  kWriteConcern = 1u << 9,
  kReadPreference = 1u << 10,
  kApiVersion = 1u << 11,
  kApiStrict = 1u << 12,
  kApiDeprecationErrors = 1u << 13,
};

Field FieldOf(std::string_view key) {
  switch (key.size()) {
    case 3:
      return key == "$db" ? kDb : kNone;
    case 4:
      return key == "lsid" ? kLsid : kNone;
    case 7:
      return key == "comment" ? kComment : kNone;
    case 9:
      if (key == "txnNumber") return kTxnNumber;
      if (key == "maxTimeMS") return kMaxTimeMs;
      return key == "apiStrict" ? kApiStrict : kNone;
    case 10:
      if (key == "autocommit") return kAutocommit;
      return key == "apiVersion" ? kApiVersion : kNone;
    case 11:
      return key == "readConcern" ? kReadConcern : kNone;
    case 12:
      if (key == "$clusterTime") return kClusterTime;
      return key == "writeConcern" ? kWriteConcern : kNone;
    case 15:
      return key == "$readPreference" ? kReadPreference : kNone;
    case 16:
      return key == "startTransaction" ? kStartTransaction : kNone;
    case 20:
      return key == "apiDeprecationErrors" ? kApiDeprecationErrors : kNone;
    default:
      return kNone;
  }
}

// Accepted with every command, without effect here: what drivers, monitoring and other processes of
// a cluster attach.
constexpr std::string_view kAcceptedOnly[] = {
    "$audit",
    "$client",
    "$configServerState",
    "$configTime",
    "$oplogQueryData",
    "$peer",
    "$queryOptions",
    "$replData",
    "$shard",
    "$tenant",
    "$topologyTime",
    "$traceCtx",
    "$txn",
    "allowImplicitCollectionCreation",
    "clientOperationKey",
    "coordinator",
    "databaseVersion",
    "help",
    "maxTimeMSOpOnly",
    "mayBypassWriteBlocking",
    "rawData",
    "shardVersion",
    "startOrContinueTransaction",
    "stmtId",
    "stmtIds",
    "tracking_info",
    "txnRetryCounter",
};
static_assert(std::is_sorted(std::begin(kAcceptedOnly), std::end(kAcceptedOnly)));

absl::Status ParseDatabase(bson::Value value, Request& request) {
  if (!value.Is(Type::kString)) return WrongTypeError("$db", value.type(), "string");
  request.database = value.AsString();
  if (!IsValidDatabaseName(request.database)) {
    return Error(ErrorCode::kInvalidNamespace, "Invalid database name: '{}'",
                 request.database.substr(0, kDatabaseNameBytesMax + 1));
  }
  return absl::OkStatus();
}

absl::Status ParseBool(std::string_view field, bson::Value value, bool& out) {
  if (!value.Is(Type::kBool)) return WrongTypeError(field, value.type(), "bool");
  out = value.AsBool();
  return absl::OkStatus();
}

absl::Status ParseTxnNumber(bson::Value value, std::optional<TxnNumber>& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kInt64)) {
    return WrongTypeError("OperationSessionInfo.txnNumber", value.type(), "long");
  }
  if (value.AsInt64() < 0) {
    return MakeError(ErrorCode::kInvalidOptions, "Transaction number cannot be negative");
  }
  out = TxnNumber{value.AsInt64()};
  return absl::OkStatus();
}

absl::Status ParseAutocommit(bson::Value value, std::optional<bool>& out) {
  if (value.IsNullish()) return absl::OkStatus();
  bool autocommit = false;
  EVENKEEL_RETURN_IF_ERROR(ParseBool("OperationSessionInfo.autocommit", value, autocommit));
  if (autocommit) {
    return MakeError(ErrorCode::kInvalidOptions, "Specifying autocommit=true is not allowed.");
  }
  out = false;
  return absl::OkStatus();
}

absl::Status ParseStartTransaction(bson::Value value, bool& out) {
  if (value.IsNullish()) return absl::OkStatus();
  EVENKEEL_RETURN_IF_ERROR(ParseBool("OperationSessionInfo.startTransaction", value, out));
  if (!out) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "Specifying startTransaction=false is not allowed.");
  }
  return absl::OkStatus();
}

absl::Status ParseApiVersion(bson::Value value, std::string_view& out) {
  if (!value.Is(Type::kString)) return WrongTypeError("apiVersion", value.type(), "string");
  out = value.AsString();
  if (out != "1") return MakeError(ErrorCode::kAPIVersionError, "API version must be \"1\"");
  return absl::OkStatus();
}

absl::Status ParseField(Field field, bson::Value value, Request& request) {
  GenericArguments& generic = request.generic;
  switch (field) {
    case kNone:
      return absl::OkStatus();
    case kDb:
      return ParseDatabase(value, request);
    case kLsid:
      return ParseSessionId(value, generic);
    case kTxnNumber:
      return ParseTxnNumber(value, generic.txn_number);
    case kStartTransaction:
      return ParseStartTransaction(value, generic.start_transaction);
    case kAutocommit:
      return ParseAutocommit(value, generic.autocommit);
    case kClusterTime:
      return ParseClusterTime(value, generic.cluster_time);
    case kMaxTimeMs:
      return ParseMaxTime(value, generic.max_time);
    case kComment:
      generic.comment = value;
      return absl::OkStatus();
    case kReadConcern:
      return ParseReadConcern(value, generic.read_concern);
    case kWriteConcern:
      return ParseWriteConcern(value, generic.write_concern);
    case kReadPreference:
      return ParseReadPreference(value, generic.read_preference);
    case kApiVersion:
      return ParseApiVersion(value, generic.api_version);
    case kApiStrict:
      return ParseBool("apiStrict", value, generic.api_strict);
    case kApiDeprecationErrors:
      return ParseBool("apiDeprecationErrors", value, generic.api_deprecation_errors);
  }
  return absl::OkStatus();
}

// Rules between generic arguments.
absl::Status CheckTogether(const GenericArguments& generic, uint32_t seen) {
  constexpr uint32_t kNeedVersion = kApiStrict | kApiDeprecationErrors;
  if ((seen & kNeedVersion) && !(seen & kApiVersion)) {
    return MakeError(kApiWithoutVersion,
                     "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion");
  }
  if (generic.txn_number && generic.lsid_bytes.empty()) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "Transaction number requires a session ID to also be specified");
  }
  if (generic.autocommit && !generic.txn_number) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "'autocommit' field requires a transaction number to also be specified");
  }
  if (generic.start_transaction && !generic.autocommit) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "'startTransaction' field requires 'autocommit' field to also be specified");
  }
  return absl::OkStatus();
}

// An unknown command gets CommandNotFound whatever its fields are; only its database is read.
absl::StatusOr<Request> UnknownCommand(Request request) {
  const bson::Value database = request.body()["$db"];
  if (database.Is(Type::kString)) request.database = database.AsString();
  return request;
}

absl::Status CheckConcerns(const Request& request) {
  const uint32_t flags = request.facts->flags;
  const GenericArguments& generic = request.generic;
  if (generic.write_concern.given && !(flags & kTakesWriteConcern)) {
    return Error(ErrorCode::kInvalidOptions, "Command {} does not support writeConcern",
                 request.name);
  }
  const ReadConcernLevel level = generic.read_concern.level;
  const bool plain = level == ReadConcernLevel::kDefault || level == ReadConcernLevel::kLocal;
  if (plain || request.in_transaction()) return absl::OkStatus();
  if (!(flags & kTakesReadConcern) ||
      (level == ReadConcernLevel::kSnapshot && !(flags & kTakesSnapshot))) {
    return Error(ErrorCode::kInvalidOptions, "Command {} does not support this readConcern level",
                 request.name);
  }
  return absl::OkStatus();
}

// Databases whose collections no transaction reads or writes.
bool IsSystemDatabase(std::string_view name) {
  return name == "admin" || name == "config" || name == "local";
}

// Commands that end something cannot begin a transaction.
bool MayBegin(const CommandFacts& facts) {
  return facts.name != "commitTransaction" && facts.name != "abortTransaction" &&
         facts.name != "killCursors";
}

// A cursor is where its command has put it: that of bulkWrite lies in `admin`.
bool NamesItsCollection(const CommandFacts& facts) {
  return facts.flags & (kReads | kWrites) && !(facts.flags & kAdminOnly) &&
         facts.name != "getMore" && facts.name != "killCursors";
}

// Source: "Transactions and Operations" in the manual.
absl::Status CheckInTransaction(const Request& request) {
  constexpr ErrorCode kNotSupported = ErrorCode::kOperationNotSupportedInTransaction;
  const uint32_t flags = request.facts->flags;
  if (!(flags & kInTransaction)) {
    return Error(kNotSupported, "Cannot run '{}' in a multi-document transaction.", request.name);
  }
  if (request.generic.start_transaction && !MayBegin(*request.facts)) {
    return Error(kNotSupported, "Cannot run '{}' as the first operation in a transaction.",
                 request.name);
  }
  if (NamesItsCollection(*request.facts) && IsSystemDatabase(request.database)) {
    return Error(kNotSupported, "Cannot run command against the '{}' database in a transaction.",
                 request.database);
  }
  const bool writes = flags & kRetryable && request.argument.Is(Type::kString);
  if (writes && request.argument.AsString().starts_with("system.")) {
    return Error(kNotSupported, "Cannot write to '{}.{}' in a multi-document transaction.",
                 request.database, request.argument.AsString());
  }
  return absl::OkStatus();
}

absl::Status CheckTransaction(const Request& request) {
  const uint32_t flags = request.facts->flags;
  if (request.in_transaction()) return CheckInTransaction(request);
  if (request.generic.txn_number && !(flags & kRetryable)) {
    return Error(
        kNotRetryable,
        "txnNumber may only be provided for multi-document transactions and retryable write "
        "commands. autocommit:false was not provided, and {} is not a retryable write command.",
        request.name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<bson::View>> Request::Documents(std::string_view field) const {
  if (const DocumentSequence* sequence = message.FindSequence(field)) return sequence->documents;
  const bson::Value value = body()[field];
  if (value.missing()) return MissingFieldError(std::string(name).append(".").append(field));
  if (!value.Is(Type::kArray)) {
    return WrongTypeError(std::string(name).append(".").append(field), value.type(), "array");
  }
  std::vector<bson::View> documents;
  for (const bson::Element& element : value.AsDocument()) {
    if (!element.value.Is(Type::kObject)) {
      return WrongTypeError(
          std::string(name).append(".").append(field).append(".").append(element.key),
          element.value.type(), "object");
    }
    if (documents.size() == static_cast<size_t>(limits::kWriteBatchCountMax)) {
      return Error(ErrorCode::kInvalidLength, "Write batch sizes must be between 1 and {}",
                   limits::kWriteBatchCountMax);
    }
    documents.push_back(element.value.AsDocument());
  }
  return documents;
}

absl::StatusOr<Request> ParseRequest(Message message, absl::Time now) {
  Request request;
  request.message = std::move(message);
  auto field = request.body().begin();
  if (field == request.body().end()) {
    return MakeError(ErrorCode::kFailedToParse, "a command needs at least one field");
  }
  request.name = field->key;
  request.argument = field->value;
  request.facts = FindCommand(request.name);
  if (request.facts == nullptr) return UnknownCommand(std::move(request));

  uint32_t seen = 0;
  // The first field is the command, even where its name is that of a generic argument.
  for (++field; field != request.body().end(); ++field) {
    const Field kind = FieldOf(field->key);
    if (kind == kNone) continue;
    if (seen & kind) return DuplicateFieldError(field->key);
    seen |= kind;
    EVENKEEL_RETURN_IF_ERROR(ParseField(kind, field->value, request));
  }
  if (!(seen & kDb)) return MakeError(kNoDatabase, "OP_MSG requests require a $db argument");
  EVENKEEL_RETURN_IF_ERROR(CheckTogether(request.generic, seen));
  const bool waits_for_data = request.name == "getMore";
  if (request.generic.max_time && !waits_for_data)
    request.deadline = now + *request.generic.max_time;
  return request;
}

absl::Status CheckAllowed(const Request& request, bool from_peer) {
  const CommandFacts* facts = request.facts;
  if (facts == nullptr || ((facts->flags & kInternal) && !from_peer)) {
    return Error(ErrorCode::kCommandNotFound, "no such command: '{}'", request.name.substr(0, 128));
  }
  if (facts->flags & kUnsupported) {
    return Error(ErrorCode::kCommandNotSupported, "command '{}' is not supported", request.name);
  }
  if (request.generic.api_strict && !(facts->flags & kApiV1)) {
    return Error(ErrorCode::kAPIStrictError,
                 "Provided apiStrict:true, but the command {} is not in API Version 1",
                 request.name);
  }
  if ((facts->flags & kAdminOnly) && request.database != "admin") {
    return Error(ErrorCode::kUnauthorized, "{} may only be run against the admin database.",
                 request.name);
  }
  EVENKEEL_RETURN_IF_ERROR(CheckConcerns(request));
  return CheckTransaction(request);
}

bool IsGenericArgument(std::string_view field) {
  return FieldOf(field) != kNone ||
         std::binary_search(std::begin(kAcceptedOnly), std::end(kAcceptedOnly), field);
}

bool IsValidDatabaseName(std::string_view name) {
  if (name.empty() || name.size() > kDatabaseNameBytesMax) return false;
  if (name == "$external") return true;  // where users of outside mechanisms live
  return name.find_first_of(std::string_view("/\\. \"$\0", 7)) == std::string_view::npos;
}

}  // namespace evenkeel::wire
