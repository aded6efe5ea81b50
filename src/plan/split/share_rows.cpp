// SPDX-License-Identifier: Apache-2.0
#include "plan/split/share_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/error.hpp"

namespace morton::plan {

std::vector<std::int64_t> share_rows(std::int64_t batch, std::span<const double> weights) {
  const auto count = static_cast<std::int64_t>(weights.size());
  if (batch < count) {
    throw UsageError("split: a batch of " + std::to_string(batch) + " cannot be split over " +
                     std::to_string(count) +
                     " devices, which get at least one row each; give a larger " +
                     setting("batch") + " or fewer devices");
  }
  double largest = 0.0;
  for (const double weight : weights) {
    if (!(std::isfinite(weight) && weight > 0.0)) {
      throw UsageError("split: the weight " + std::to_string(weight) + " is not a number above 0");
    }
    largest = std::max(largest, weight);
  }
  double sum = 0.0;
  for (const double weight : weights) sum += weight / largest;
  std::vector<double> ideal;
  std::vector<std::int64_t> rows;
  for (const double weight : weights) {
    ideal.push_back(static_cast<double>(batch) * (weight / largest / sum));
    rows.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(ideal.back())));
  }
  // What rounding left over goes to those who lack most; what the least of one row took comes from
  // those who have most too much.
  for (std::int64_t total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
       total != batch;) {
    const bool give = total < batch;
    std::size_t chosen = rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!give && rows[i] == 1) continue;
      const auto lack = [&](std::size_t at) { return ideal[at] - static_cast<double>(rows[at]); };
      if (chosen == rows.size() || (give ? lack(i) > lack(chosen) : lack(i) < lack(chosen))) {
        chosen = i;
      }
    }
    rows[chosen] += give ? 1 : -1;
    total += give ? 1 : -1;
  }
  return rows;
}

}  // namespace morton::plan
