// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/compile/compiled_state.hpp"
#include "api/compile/job.hpp"
#include "base/rooms.hpp"

namespace morton::api {

/// A model's kernels for extents that it is not compiled for.
struct OtherShapes {
  std::shared_ptr<const BuiltKernels> built;  ///< all kernels of the model's plans
  /// Plans that use kernels which `plan` has not: run once so that their programs are whole.
  std::vector<Plan> plans;
  std::vector<PlanAtShapes> chosen;  ///< for CompileOptions::also
  int kernels = 0;                   ///< that were added to `plan`
};

/// Plans the job's model for `also` and, where it has open extents and the job asks for it, at
/// three further sizes that have other tails, and adds their kernels to `plan`, the model's own on
/// its device. The observer is told which they are, and which sizes the model does not take.
[[nodiscard]] OtherShapes prepare_other_shapes(const Job& job, const DeviceInfo& device,
                                               Plan& plan);

}  // namespace morton::api
