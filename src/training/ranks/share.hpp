// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.hpp"

namespace morton::training {

/// The rows of a batch that are one rank's.
struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;

  bool operator==(const Share&) const = default;
};

/// `rows` rows for `ranks` ranks by their weights (RankOptions::shares). Throws UsageError for
/// another number of weights than ranks, for weights that are no numbers above 0, and where a rank
/// would have no row.
[[nodiscard]] std::vector<Share> shares_of(std::int64_t rows, std::int64_t ranks,
                                           std::span<const double> weights);

}  // namespace morton::training
