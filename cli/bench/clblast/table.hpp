// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/clblast/routines.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"

namespace morton::cli {

/// One routine at one size.
struct ClblastRow {
  std::string size, name;  ///< "1024", "gemm"
  ClblastCall call;
  /// Or "wrong", "cut" (right, of fewer samples than wanted), or "beyond" the largest allocation.
  std::string verdict = "right";
  std::string why = "";
  Statistics ms = {};    ///< of one call, back to back with others
  std::string way = "";  ///< of a product: "direct", "with copies"
};

/// The least-squares line through the medians of a copy: T(x) = slope x + start.
struct ClblastFit {
  double slope_us = 0.0;  ///< of an element
  double start_us = 0.0;
  double determination = 0.0;  ///< R^2
};

struct ClblastTable {
  std::string routine, library, budget;
  Device device;
  std::int64_t largest_allocation = 0;
  std::vector<ClblastRow> rows = {};
  std::optional<ClblastFit> fit = {};
  std::optional<std::int64_t> least_indirect = {};  ///< squares from this size on have copies
};

/// Nothing with fewer than two sizes.
[[nodiscard]] std::optional<ClblastFit> fit_of(const std::vector<ClblastRow>& rows);
[[nodiscard]] std::string report_of(const ClblastTable& table, Format format);

}  // namespace morton::cli
