// Certificates for tests, made by the openssl program.
#pragma once

#include <cstdlib>
#include <string>

#include "base/check.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::tests {

// One authority and what it has signed; PEM files in a folder that is removed with it.
class Authority {
 public:
  Authority() {
    Run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority "
        "-keyout " +
        Path("ca.key") + " -out " + ca());
  }

  std::string ca() const { return Path("ca.pem"); }
  // A file with a certificate for `host`, written like "IP:127.0.0.1" or "DNS:localhost", and its
  // key, which is encrypted when a password is given.
  std::string Issue(const std::string& host, const std::string& password = "") const {
    const std::string base = Path("issued" + std::to_string(++issued_));
    const std::string protection = password.empty() ? "-nodes" : "-passout pass:" + password;
    Run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 " + protection + " -subj /CN=peer " +
        "-addext subjectAltName=" + host + " -keyout " + base + ".key -out " + base + ".csr");
    Run("x509 -req -in " + base + ".csr -CA " + ca() + " -CAkey " + Path("ca.key") +
        " -CAcreateserial -copy_extensions copy -days 2 -out " + base + ".crt");
    Shell("cat " + base + ".crt " + base + ".key > " + base + ".pem");
    return base + ".pem";
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  static void Shell(const std::string& command) {
    EVENKEEL_CHECK(std::system(command.c_str()) == 0);
  }
  static void Run(const std::string& arguments) {
    Shell("openssl " + arguments + " 2> /dev/null > /dev/null");
  }

  TempFolder folder_;
  mutable int issued_ = 0;
};

}  // namespace evenkeel::tests
