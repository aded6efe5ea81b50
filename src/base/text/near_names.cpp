// SPDX-License-Identifier: Apache-2.0
#include "base/text/near_names.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace morton {
namespace {

constexpr std::size_t kMostNames = 3;
constexpr std::size_t kFarthest = 2;
/// Nobody's name is longer, and the table below stays small whatever a file holds.
constexpr std::size_t kLongestGiven = 64;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Letters to insert, remove or replace, or neighbours to swap (Damerau's distance, each place
/// mended once).
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row.back();
}

}  // namespace

std::vector<std::string> near_names(std::string_view given,
                                    const std::vector<std::string_view>& names) {
  if (given.size() > kLongestGiven) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string_view name : names) {
    const std::size_t edits = edits_between(lower_case(given), lower_case(name));
    if (edits <= kFarthest && 2 * edits < given.size()) near.emplace_back(edits, name);
  }
  std::ranges::sort(near);
  std::vector<std::string> nearest;
  for (auto& [edits, name] : near) {
    if (nearest.size() < kMostNames) nearest.push_back(std::move(name));
  }
  return nearest;
}

}  // namespace morton
