// SPDX-License-Identifier: Apache-2.0
#include "run/layer_values.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "plan/ir/writers.hpp"
#include "run/runner.hpp"

namespace morton::run {
namespace {

/// Follows values of a plan back to the steps that write them. Steps are numbered as they run,
/// those of loading first.
class Slicer {
 public:
  Slicer(const Plan& plan, const std::function<bool(const std::string&)>& is_known)
      : plan_(plan), is_known_(is_known), writers_(plan.values.size()) {
    for (const Step& step : plan.load_steps) steps_.push_back(&step);
    for (const Step& step : plan.steps) steps_.push_back(&step);
    for (const Value& value : plan.values) {
      if (value.kind == Value::Kind::output) outputs_.insert(value.name);
    }
    const Writers writers(plan);
    for (const ValueId v : plan.values.ids()) {
      for (const Write& write : writers.of(v)) writers_[v].push_back(write.step);
    }
  }

  [[nodiscard]] bool is_layer(ValueId v) const {
    const Value& value = plan_.values[v];
    // What is copied into the caller's format is looked at there: the copy may be wrong, too.
    const bool kept = value.kind == Value::Kind::output ||
                      (value.kind == Value::Kind::activation && !outputs_.contains(value.name));
    return kept && !writers_of(v).empty() && is_known_(value.name);
  }

  /// The layer of a value that is one.
  [[nodiscard]] PlannedLayer layer_of(ValueId v) const {
    PlannedLayer layer;
    layer.name = plan_.values[v].name;
    layer.value = v;
    layer.last = writers_of(v).back() - plan_.load_steps.size();
    std::set<std::size_t> steps;
    std::vector<ValueId> open{v};
    std::set<ValueId> seen{v};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      for (const std::size_t s : writers_of(next)) {
        if (s > writers_of(v).back() || !steps.insert(s).second) continue;
        for (const ValueId read : steps_[s]->reads) {
          if (!seen.insert(read).second) continue;
          if (is_layer(read)) {
            layer.sources.push_back(plan_.values[read].name);
          } else {
            open.push_back(read);
          }
        }
      }
    }
    for (const std::size_t s : steps) layer.steps.push_back(steps_[s]);
    return layer;
  }

 private:
  /// The steps that make a value's content, in order.
  [[nodiscard]] const std::vector<std::size_t>& writers_of(ValueId v) const { return writers_[v]; }

  const Plan& plan_;
  const std::function<bool(const std::string&)>& is_known_;
  std::vector<const Step*> steps_;
  std::set<std::string> outputs_;
  Indexed<ValueId, std::vector<std::size_t>> writers_;
};

std::vector<std::string> kernels_of(const PlannedLayer& layer) {
  std::vector<std::string> kernels;
  for (const Step* step : layer.steps) {
    const bool listed = std::find(kernels.begin(), kernels.end(), step->kernel) != kernels.end();
    if (!listed) kernels.push_back(step->kernel);
  }
  return kernels;
}

}  // namespace

std::vector<PlannedLayer> planned_layers(const Plan& plan,
                                         const std::function<bool(const std::string&)>& is_known) {
  const Slicer slicer(plan, is_known);
  std::vector<PlannedLayer> layers;
  for (const ValueId value : plan.values.ids()) {
    if (slicer.is_layer(value)) layers.push_back(slicer.layer_of(value));
  }
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto& a, const auto& b) { return a.last < b.last; });
  return layers;
}

std::map<std::string, LayerValue> layer_values(const std::shared_ptr<const LoadedPlan>& loaded,
                                               std::span<const NamedTensor> inputs,
                                               const std::vector<PlannedLayer>& layers) {
  if (loaded->devices().size() > 1) {
    throw UsageError("layers: a plan over several devices has no whole layers; name one device");
  }
  Runner runner(loaded, OpenClDevice::QueueKind::plain);
  for (const NamedTensor& input : inputs) runner.write(runner.input(input.name), input.tensor);
  std::map<std::string, LayerValue> values;
  runner.run_watched([&](std::size_t step) {
    for (const PlannedLayer& layer : layers) {
      if (layer.last != step) continue;
      const Value& value = loaded->plan().values[layer.value];
      const std::vector<std::byte> bytes = runner.bytes_of(layer.value);
      values.emplace(layer.name,
                     LayerValue{unpack(bytes, value.arrangement), kernels_of(layer), step});
    }
  });
  return values;
}

std::map<std::string, LayerValue> layer_values(const std::shared_ptr<const LoadedPlan>& loaded,
                                               std::span<const NamedTensor> inputs) {
  const auto all = [](const std::string&) { return true; };
  return layer_values(loaded, inputs, planned_layers(loaded->plan(), all));
}

}  // namespace morton::run
