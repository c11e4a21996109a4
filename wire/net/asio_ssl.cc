// Asio's code for TLS, compiled once; see base/async/CMakeLists.txt.
#include <boost/asio/ssl/impl/src.hpp>
