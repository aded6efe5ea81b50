// SPDX-License-Identifier: Apache-2.0
#include "formats/quotes.hpp"

namespace morton::formats {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += "\\x";
      result += kDigits[byte >> 4];
      result += kDigits[byte & 0xf];
    }
  }
  return result + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace morton::formats
