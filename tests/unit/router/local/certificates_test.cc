// rotateCertificates without TLS; with it: tests/integration/tls_test.js.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class CertificatesTest : public RouterTest {};

TEST_F(CertificatesTest, NeedTls) {
  EXPECT_EQ(CodeOfReply(Run(R"({"rotateCertificates": 1, "$db": "admin"})")), 96);
  EXPECT_EQ(CodeOfReply(Run(R"({"rotateCertificates": 1})")), 13);
  EXPECT_EQ(CodeOfReply(Run(R"({"rotateCertificates": 1, "message": 5, "$db": "admin"})")), 14);
}

}  // namespace
}  // namespace evenkeel::router
