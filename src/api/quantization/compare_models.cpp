// SPDX-License-Identifier: Apache-2.0
#include "morton/compare_models.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "api/quantization/calibration.hpp"
#include "api/quantization/tensor_comparison.hpp"
#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "morton/session.hpp"

namespace morton {
using namespace api;
namespace {

std::string described(const Tensor& tensor) {
  return to_string(tensor.shape()) + " of " + std::string(name_of(tensor.dtype()));
}

std::string described(const PortInfo& port) {
  std::string extents;
  for (std::size_t d = 0; d < port.shape.size(); ++d) {
    const std::string symbol = d < port.symbols.size() ? port.symbols[d] : "";
    const std::string open = symbol.empty() ? "?" : symbol;
    extents += (d > 0 ? "x" : "") + (port.shape[d] < 0 ? open : std::to_string(port.shape[d]));
  }
  return "'" + port.name + "' " + std::string(name_of(port.dtype)) + " " +
         (extents.empty() ? "scalar" : extents);
}

std::string described(const std::vector<PortInfo>& ports) {
  std::string text;
  for (const PortInfo& port : ports) text += (text.empty() ? "" : ", ") + described(port);
  return text.empty() ? "none" : text;
}

/// The extents of both; nothing where they contradict each other.
std::optional<Shape> joined(const PortInfo& a, const PortInfo& b) {
  const bool alike = a.dtype == b.dtype && a.form == b.form && a.shape.size() == b.shape.size();
  if (!alike) return {};
  Shape shape = a.shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) shape[d] = b.shape[d];
    if (b.shape[d] >= 0 && b.shape[d] != shape[d]) return {};
  }
  return shape;
}

std::map<std::string, Shape> common_shapes(const std::vector<PortInfo>& first,
                                           const std::vector<PortInfo>& second) {
  std::map<std::string, Shape> shapes;
  for (const PortInfo& port : first) {
    const auto other = std::ranges::find(second, port.name, &PortInfo::name);
    const auto shape = other == second.end() ? std::nullopt : joined(port, *other);
    if (shape) shapes[port.name] = *shape;
  }
  if (shapes.size() == first.size() && shapes.size() == second.size()) return shapes;
  throw UsageError("compare: the models take other inputs: " + described(first) + " and " +
                   described(second));
}

/// Names that both have, in the order of the first.
std::vector<std::string> common_names(const std::vector<std::string>& first,
                                      const std::vector<std::string>& second) {
  const std::set<std::string> known(second.begin(), second.end());
  std::vector<std::string> names;
  std::ranges::copy_if(first, std::back_inserter(names),
                       [&](const std::string& name) { return known.contains(name); });
  return names;
}

std::vector<std::string> output_names(const CompiledModel& model) {
  std::vector<std::string> names;
  for (const PortInfo& port : model.outputs()) names.push_back(port.name);
  return names;
}

/// Two models whose outputs of the same names are compared.
class Pair {
 public:
  Pair(const CompiledModel& first, const CompiledModel& second, std::vector<std::string> names,
       TensorComparison::Rows rows)
      : first_(first), second_(second), names_(std::move(names)) {
    for (const std::string& name : names_) found_.emplace_back(name, rows);
  }

  void run(std::span<const NamedTensor> inputs) {
    const auto first = values_of(first_, inputs);
    const auto second = values_of(second_, inputs);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Tensor& a = first.at(names_[i]);
      const Tensor& b = second.at(names_[i]);
      if (a.shape() == b.shape() && is_real(a.dtype()) == is_real(b.dtype())) {
        found_[i].add(a, b);
      } else {
        unlike_.emplace(i, "'" + names_[i] + "' is " + described(a) + " in the first and " +
                               described(b) + " in the second");
      }
    }
  }

  /// Those of one shape in all runs; `not_compared` gets the others.
  [[nodiscard]] std::vector<TensorDifference> results(std::vector<Message>& not_compared) const {
    std::vector<TensorDifference> results;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto unlike = unlike_.find(i);
      if (unlike == unlike_.end()) {
        results.push_back(found_[i].result());
      } else {
        not_compared.emplace_back(unlike->second);
      }
    }
    return results;
  }

 private:
  static std::map<std::string, Tensor> values_of(Session& session,
                                                 std::span<const NamedTensor> inputs) {
    std::map<std::string, Tensor> values;
    for (NamedTensor& output : session.run(inputs)) {
      values.insert_or_assign(output.name, std::move(output.tensor));
    }
    return values;
  }

  Session first_, second_;
  std::vector<std::string> names_;
  std::vector<TensorComparison> found_{};
  std::map<std::size_t, std::string> unlike_{};
};

const Graph& stated(const CompiledModel& model) {
  const CompiledState& state = *Inside::of(model);
  if (state.model) return Inside::of(*state.model);
  throw UsageError("compare: a compiled file names no inner tensors; compare the model itself");
}

/// Names of what nodes compute and no caller sees.
std::vector<std::string> inner_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    for (const TensorId id : node.outputs) {
      if (id == kNoTensor || graph.is_result(id) || graph.tensor(id).name.empty()) continue;
      if (graph.tensor(id).kind != GraphTensor::Kind::activation) continue;
      names.push_back(graph.tensor(id).name);
    }
  }
  return names;
}

/// The model with these tensors as further outputs.
CompiledModel showing(const CompiledModel& model, const std::vector<std::string>& names) {
  Graph graph = stated(model);
  std::set<TensorId> tensors;
  for (const std::string& name : names) tensors.insert(graph.find(name));
  show(graph, tensors);
  CompileOptions options = Inside::of(model)->options;
  options.start = CompileOptions::Start::interim_alone;
  return compile(Inside::make(std::move(graph)), model.device(), options);
}

void name_lone_outputs(const CompiledModel& model, const std::vector<std::string>& common,
                       const std::string& which, std::vector<Message>& not_compared) {
  for (const std::string& name : output_names(model)) {
    if (std::ranges::find(common, name) != common.end()) continue;
    not_compared.emplace_back("the output '" + name + "' is in the " + which + " alone");
  }
}

}  // namespace

std::map<std::string, Shape> common_inputs(const Model& first, const Model& second) {
  return common_shapes(first.inputs(), second.inputs());
}

ModelDifferences compare_models(const CompiledModel& first, const CompiledModel& second,
                                const InputRuns& runs, ComparedTensors tensors) {
  static_cast<void>(common_shapes(first.inputs(), second.inputs()));
  const auto outputs = common_names(output_names(first), output_names(second));
  if (outputs.empty()) {
    throw ModelError("compare: the models have no output of the same name: " +
                     described(first.outputs()) + " and " + described(second.outputs()));
  }
  ModelDifferences differences;
  name_lone_outputs(first, outputs, "first", differences.not_compared);
  name_lone_outputs(second, outputs, "second", differences.not_compared);
  using Rows = TensorComparison::Rows;
  Pair whole(first, second, outputs, Rows::count);
  std::optional<Pair> inner;
  if (tensors == ComparedTensors::all) {
    const auto names = common_names(inner_names(stated(first)), inner_names(stated(second)));
    if (!names.empty()) {
      inner.emplace(showing(first, names), showing(second, names), names, Rows::ignore);
    }
  }
  for (std::int64_t run = 0; run < runs.runs; ++run) {
    const std::vector<NamedTensor> inputs = runs.inputs(run);
    whole.run(inputs);
    if (inner) inner->run(inputs);
  }
  differences.outputs = whole.results(differences.not_compared);
  if (inner) differences.inner = inner->results(differences.not_compared);
  return differences;
}

}  // namespace morton
