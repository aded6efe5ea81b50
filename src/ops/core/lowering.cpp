// SPDX-License-Identifier: Apache-2.0
#include "ops/core/lowering.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/core/sides.hpp"

namespace morton::ops {
namespace {

/// `epilogue` behind `first`: `first` keeps its inputs, the inputs 1, 2, ... of `epilogue` follow.
Chain append_epilogue(const Chain& first, const Chain& epilogue) {
  std::vector<int> first_inputs(static_cast<std::size_t>(first.input_count));
  std::iota(first_inputs.begin(), first_inputs.end(), 0);
  std::vector<int> own_inputs(static_cast<std::size_t>(epilogue.input_count));
  std::iota(own_inputs.begin(), own_inputs.end(), first.input_count - 1);
  return epilogue.after(first, 0, first_inputs, own_inputs);
}

void require_types(const Graph& graph, const NodeView& view, const Operator& op) {
  const auto check = [&](TensorId id) {
    if (id == kNoTensor) return;
    const DType type = graph.tensor(id).dtype;
    if (std::find(op.types.begin(), op.types.end(), type) != op.types.end()) return;
    view.unsupported("'" + graph.tensor(id).name + "' is of type " + std::string(name_of(type)) +
                     "; devices compute it in " + list_of(op.types));
  };
  const auto is_planned = [&](std::size_t i) {
    return std::ranges::find(op.inputs.planned, i) != op.inputs.planned.end();
  };
  // What an epilogue reads and gives is checked where its types are inferred; no device reads a
  // value that planning needs.
  for (std::size_t i = 0; i < view.input_count(); ++i) {
    if (!is_planned(i)) check(view.node().inputs[i]);
  }
  if (op.chain != nullptr || !view.node().epilogue.is_identity()) return;
  for (const TensorId id : view.node().outputs) check(id);
}

}  // namespace

std::vector<BoundProblem> lower(const Graph& graph, const Node& node) {
  const Operator& op = operator_of(node);
  const NodeView view(graph, node);
  if (op.host.alias)
    throw InternalError(view.where() + ": renames elements and is nothing to compute");
  if (op.host.values != nullptr) {
    view.unsupported(
        "must be computed when the model is planned, but one of its inputs is known only in a run");
  }
  require_types(graph, view, op);
  std::vector<BoundProblem> problems;
  if (op.chain != nullptr) {
    problems = {lower_elementwise(view, op.chain(view))};
  } else if (op.parts != nullptr) {
    problems = op.parts(view);
  } else {
    problems = {op.lower(view)};
  }
  for (BoundProblem& bound : problems) {
    // The epilogue is the first output's.
    const bool first = bound.operands.at("dst").tensor == node.outputs[0];
    if (first) bound.problem.epilogue = append_epilogue(bound.problem.epilogue, node.epilogue);
    for (std::size_t i = view.input_count(); first && i < node.inputs.size(); ++i) {
      bound.sides.push_back({node.inputs[i], graph.tensor(node.inputs[i]).shape});
    }
    for (const auto& [name, binding] : bound.operands) {
      bound.problem.types.emplace(name, graph.tensor(binding.tensor).dtype);
    }
    const bool moves = bound.problem.family == families::pack;
    bound.problem.types.emplace("acc", moves ? bound.problem.types.at("dst") : DType::f32);
    simplify_sides(graph, bound);
  }
  return problems;
}

void differentiate(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Operator& op = operator_of(node.node());
  if (op.gradient != nullptr) {
    op.gradient(gradient);
  } else if (op.chain != nullptr) {
    gradient_of_chain(gradient, append_epilogue(op.chain(node), node.node().epilogue));
  } else if (op.host.alias) {
    gradient_of_alias(gradient);
  } else {
    node.unsupported("has no gradient: nothing before it can be trained");
  }
}

Chain whole_chain(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  const Operator& op = operator_of(node);
  if (op.chain == nullptr) throw InternalError(view.where() + ": is not elementwise");
  return append_epilogue(op.chain(view), node.epilogue);
}

}  // namespace morton::ops
