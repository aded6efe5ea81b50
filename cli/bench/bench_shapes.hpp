// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/given_model.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// A measured model at other extents, on its kernels and its weights.
struct OtherShape {
  std::string inputs;    ///< "x 2x3x256x256"
  CompileReport report;  ///< of CompiledModel::with_shapes
  double plan_ms = 0.0;  ///< of all of with_shapes
  double first_inference_ms = 0.0;
  Statistics host;  ///< milliseconds of each run
};

/// Makes the plan for each of `shapes` in turn and runs it for a while. Throws what
/// GivenModel::with_shapes does: nothing is built.
[[nodiscard]] std::vector<OtherShape> measure_other_shapes(const GivenModel& given,
                                                           const CompiledModel& model,
                                                           const std::vector<InputShapes>& shapes,
                                                           const MeasureOptions& options);

[[nodiscard]] Table to_table(const std::vector<OtherShape>& measured);
[[nodiscard]] Json to_json(const std::vector<OtherShape>& measured);

}  // namespace morton::cli
