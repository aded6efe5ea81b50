// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/compile/planning.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// A model's kernels for extents that it is not compiled for.
struct OtherShapes {
  std::shared_ptr<const BuiltKernels> built;  ///< all kernels of the model's plans
  /// Plans that use kernels which `plan` has not: run once so that their programs are whole.
  std::vector<Plan> plans;
  /// The plans for CompileOptions::also, in its order.
  std::vector<std::shared_ptr<const Plan>> chosen;
  int kernels = 0;  ///< that were added to `plan`
};

/// Plans the model for `options.also` and, where it has open extents and the options ask for it, at
/// three further sizes that have other tails, and adds their kernels to `plan`, the model's own on
/// its device. The log says which they are, and which sizes the model does not take.
[[nodiscard]] OtherShapes prepare_other_shapes(const Model& model, const Graph& graph,
                                               const DeviceInfo& device, const PlanSetup& setup,
                                               const CompileOptions& options, Plan& plan);

/// The options with other extents.
[[nodiscard]] CompileOptions with_extents(CompileOptions options, const InputShapes& shapes);

}  // namespace morton::api
