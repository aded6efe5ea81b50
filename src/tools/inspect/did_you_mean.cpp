// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "base/text/near_names.hpp"
#include "morton/tools/near_names.hpp"

namespace morton {
namespace {

/// Fewer letters are the beginning of too many names.
constexpr std::size_t kShortestBeginning = 3;
constexpr std::size_t kMostBegun = 3;

/// The names that go on from `given`; none where they are many.
std::vector<std::string> begun_names(const std::string& given,
                                     const std::set<std::string_view>& names) {
  std::vector<std::string> begun;
  if (given.size() < kShortestBeginning) return begun;
  for (const std::string_view name : names) {
    if (name.starts_with(given)) begun.emplace_back(name);
  }
  return begun.size() > kMostBegun ? std::vector<std::string>() : begun;
}

}  // namespace

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
  const std::set<std::string_view> each(names.begin(), names.end());
  std::vector<std::string> meant = near_names(given, {each.begin(), each.end()});
  if (meant.empty()) meant = begun_names(given, each);
  std::string text;
  for (const std::string& name : meant) text += (text.empty() ? "'" : " or '") + name + "'";
  return text.empty() ? "" : "; did you mean " + text + "?";
}

}  // namespace morton
