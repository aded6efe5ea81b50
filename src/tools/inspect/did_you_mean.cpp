// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "base/text/near_names.hpp"
#include "morton/tools/near_names.hpp"

namespace morton {

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
  const std::set<std::string_view> each(names.begin(), names.end());
  const std::vector<std::string> near = near_names(given, {each.begin(), each.end()});
  std::string text;
  for (const std::string& name : near) text += (text.empty() ? "'" : " or '") + name + "'";
  return text.empty() ? "" : "; did you mean " + text + "?";
}

}  // namespace morton
