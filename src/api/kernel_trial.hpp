// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/tried_kernels.hpp"

namespace morton {

struct CompiledState;

/// A kernel that computed wrongly, with the values that it was built with.
struct WrongKernel {
  std::string kernel;
  Environment tunables;
  std::string where;  ///< layer and element

  auto operator<=>(const WrongKernel&) const = default;
};

/// What a trial of one plan found.
struct Trial {
  int kernels = 0;  ///< that were tried
  std::set<std::string> right;
  std::vector<WrongKernel> wrong;
};

/// Tries the kernels of a model on one device that are new there: the model runs once on made-up
/// inputs, and for each kernel the smallest layer that it computes is compared with the reference;
/// where one is wrong, all layers are, to tell which kernels may be meant. Of a model with state
/// nothing is tried, nor what computes large layers only.
[[nodiscard]] Trial try_kernels(const std::shared_ptr<CompiledState>& state,
                                const TriedKernels& tried);

}  // namespace morton
