// Asio's separately compiled part (BOOST_ASIO_SEPARATE_COMPILATION): nothing of ours.
#include <boost/asio/impl/src.hpp>
