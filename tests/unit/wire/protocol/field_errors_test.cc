// Tests of the wording and codes of errors about fields.
#include "wire/protocol/field_errors.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace evenkeel::wire {
namespace {

TEST(FieldErrors, CodesAndWording) {
  const absl::Status wrong = WrongTypeError("find.limit", bson::Type::kString, "long");
  EXPECT_EQ(CodeOf(wrong), ErrorCode::kTypeMismatch);
  EXPECT_EQ(MessageOf(wrong),
            "BSON field 'find.limit' is the wrong type 'string', expected type 'long'");
  EXPECT_EQ(CodeOf(MissingFieldError("a.b")), Location(40414));
  EXPECT_EQ(CodeOf(UnknownFieldError("a.b")), Location(40415));
  EXPECT_EQ(CodeOf(DuplicateFieldError("a.b")), Location(40413));
}

TEST(TypeName, KnowsAllTypes) {
  for (const int type :
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0x7F, 0xFF}) {
    EXPECT_NE(TypeName(static_cast<bson::Type>(type)), "unknown") << type;
  }
  EXPECT_EQ(TypeName(bson::Type::kInt64), "long");
}

}  // namespace
}  // namespace evenkeel::wire
