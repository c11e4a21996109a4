// Reads and checks read concern, write concern, read preference, session id, cluster time and
// maxTimeMS.
#include "wire/protocol/concerns.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "wire/protocol/field_errors.h"

namespace evenkeel::wire {
namespace {

using bson::Type;

constexpr size_t kUuidBytes = 16;
constexpr uint8_t kUuidSubtype = 4;
constexpr int64_t kMembersMax = 50;  // of a replica set: the largest number that w may be
constexpr int64_t kMaxStalenessSecondsMin = 90;
constexpr ErrorCode kMaxStalenessOutOfRange = Location(160);

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

constexpr Named<ReadConcernLevel> kLevels[] = {
    {"local", ReadConcernLevel::kLocal},       {"available", ReadConcernLevel::kAvailable},
    {"majority", ReadConcernLevel::kMajority}, {"linearizable", ReadConcernLevel::kLinearizable},
    {"snapshot", ReadConcernLevel::kSnapshot},
};

constexpr std::string_view kProvenances[] = {"clientSupplied", "implicitDefault", "customDefault",
                                             "getLastErrorDefaults"};

constexpr std::string_view kModes[] = {"primary", "primaryPreferred", "secondary",
                                       "secondaryPreferred", "nearest"};

absl::Status BadEnum(std::string_view field, std::string_view value) {
  return Error(ErrorCode::kBadValue, "Enumeration value '{}' for field '{}' is not a valid value.",
               value, field);
}

absl::Status ParseProvenance(std::string_view field, bson::Value value) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kString)) return WrongTypeError(field, value.type(), "string");
  if (std::find(std::begin(kProvenances), std::end(kProvenances), value.AsString()) ==
      std::end(kProvenances)) {
    return BadEnum(field, value.AsString());
  }
  return absl::OkStatus();
}

absl::Status ParseLevel(bson::Value value, ReadConcernLevel& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kString)) return WrongTypeError("readConcern.level", value.type(), "string");
  for (const auto& level : kLevels) {
    if (level.name == value.AsString()) {
      out = level.value;
      return absl::OkStatus();
    }
  }
  return BadEnum("readConcern.level", value.AsString());
}

absl::Status ParseTime(std::string_view field, bson::Value value, std::optional<Timestamp>& out) {
  if (!value.Is(Type::kTimestamp)) return WrongTypeError(field, value.type(), "timestamp");
  out = value.AsTimestamp();
  return absl::OkStatus();
}

absl::Status CheckReadConcern(const ReadConcern& concern) {
  const ReadConcernLevel level = concern.level;
  if (concern.after_cluster_time && concern.at_cluster_time) {
    return MakeError(
        ErrorCode::kInvalidOptions,
        "Specifying a timestamp for readConcern snapshot in a causally consistent session is not "
        "allowed: afterClusterTime and atClusterTime exclude each other");
  }
  if (concern.after_cluster_time) {
    if (level == ReadConcernLevel::kAvailable || level == ReadConcernLevel::kLinearizable) {
      return MakeError(
          ErrorCode::kInvalidOptions,
          "afterClusterTime field can be set only if level is equal to majority, local, or "
          "snapshot");
    }
    if (concern.after_cluster_time->bits == 0) {
      return MakeError(ErrorCode::kInvalidOptions, "afterClusterTime cannot be a null timestamp");
    }
  }
  if (concern.at_cluster_time) {
    if (level != ReadConcernLevel::kSnapshot) {
      return MakeError(ErrorCode::kInvalidOptions,
                       "atClusterTime field can be set only if level is equal to snapshot");
    }
    if (concern.at_cluster_time->bits == 0) {
      return MakeError(ErrorCode::kInvalidOptions, "atClusterTime cannot be a null timestamp");
    }
  }
  return absl::OkStatus();
}

// w as an integer: doubles are cut, decimals rounded, as MongoDB does. Nothing for what is no
// number of members.
std::optional<int64_t> MembersOf(bson::Value w) {
  if (w.Is(Type::kDouble) && std::isnan(w.AsDouble())) return std::nullopt;
  int64_t members = 0;
  if (w.Is(Type::kDecimal128)) {
    const double rounded = std::nearbyint(bson::ToDouble(w));
    if (!(std::abs(rounded) <= kMembersMax)) return std::nullopt;
    members = static_cast<int64_t>(rounded);
  } else {
    members = bson::ToInt64Truncated(w);
  }
  if (members < 0 || members > kMembersMax) return std::nullopt;
  return members;
}

// {dc1: 2, …}: tags with numbers.
bool IsTagSet(bson::View tags) {
  if (tags.empty()) return false;
  return std::all_of(tags.begin(), tags.end(),
                     [](const bson::Element& tag) { return tag.value.IsNumber(); });
}

absl::Status ParseW(bson::Value value, WriteConcern& out) {
  out.w = value;
  if (value.IsNumber()) {
    const std::optional<int64_t> members = MembersOf(value);
    if (!members) {
      return Error(ErrorCode::kFailedToParse,
                   "w has to be a non-negative number and not greater than {}; found: {}",
                   kMembersMax, bson::ToDisplay(value));
    }
    out.acknowledged = *members != 0;
    return absl::OkStatus();
  }
  if (value.Is(Type::kString)) return absl::OkStatus();
  if (value.Is(Type::kObject) && IsTagSet(value.AsDocument())) return absl::OkStatus();
  if (value.IsNullish()) {
    out.w = {};
    return absl::OkStatus();
  }
  return Error(ErrorCode::kFailedToParse, "w has to be a number, string, or object; found: {}",
               TypeName(value.type()));
}

absl::Status ParseJournal(std::string_view field, bson::Value value, bool& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kBool) && !value.IsNumber()) {
    return WrongTypeError(field, value.type(), "bool, int, long, double or decimal");
  }
  out = bson::Truthy(value);
  return absl::OkStatus();
}

absl::Status ParseWtimeout(bson::Value value, int64_t& out) {
  // Values of other types are accepted and mean no time limit, as in MongoDB.
  if (!value.IsNumber()) return absl::OkStatus();
  const double exact = bson::ToDouble(value);
  if (exact > std::numeric_limits<int32_t>::max()) {
    return MakeError(ErrorCode::kFailedToParse, "wtimeout must be a 32-bit integer");
  }
  out = std::max<int64_t>(bson::ToInt64Truncated(value), 0);
  return absl::OkStatus();
}

absl::Status CheckTags(std::string_view mode, bson::Value tags) {
  if (!tags.Is(Type::kArray)) return WrongTypeError("$readPreference.tags", tags.type(), "array");
  size_t count = 0;
  bool only_empty = true;
  for (const bson::Element& set : tags.AsDocument()) {
    if (!set.value.Is(Type::kObject)) {
      return WrongTypeError("$readPreference.tags.0", set.value.type(), "object");
    }
    only_empty = only_empty && set.value.AsDocument().empty();
    ++count;
  }
  if (mode == "primary" && count > 0 && !only_empty) {
    return MakeError(ErrorCode::kBadValue,
                     "Only empty tags are allowed with primary read preference");
  }
  return absl::OkStatus();
}

absl::Status CheckStaleness(std::string_view mode, bson::Value value) {
  if (!value.IsNumber()) {
    return WrongTypeError("$readPreference.maxStalenessSeconds", value.type(),
                          "int, long, double or decimal");
  }
  const int64_t seconds = bson::ToInt64Truncated(value);
  if (seconds < 0) {
    return MakeError(ErrorCode::kBadValue, "maxStalenessSeconds must be a non-negative integer");
  }
  if (mode == "primary" && seconds > 0) {
    return MakeError(ErrorCode::kBadValue,
                     "mode 'primary' does not allow for 'maxStalenessSeconds'");
  }
  if (seconds > 0 && seconds < kMaxStalenessSecondsMin) {
    return Error(kMaxStalenessOutOfRange, "maxStalenessSeconds value can not be less than {}",
                 kMaxStalenessSecondsMin);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseReadConcern(bson::Value value, ReadConcern& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kObject)) return WrongTypeError("readConcern", value.type(), "object");
  for (const bson::Element& field : value.AsDocument()) {
    if (field.key == "level") {
      EVENKEEL_RETURN_IF_ERROR(ParseLevel(field.value, out.level));
    } else if (field.key == "afterClusterTime") {
      EVENKEEL_RETURN_IF_ERROR(
          ParseTime("readConcern.afterClusterTime", field.value, out.after_cluster_time));
    } else if (field.key == "atClusterTime") {
      EVENKEEL_RETURN_IF_ERROR(
          ParseTime("readConcern.atClusterTime", field.value, out.at_cluster_time));
    } else if (field.key == "provenance") {
      EVENKEEL_RETURN_IF_ERROR(ParseProvenance("readConcern.provenance", field.value));
    } else if (field.key != "afterOpTime") {
      return UnknownFieldError(std::string("readConcern.").append(field.key));
    }
  }
  return CheckReadConcern(out);
}

absl::Status ParseWriteConcern(bson::Value value, WriteConcern& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kObject)) return WrongTypeError("writeConcern", value.type(), "object");
  out.given = true;
  bool fsync = false;
  for (const bson::Element& field : value.AsDocument()) {
    if (field.key == "w") {
      EVENKEEL_RETURN_IF_ERROR(ParseW(field.value, out));
    } else if (field.key == "j") {
      EVENKEEL_RETURN_IF_ERROR(ParseJournal("writeConcern.j", field.value, out.journal));
    } else if (field.key == "fsync") {
      EVENKEEL_RETURN_IF_ERROR(ParseJournal("writeConcern.fsync", field.value, fsync));
    } else if (field.key == "wtimeout") {
      EVENKEEL_RETURN_IF_ERROR(ParseWtimeout(field.value, out.wtimeout_ms));
    } else if (field.key == "provenance") {
      EVENKEEL_RETURN_IF_ERROR(ParseProvenance("writeConcern.provenance", field.value));
    } else if (field.key != "getLastError" && field.key != "wOpTime" &&
               field.key != "wElectionId") {
      return UnknownFieldError(std::string("writeConcern.").append(field.key));
    }
  }
  if (fsync && out.journal) {
    return MakeError(ErrorCode::kFailedToParse, "fsync and j options cannot be used together");
  }
  return absl::OkStatus();
}

absl::Status ParseReadPreference(bson::Value value, bson::View& out) {
  if (!value.Is(Type::kObject)) return WrongTypeError("$readPreference", value.type(), "object");
  out = value.AsDocument();
  const bson::Value mode = out["mode"];
  if (mode.missing()) return MissingFieldError("$readPreference.mode");
  if (!mode.Is(Type::kString)) return WrongTypeError("$readPreference.mode", mode.type(), "string");
  if (std::find(std::begin(kModes), std::end(kModes), mode.AsString()) == std::end(kModes)) {
    return BadEnum("$readPreference.mode", mode.AsString());
  }
  for (const bson::Element& field : out) {
    if (field.key == "tags") {
      EVENKEEL_RETURN_IF_ERROR(CheckTags(mode.AsString(), field.value));
    } else if (field.key == "maxStalenessSeconds") {
      EVENKEEL_RETURN_IF_ERROR(CheckStaleness(mode.AsString(), field.value));
    } else if (field.key == "hedge") {
      if (!field.value.Is(Type::kObject)) {
        return WrongTypeError("$readPreference.hedge", field.value.type(), "object");
      }
    } else if (field.key != "mode" && field.key != "$tenantId") {
      return UnknownFieldError(std::string("$readPreference.").append(field.key));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseSessionId(bson::Value value, GenericArguments& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kObject)) {
    return WrongTypeError("OperationSessionInfo.lsid", value.type(), "object");
  }
  out.lsid = value.AsDocument();
  for (const bson::Element& field : out.lsid) {
    if (field.key == "id") {
      if (!field.value.Is(Type::kBinary)) {
        return WrongTypeError("OperationSessionInfo.lsid.id", field.value.type(), "binData");
      }
      const bson::BinaryView id = field.value.AsBinary();
      if (id.subtype != kUuidSubtype || id.bytes.size() != kUuidBytes) {
        return MakeError(
            ErrorCode::kTypeMismatch,
            "BSON field 'OperationSessionInfo.lsid.id' is the wrong binData type, expected type "
            "'UUID'");
      }
      out.lsid_bytes = id.bytes;
    } else if (field.key == "uid" || field.key == "txnUUID") {
      if (!field.value.Is(Type::kBinary)) {
        return WrongTypeError("OperationSessionInfo.lsid.uid", field.value.type(), "binData");
      }
    } else if (field.key != "txnNumber") {
      return UnknownFieldError(std::string("OperationSessionInfo.lsid.").append(field.key));
    }
  }
  if (out.lsid_bytes.empty()) return MissingFieldError("OperationSessionInfo.lsid.id");
  return absl::OkStatus();
}

absl::Status ParseClusterTime(bson::Value value, std::optional<Timestamp>& out) {
  if (!value.Is(Type::kObject)) return WrongTypeError("$clusterTime", value.type(), "object");
  const bson::Value time = value.AsDocument()["clusterTime"];
  if (time.missing()) {
    return MakeError(ErrorCode::kNoSuchKey,
                     "Missing expected field \"clusterTime\" in $clusterTime");
  }
  return ParseTime("$clusterTime.clusterTime", time, out);
}

absl::Status ParseMaxTime(bson::Value value, std::optional<absl::Duration>& out) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.IsNumber()) {
    return WrongTypeError("maxTimeMS", value.type(), "int, long, double or decimal");
  }
  const std::optional<int64_t> milliseconds = bson::ToInt64Exact(value);
  if (!milliseconds) {
    return Error(ErrorCode::kFailedToParse, "maxTimeMS has non-integral value: {}",
                 bson::ToDisplay(value));
  }
  if (*milliseconds < 0 || *milliseconds > std::numeric_limits<int32_t>::max()) {
    return Error(ErrorCode::kBadValue, "{} value for maxTimeMS is out of range [0, {}]",
                 *milliseconds, std::numeric_limits<int32_t>::max());
  }
  if (*milliseconds > 0) out = absl::Milliseconds(*milliseconds);
  return absl::OkStatus();
}

}  // namespace evenkeel::wire
