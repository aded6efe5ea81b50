// SPDX-License-Identifier: Apache-2.0
#include "training/ranks/share.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "base/text/number_text.hpp"

namespace morton::training {

std::vector<Share> shares_of(std::int64_t rows, std::int64_t ranks,
                             std::span<const double> weights) {
  const auto count = static_cast<std::size_t>(ranks);
  if (!weights.empty() && weights.size() != count) {
    throw UsageError(setting("shares") + ": expected a number for each of the " +
                     std::to_string(ranks) + " ranks, got " + std::to_string(weights.size()));
  }
  for (const double weight : weights) {
    if (weight > 0.0 && std::isfinite(weight)) continue;
    throw UsageError(setting("shares") + ": expected numbers above 0, got " + exact_text(weight));
  }
  const double whole = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<Share> shares(count);
  std::vector<double> remainders(count);
  std::int64_t given = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const double part = weights.empty() ? 1.0 / static_cast<double>(ranks) : weights[r] / whole;
    const double wanted = part * static_cast<double>(rows);
    shares[r].count = static_cast<std::int64_t>(wanted);
    remainders[r] = wanted - static_cast<double>(shares[r].count);
    given += shares[r].count;
  }
  std::vector<std::size_t> by_remainder(count);
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::ranges::stable_sort(by_remainder, [&](std::size_t a, std::size_t b) {
    // Weights that are alike must not be told apart by rounding.
    return std::llround(remainders[a] * 1e9) > std::llround(remainders[b] * 1e9);
  });
  for (std::size_t i = 0; given < rows; i = (i + 1) % count, ++given) {
    ++shares[by_remainder[i]].count;
  }
  std::int64_t first = 0;
  for (std::size_t r = 0; r < count; ++r) {
    if (shares[r].count < 1) {
      throw UsageError("train: a batch of " + std::to_string(rows) + " has no row for rank " +
                       std::to_string(r) + " of " + std::to_string(ranks) +
                       "; a larger batch or fewer ranks help");
    }
    shares[r].first = first;
    first += shares[r].count;
  }
  return shares;
}

}  // namespace morton::training
