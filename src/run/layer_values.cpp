// SPDX-License-Identifier: Apache-2.0
#include "run/layer_values.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "run/runner.hpp"

namespace morton {
namespace {

bool is_of_a_layer(const Value& value) {
  return value.kind == Value::Kind::activation || value.kind == Value::Kind::output;
}

/// A recipe's steps are named "task:family", a node's parts "task [2/3]".
std::string task_of(const Step& step) { return step.name.substr(0, step.name.find_first_of(":[")); }

/// For each value of a layer, the step after which it is complete: the last that writes it; of a
/// value that only parts of it are written, the last that writes its memory; -1 where none does.
std::vector<int> completing_steps(const Plan& plan) {
  std::vector<int> own(plan.values.size(), -1);
  std::vector<int> parts(plan.values.size(), -1);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const int v : plan.steps[s].writes) {
      own[static_cast<std::size_t>(v)] = static_cast<int>(s);
      parts[static_cast<std::size_t>(memory_root(plan.values, v))] = static_cast<int>(s);
    }
  }
  for (std::size_t v = 0; v < own.size(); ++v) {
    if (own[v] < 0) own[v] = parts[v];
  }
  return own;
}

std::vector<std::string> kernels_until(const Plan& plan, std::size_t step) {
  std::vector<std::string> kernels;
  const std::string task = task_of(plan.steps[step]);
  for (std::size_t s = 0; s <= step; ++s) {
    const std::string& kernel = plan.steps[s].kernel;
    const bool listed = std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
    if (task_of(plan.steps[s]) == task && !listed) kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace

std::map<std::string, LayerValue> layer_values(const std::shared_ptr<const LoadedPlan>& loaded,
                                               std::span<const NamedTensor> inputs) {
  const Plan& plan = loaded->plan();
  if (loaded->devices().size() > 1) {
    throw UsageError("layers: a plan over several devices has no whole layers; name one device");
  }
  Runner runner(loaded, OpenClDevice::QueueKind::plain);
  for (const NamedTensor& input : inputs) runner.write(runner.input(input.name), input.tensor);
  const std::vector<int> complete = completing_steps(plan);
  std::map<std::string, LayerValue> layers;
  runner.run_watched([&](std::size_t step) {
    for (std::size_t v = 0; v < plan.values.size(); ++v) {
      const Value& value = plan.values[v];
      if (complete[v] != static_cast<int>(step) || !is_of_a_layer(value)) continue;
      const std::vector<std::byte> bytes = runner.bytes_of(static_cast<int>(v));
      layers.emplace(value.name,
                     LayerValue{unpack(bytes, value.arrangement), kernels_until(plan, step), step});
    }
  });
  return layers;
}

}  // namespace morton
