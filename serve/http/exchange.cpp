// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.hpp"

namespace morton::serve {

std::size_t HttpReply::bytes() const {
  std::size_t bytes = text.size();
  for (const Tensor& binary : binaries) bytes += binary.bytes();
  return bytes;
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 411:
      return "Length Required";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

}  // namespace morton::serve
