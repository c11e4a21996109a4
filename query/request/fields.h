// Reads the fields of a command or statement by a table: name, type, where the value goes.
//
//   constexpr FieldRule kRules[] = {
//       {"filter", fields::Object<&FindRequest::filter>},
//       {"limit", fields::Integer<&FindRequest::limit>},
//   };
//   EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "find", FieldScope::kCommand, kRules, &request));
//
// Null and undefined count as absent for fields of a fixed type, as in MongoDB; fields::Any takes
// them as they are. Messages: "BSON field 'find.limit' is the wrong type 'string', expected type
// 'long'".
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query {

// A command's first field is its name and it may carry generic arguments; a struct inside one may
// not.
enum class FieldScope : uint8_t { kCommand, kStruct };

struct FieldRule {
  std::string_view name;
  // Checks the value and stores it into `*out`, the struct that the table belongs to. Null: the
  // field is allowed and ignored.
  absl::Status (*read)(std::string_view where, const bson::Element& field, void* out) = nullptr;
  bool required = false;
};

// True for arguments that any command may carry; wire/protocol reads those that matter.
bool IsGenericArgument(std::string_view name);

// Reads all fields of `document` by `rules` into `out`.
//
// where   the command's name, or "update.updates" for a struct; for messages.
// Errors  40415 for an unknown field, 40413 for a repeated one, 40414 for a missing required one,
// and the rules' own.
absl::Status ReadFields(bson::View document, std::string_view where, FieldScope scope,
                        std::span<const FieldRule> rules, void* out);

// TypeMismatch (14) in the house form; `expected` is a type's alias or a list of them.
absl::Status WrongType(std::string_view where, std::string_view name, bson::Value value,
                       std::string_view expected);
// 40414: "BSON field 'insert.documents' is missing but a required field".
absl::Status MissingField(std::string_view where, std::string_view name);

// The collection that the command's first field names. Errors: InvalidNamespace (73) for another
// type, an empty name or a bad one
// ("a$b", ".a", a zero byte).
absl::StatusOr<std::string_view> CollectionName(bson::Value first);

// The values of an array of documents. Errors: TypeMismatch naming the element.
absl::StatusOr<std::vector<bson::View>> ReadDocuments(std::string_view where, std::string_view name,
                                                      bson::Value array);

namespace fields {

// The readers behind the templates below; `field` is present and has any type.
absl::Status ReadObject(std::string_view where, const bson::Element& field, bson::View* out);
absl::Status ReadArray(std::string_view where, const bson::Element& field, bson::View* out);
absl::Status ReadBool(std::string_view where, const bson::Element& field, bool* out);
absl::Status ReadSafeBool(std::string_view where, const bson::Element& field, bool* out);
absl::Status ReadString(std::string_view where, const bson::Element& field, std::string_view* out);
absl::Status ReadInteger(std::string_view where, const bson::Element& field, int64_t* out);
absl::Status ReadHint(std::string_view where, const bson::Element& field, bson::Value* out);
// A collation's document, checked. Errors: as query::Collation::Get.
absl::Status ReadCollation(std::string_view where, const bson::Element& field, bson::View* out);
// Longs that may not be negative. Errors: 51024.
absl::Status ReadNonNegative(std::string_view where, const bson::Element& field, int64_t* out);

template <typename Member>
struct MemberOf;
template <typename C, typename F>
struct MemberOf<F C::*> {
  using Class = C;
  using Field = F;
};

template <auto kMember>
auto& Target(void* out) {
  return static_cast<typename MemberOf<decltype(kMember)>::Class*>(out)->*kMember;
}

template <typename T>
T* Slot(std::optional<T>& field) {
  return &field.emplace();
}
template <typename T>
T* Slot(T& field) {
  return &field;
}

// Calls `read` unless the value is null or undefined.
template <auto kMember, auto kRead>
absl::Status Typed(std::string_view where, const bson::Element& field, void* out) {
  if (field.value.IsNullish()) return absl::OkStatus();
  return kRead(where, field, Slot(Target<kMember>(out)));
}

template <auto kMember>
constexpr auto* Object = &Typed<kMember, ReadObject>;
template <auto kMember>
constexpr auto* CollationObject = &Typed<kMember, ReadCollation>;
template <auto kMember>
constexpr auto* Array = &Typed<kMember, ReadArray>;
template <auto kMember>
constexpr auto* Bool = &Typed<kMember, ReadBool>;
// A boolean or any number.
template <auto kMember>
constexpr auto* SafeBool = &Typed<kMember, ReadSafeBool>;
template <auto kMember>
constexpr auto* String = &Typed<kMember, ReadString>;
// Any number, truncated to 64 bits.
template <auto kMember>
constexpr auto* Integer = &Typed<kMember, ReadInteger>;
template <auto kMember>
constexpr auto* NonNegative = &Typed<kMember, ReadNonNegative>;

// A string or an object. Errors: FailedToParse for other types, null too.
template <auto kMember>
absl::Status Hint(std::string_view where, const bson::Element& field, void* out) {
  return ReadHint(where, field, &Target<kMember>(out));
}

// The value as it is.
template <auto kMember>
absl::Status Any(std::string_view, const bson::Element& field, void* out) {
  Target<kMember>(out) = field.value;
  return absl::OkStatus();
}

}  // namespace fields
}  // namespace evenkeel::query
