// Reading fields by a table.
#include "query/request/fields.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

struct Target {
  bson::View object, array;
  bool flag = false, loose = false;
  std::string_view text;
  std::optional<int64_t> number;
  int64_t positive = 0;
  bson::Value hint, any;
};

constexpr FieldRule kRules[] = {
    {"object", fields::Object<&Target::object>},
    {"array", fields::Array<&Target::array>},
    {"flag", fields::Bool<&Target::flag>},
    {"loose", fields::SafeBool<&Target::loose>},
    {"text", fields::String<&Target::text>, true},
    {"number", fields::Integer<&Target::number>},
    {"positive", fields::NonNegative<&Target::positive>},
    {"hint", fields::Hint<&Target::hint>},
    {"any", fields::Any<&Target::any>},
    {"ignored"},
};

absl::StatusOr<Target> Read(bson::View command) {
  Target target;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(command, "test", FieldScope::kCommand, kRules, &target));
  return target;
}

constexpr CommandCase kCases[] = {
    {R"({"test": 1, "text": "x"})"},
    {R"({"test": 1})", 40414},
    {R"({"test": 1, "text": null})", 40414},
    {R"({"test": 1, "text": "x", "text": "y"})", 40413},
    {R"({"test": 1, "text": "x", "nope": 1})", 40415},
    {R"({"test": 1, "text": "x", "ignored": 1})"},
    {R"({"test": 1, "text": "x", "$db": "d", "lsid": {}, "$shard": {}, "writeConcern": {}, "apiVersion": "1"})"},
    {R"({"test": 1, "text": 1})", 14},
    {R"({"test": 1, "text": "x", "object": []})", 14},
    {R"({"test": 1, "text": "x", "object": null})"},
    {R"({"test": 1, "text": "x", "array": {}})", 14},
    {R"({"test": 1, "text": "x", "flag": 1})", 14},
    {R"({"test": 1, "text": "x", "loose": 1})"},
    {R"({"test": 1, "text": "x", "loose": "1"})", 14},
    {R"({"test": 1, "text": "x", "number": "1"})", 14},
    {R"({"test": 1, "text": "x", "positive": -1})", 51024},
    {R"({"test": 1, "text": "x", "hint": 1})", 9},
    {R"({"test": 1, "text": "x", "hint": null})", 9},
};

TEST(Fields, AreCheckedByTheTable) { CheckCommands(Read, kCases); }

TEST(Fields, AreStored) {
  const bson::Document command = Json(
      R"({"test": 1, "text": "x", "object": {"a": 1}, "array": [1, 2], "flag": true, "loose": 1.0, "number": 7.9,
          "positive": 3, "hint": "h", "any": null})");
  const absl::StatusOr<Target> target = Read(command);
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->text, "x");
  EXPECT_EQ(target->object.CountFields(), 1u);
  EXPECT_EQ(target->array.CountFields(), 2u);
  EXPECT_TRUE(target->flag && target->loose);
  EXPECT_EQ(target->number, 7);
  EXPECT_EQ(target->positive, 3);
  EXPECT_EQ(target->hint.AsString(), "h");
  EXPECT_TRUE(target->any.Is(bson::Type::kNull));
}

TEST(Fields, AStructTakesNoGenericArguments) {
  Target target;
  const bson::Document document = Json(R"({"text": "x", "$db": "d"})");
  EXPECT_EQ(CodeOf(ReadFields(document, "test", FieldScope::kStruct, kRules, &target)),
            Location(40415));
}

TEST(Fields, CollectionNames) {
  constexpr CommandCase kNames[] = {
      {R"({"c": "a.b"})"},     {R"({"c": ""})", 73},   {R"({"c": 1})", 73},
      {R"({"c": "a$b"})", 73}, {R"({"c": ".a"})", 73}, {R"({"c": "a\u0000b"})", 73},
  };
  CheckCommands([](bson::View command) { return CollectionName(command.Front().value); }, kNames);
}

}  // namespace
}  // namespace evenkeel::query
