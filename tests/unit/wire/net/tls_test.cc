// Certificates: what is loaded, what is refused and how it is named.
#include "wire/net/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/status.h"
#include "tests/lib/certificates.h"

namespace evenkeel::wire {
namespace {

using testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { authority = new tests::Authority(); }
  static void TearDownTestSuite() { delete authority; }

  static std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(authority->Path(name)) << text;
    return authority->Path(name);
  }
  static inline tests::Authority* authority = nullptr;
};

TEST(TlsStart, IsToldByThreeBytes) {
  EXPECT_TRUE(StartsTls(""));
  EXPECT_TRUE(StartsTls("\x16"));
  EXPECT_TRUE(StartsTls("\x16\x03"));
  EXPECT_TRUE(StartsTls(std::string_view("\x16\x03\x01\x02\x00", 5)));
  EXPECT_FALSE(StartsTls("\x15"));
  EXPECT_FALSE(StartsTls("\x16\x04"));
  // A message of 790 bytes.
  EXPECT_FALSE(StartsTls(std::string_view("\x16\x03\x00\x00", 4)));
}

TEST(TlsModes, AreMongoDBs) {
  EXPECT_EQ(ParseTlsMode("disabled"), TlsMode::kDisabled);
  EXPECT_EQ(ParseTlsMode("allowTLS"), TlsMode::kAllow);
  EXPECT_EQ(ParseTlsMode("preferTLS"), TlsMode::kPrefer);
  EXPECT_EQ(ParseTlsMode("requireTLS"), TlsMode::kRequire);
  EXPECT_EQ(ParseTlsMode("requireSSL"), std::nullopt);
}

TEST_F(TlsTest, LoadsAndReloads) {
  const std::string pem = authority->Issue("IP:127.0.0.1", "secret");
  TlsOptions options;
  options.certificate_key_file = {"--tlsCertificateKeyFile", pem};
  options.key_password = "secret";
  options.ca_file = {"--tlsCAFile", authority->ca()};
  const auto context = TlsContext::Load(options);
  ASSERT_TRUE(context.ok()) << context.status();
  const auto before = (*context)->Current();
  std::ofstream(pem) << "damaged";
  EXPECT_FALSE((*context)->Reload().ok());
  EXPECT_EQ((*context)->Current(), before);
}

TEST_F(TlsTest, BadFilesAreNamedWithTheirSetting) {
  const std::string good = authority->Issue("IP:127.0.0.1");
  const std::string secret = authority->Issue("IP:127.0.0.1", "secret");
  const std::string other = authority->Issue("IP:127.0.0.1");
  const std::string stem = good.substr(0, good.size() - 4);
  const std::string other_stem = other.substr(0, other.size() - 4);
  const std::string mixed = authority->Path("mixed.pem");
  ASSERT_EQ(std::system(("cat " + stem + ".crt " + other_stem + ".key > " + mixed).c_str()), 0);
  const struct {
    std::string certificate, ca, crl, setting, why;
  } cases[] = {
      {authority->Path("nowhere"), "", "", "certificate", "No such file"},
      {"/tmp", "", "", "certificate", "empty or no file"},
      {Write("empty", ""), "", "", "certificate", "empty or no file"},
      {Write("text", "some text\n"), "", "", "certificate", "certificate in PEM form"},
      {stem + ".crt", "", "", "certificate", "private key in PEM form"},
      {secret, "", "", "certificate", "private key in PEM form"},
      {mixed, "", "", "certificate", "key values mismatch"},
      {good, authority->Path("nowhere"), "", "ca", "No such file"},
      {good, Write("text", "some text\n"), "", "ca", "certificates in PEM form"},
      {good, authority->ca(), authority->ca(), "crl", "revocation lists in PEM form"},
  };
  for (const auto& tried : cases) {
    SCOPED_TRACE(tried.why);
    TlsOptions options;
    options.certificate_key_file = {"certificate", tried.certificate};
    options.ca_file = {"ca", tried.ca};
    options.crl_file = {"crl", tried.crl};
    const absl::Status status = TlsContext::Load(options).status();
    EXPECT_EQ(CodeOf(status), ErrorCode::kInvalidOptions);
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(tried.setting + ": cannot use /"));
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(tried.why));
  }
}

}  // namespace
}  // namespace evenkeel::wire
