// $hash, $hexHash.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Hash, Digests) {
  const Case cases[] = {
      {R"({"$hash": {"input": "Hello World", "algorithm": "xxh64"}})",
       R"({"$binary": {"base64": "YzTSBxkkW8I=", "subType": "00"}})"},
      {R"({"$hexHash": {"input": "abc", "algorithm": "md5"}})",
       R"("900150983CD24FB0D6963F7D28E17F72")"},
      {R"({"$hexHash": {"input": "$a", "algorithm": {"$concat": ["sha", "256"]}}})",
       R"("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD")", R"({"a": "abc"})"},
      {R"({"$hexHash": {"input": {"$binary": {"base64": "YWJj", "subType": "05"}},
                        "algorithm": "md5"}})",
       R"("900150983CD24FB0D6963F7D28E17F72")"},
      {R"({"$hash": {"input": null, "algorithm": "md5"}})", "null"},
      {R"({"$hexHash": {"input": "$none", "algorithm": "md5"}})", "null"},
  };
  CheckCases(cases);
}

TEST(Hash, Errors) {
  const ErrorCase errors[] = {
      {R"({"$hash": 1})", 9},
      {R"({"$hash": {"input": "a"}})", 9},
      {R"({"$hash": {"input": "a", "algorithm": "crc"}})", 2},
      {R"({"$hash": {"input": "a", "algorithm": 1}})", 14},
      {R"({"$hexHash": {"input": 1, "algorithm": "md5"}})", 14},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
