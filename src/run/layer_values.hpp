// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"
#include "run/loaded_plan.hpp"

namespace morton::run {

/// A tensor that a plan computes and keeps in memory, and how it comes about from others like it.
struct PlannedLayer {
  std::string name;
  ValueId value;
  std::size_t last = 0;  ///< the step after which it is complete
  /// Those that compute it from its sources, inputs and constants: in order, those that run when
  /// the plan is loaded first.
  std::vector<const Step*> steps;
  std::vector<std::string> sources;  ///< the layers that these steps read
};

/// The layers of a plan that stays where it is, in the order in which they are complete. A tensor
/// whose name `is_known` denies is none: its steps belong to what reads it.
[[nodiscard]] std::vector<PlannedLayer> planned_layers(
    const Plan& plan, const std::function<bool(const std::string&)>& is_known);

/// What a plan computed of one tensor of its graph.
struct LayerValue {
  Tensor value;
  std::vector<std::string> kernels;  ///< of the steps that computed it, in order, each once
  std::size_t step = 0;              ///< the last of them
};

/// Runs a plan of one device once, step by step, and reads these layers, each as soon as it is
/// complete, before its memory serves others. By the tensors' names. Throws UsageError for a plan
/// over several devices, and for wrong inputs.
[[nodiscard]] std::map<std::string, LayerValue> layer_values(
    const std::shared_ptr<const LoadedPlan>& loaded, std::span<const NamedTensor> inputs,
    const std::vector<PlannedLayer>& layers);
/// Likewise all layers.
[[nodiscard]] std::map<std::string, LayerValue> layer_values(
    const std::shared_ptr<const LoadedPlan>& loaded, std::span<const NamedTensor> inputs);

}  // namespace morton::run
