// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// A matrix product: dst of m x n, sums of k terms.
struct ProductSize {
  std::int64_t m = 0, n = 0, k = 0;
};
[[nodiscard]] inline ProductSize square(std::int64_t size) { return {size, size, size}; }
[[nodiscard]] double flop_of(const ProductSize& size);

/// "128", "256", ...
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<std::int64_t>& numbers);

/// How many samples are taken of one kernel.
[[nodiscard]] std::string samples_text(Scale scale);

/// `bench gemm` of one kernel alone, by its name without the family.
[[nodiscard]] std::vector<std::string> product_command(const ProductSize& size,
                                                       const std::string& kernel, Scale scale);

/// What of a product is timed.
enum class Timed : std::uint8_t {
  kernel,  ///< alone, without packing
  call     ///< all of it, with packing, on the host's clock: so a product of the host is timed
};

/// A kernel of a table of products: its column.
struct Rung {
  std::string kernel;  ///< "rm_cm_blocked"
  std::string name;    ///< the source's: "RM x CM blocked"
  Timed timed = Timed::kernel;
};
/// Reads its rate.
[[nodiscard]] Reader rate_reader(const Rung& rung);

/// For each size a row, for each rung a column of GFLOP/s. Sizes are measured in the order given.
struct Ladder {
  std::vector<std::int64_t> sizes;     ///< the table's rows
  std::vector<std::int64_t> measured;  ///< those that are run, most important first
  std::vector<Rung> rungs;
};
/// Adds rows, columns and cells to the experiment.
void add_ladder(const Ladder& ladder, Scale scale, Experiment& experiment);

}  // namespace morton::cli
