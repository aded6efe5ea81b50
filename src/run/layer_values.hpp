// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "morton/tensor.hpp"
#include "run/loaded_plan.hpp"

namespace morton {

/// What a plan computed of one tensor of its graph.
struct LayerValue {
  Tensor value;
  std::vector<std::string> kernels;  ///< of the steps that computed it, in order, each once
  std::size_t step = 0;              ///< the last of them
};

/// Runs a plan of one device once, step by step, and reads each tensor that it keeps in memory,
/// inputs and constants apart, as soon as it is complete, before its memory serves others. By the
/// tensors' names. Throws UsageError for a plan over several devices, and for wrong inputs.
[[nodiscard]] std::map<std::string, LayerValue> layer_values(
    const std::shared_ptr<const LoadedPlan>& loaded, std::span<const NamedTensor> inputs);

}  // namespace morton
