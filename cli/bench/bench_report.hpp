// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/field.hpp"
#include "bench/single_problem.hpp"
#include "common/output.hpp"
#include "morton/device.hpp"
#include "morton/tools/problems.hpp"

namespace morton::cli {

/// What all contenders are measured beside.
struct Setting {
  SingleProblem problem;
  std::vector<KernelInfo> kernels;  ///< of the problem's family
  Device device;
  std::string precision = "f32";  ///< that was asked for
  std::string peak_kind = "";
  std::vector<double> peak_gflops = {};
  std::string coverage = "";     ///< what of the results was compared
  std::string buffers = "";      ///< whether operands lie in the caches
  double footprint_bytes = 0.0;  ///< of all sets of operands that calls take turns among
};

/// Rates, demands and errors of the contenders, and why the others do not take part, in any format.
[[nodiscard]] std::string report_of(const Field& field, const Setting& setting, Format format);

}  // namespace morton::cli
