// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench_report.hpp"
#include "common/statistics.hpp"

namespace morton::cli {

/// What the samples of one clock come to.
struct Figure {
  Statistics ms;                                    ///< of one call
  double gflops = 0.0, gigabytes_per_second = 0.0;  ///< of the median
  double best_gflops = 0.0;                         ///< of the quickest sample
  /// Of the peak: the median of the median, and the best of the best.
  std::optional<double> share, best_share;
};

/// The figures of one contender, by what `Samples` holds.
struct Figures {
  Figure call;
  std::optional<Figure> alone;   ///< nothing where packing cannot be told apart
  std::optional<Figure> device;  ///< nothing where the device has no clock
  double wait_ms = 0.0;          ///< what a wait adds to a call
};

[[nodiscard]] Figures figures_of(const Contender& contender, const Setting& setting);

}  // namespace morton::cli
