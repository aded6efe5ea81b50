// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "contender.hpp"
#include "morton/device.hpp"
#include "morton/problems.hpp"
#include "output.hpp"
#include "single_problem.hpp"

namespace morton::cli {

/// What all contenders are measured beside.
struct Setting {
  SingleProblem problem;
  std::vector<KernelInfo> kernels;  ///< of the problem's family
  Device device;
  std::string peak_kind = "";
  std::vector<double> peak_gflops = {};
  std::string coverage = "";  ///< what of the results was compared
};

/// Quickest kernel first.
void sort_by_speed(Field& field);

/// Rates, demands and errors of the contenders, and why the others do not take part, in any format.
[[nodiscard]] std::string report_of(const Field& field, const Setting& setting, Format format);

}  // namespace morton::cli
