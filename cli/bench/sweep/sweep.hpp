// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "bench/figures.hpp"
#include "bench/problem_options.hpp"
#include "common/output.hpp"

namespace morton::cli {

/// One kernel, or another library, at one size.
struct SweepCell {
  enum class Verdict : std::uint8_t { right, failed, rejected, not_run };
  std::string kernel;
  Verdict verdict = Verdict::right;
  std::string why = "";  ///< it failed, is rejected, is not run, or has fewer samples than wanted
  // What follows is of right ones only.
  std::optional<Figures> figures = {};
  Statistics rate = {};  ///< of each sample: GFLOP/s of a product, else GB/s
  double error = 0.0;
  Contender::About about = {};
};

/// All kernels at one size.
struct SweepRow {
  std::string size;  ///< "1024", "64x3136x576", with a batch "4 x 1024"
  ProblemFacts facts;
  double flop = 0.0, bytes = 0.0;
  std::optional<double> peak_gflops = {};  ///< median of the same turns
  std::string coverage;                    ///< what of the results was compared
  std::vector<SweepCell> cells;
};

struct Sweep {
  std::string family;
  Device device;
  bool by_operations = true;  ///< rates are GFLOP/s, else GB/s
  std::string peak_kind = "", buffers = "", budget = "";
  std::vector<SweepRow> rows = {};
  std::vector<std::string> above_peak = {};  ///< figures that cannot be
};

/// Measures each size and prints the table. Returns the exit status.
[[nodiscard]] int bench_sweep(const BenchProblemArguments& options);

/// The table in any format; for programs one object for each size and kernel.
[[nodiscard]] std::string report_of(const Sweep& sweep, Format format);

}  // namespace morton::cli
