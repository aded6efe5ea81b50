// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace morton::serve {

/// Whether "Bearer ..." bears the token. It takes as long for every wrong token of a length.
[[nodiscard]] inline bool bears(std::string_view given, const std::string& token) {
  const std::string wanted = "Bearer " + token;
  if (given.size() != wanted.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    differs |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i]);
  }
  return differs == 0;
}

}  // namespace morton::serve
