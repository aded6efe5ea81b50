// SPDX-License-Identifier: Apache-2.0
#include "base/text/identifiers.hpp"

namespace morton {

std::unordered_set<std::string_view> identifiers_in(std::string_view code) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i;
    while (end < code.size() && is_in_identifiers(code[end])) ++end;
    if (end > i) names.insert(code.substr(i, end - i));
    i = end + 1;
  }
  return names;
}

}  // namespace morton
