// SPDX-License-Identifier: Apache-2.0
#include "ops/operator.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "ops/elementwise.hpp"

namespace morton {

#define MORTON_OPERATOR(name) const Operator& operator_##name();
#include "ops/ops.def"
#undef MORTON_OPERATOR

namespace {

void check_declaration(const NodeView& view, const Operator& op) {
  if (view.opset() < op.since_opset) {
    view.unsupported("the model is written in opset " + std::to_string(view.opset()) +
                     "; this operator is supported from opset " + std::to_string(op.since_opset) +
                     " on");
  }
  if (view.input_count() < op.least_inputs || view.input_count() > op.most_inputs) {
    view.fail("has " + std::to_string(view.input_count()) + " inputs, expected " +
              std::to_string(op.least_inputs) + " to " + std::to_string(op.most_inputs));
  }
  for (std::size_t i = 0; i < op.least_inputs; ++i) {
    if (!view.has_input(i)) view.fail("input " + std::to_string(i) + " is missing");
  }
  for (const auto& [name, value] : view.node().attributes) {
    if (std::find(op.attributes.begin(), op.attributes.end(), name) == op.attributes.end()) {
      view.unsupported("attribute '" + name + "' is not supported");
    }
  }
}

void check_epilogue(const Graph& graph, const NodeView& view, const Shape& result) {
  for (std::size_t i = view.input_count(); i < view.node().inputs.size(); ++i) {
    const GraphTensor& side = graph.tensor(view.node().inputs[i]);
    if (broadcast(side.shape, result, view.where() + ": epilogue") != result) {
      view.fail("operand '" + side.name + "' of its epilogue, " + to_string(side.shape) +
                ", does not broadcast to " + to_string(result));
    }
  }
}

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
    std::string known;
    for (const DType one : op.types)
      known += (known.empty() ? "" : ", ") + std::string(name_of(one));
    view.unsupported("'" + graph.tensor(id).name + "' is of type " + std::string(name_of(type)) +
                     "; devices compute it in " + known);
  };
  for (const TensorId id : view.node().inputs) check(id);
  for (const TensorId id : view.node().outputs) check(id);
}

}  // namespace

const std::vector<const Operator*>& operators() {
  static const std::vector<const Operator*> kOperators{
#define MORTON_OPERATOR(name) &operator_##name(),
#include "ops/ops.def"
#undef MORTON_OPERATOR
  };
  return kOperators;
}

const Operator* find_operator(std::string_view name) {
  for (const Operator* op : operators()) {
    if (op->name == name) return op;
  }
  return nullptr;
}

const Operator& operator_of(const Node& node) {
  if (const Operator* op = find_operator(node.op)) return *op;
  std::string known;
  for (const Operator* op : operators()) {
    known += (known.empty() ? "" : ", ") + std::string(op->name);
  }
  throw UnsupportedError("node '" + node.name + "': the operator '" + node.op +
                         "' is not supported (supported: " + known + ")");
}

void check_supported(const Graph& graph, const Node& node) {
  check_declaration(NodeView(graph, node), operator_of(node));
}

std::vector<TensorType> infer(const Graph& graph, const Node& node) {
  const Operator& op = operator_of(node);
  const NodeView view(graph, node);
  check_declaration(view, op);
  std::vector<TensorType> types = op.chain != nullptr ? infer_elementwise(view) : op.infer(view);
  for (std::size_t i = types.size(); i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    view.unsupported("output " + std::to_string(i) + " ('" + graph.tensor(node.outputs[i]).name +
                     "') is not supported");
  }
  const std::string what = view.where() + ": output";
  for (const TensorType& type : types) (void)element_count(type.shape, what.c_str());
  check_epilogue(graph, view, types[0].shape);
  return types;
}

ReferenceTensor reference(const Graph& graph, const Node& node,
                          std::span<const ReferenceTensor> inputs) {
  const Operator& op = operator_of(node);
  const NodeView view(graph, node);
  const Shape shape = infer(graph, node)[0].shape;
  if (inputs.size() != node.inputs.size()) {
    throw InternalError(view.where() + ": the reference got " + std::to_string(inputs.size()) +
                        " values for " + std::to_string(node.inputs.size()) + " inputs");
  }
  const auto operands = inputs.first(view.input_count());
  ReferenceTensor result;
  if (op.chain != nullptr) {
    std::vector<ChainOperand> sources;
    for (const ReferenceTensor& operand : operands) sources.push_back({&operand, operand.shape});
    result = evaluate(op.chain(view), sources, shape);
  } else if (op.alias) {
    result = operands[0];
    result.shape = shape;
  } else {
    result = op.reference(view, operands);
  }
  if (node.epilogue.is_identity()) return result;
  std::vector<ChainOperand> sources{{&result, result.shape}};
  for (const ReferenceTensor& side : inputs.subspan(view.input_count())) {
    sources.push_back({&side, side.shape});
  }
  return evaluate(node.epilogue, sources, shape);
}

BoundProblem lower(const Graph& graph, const Node& node) {
  const Operator& op = operator_of(node);
  const NodeView view(graph, node);
  if (op.alias) throw InternalError(view.where() + ": renames elements and is nothing to compute");
  require_types(graph, view, op);
  BoundProblem bound =
      op.chain != nullptr ? lower_elementwise(view, op.chain(view)) : op.lower(view);
  bound.problem.epilogue = append_epilogue(bound.problem.epilogue, node.epilogue);
  for (std::size_t i = view.input_count(); i < node.inputs.size(); ++i) {
    bound.sides.push_back({node.inputs[i], graph.tensor(node.inputs[i]).shape});
  }
  for (const auto& [name, binding] : bound.operands) {
    bound.problem.types.emplace(name, graph.tensor(binding.tensor).dtype);
  }
  bound.problem.types.emplace("acc", DType::f32);
  return bound;
}

Chain whole_chain(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  const Operator& op = operator_of(node);
  if (op.chain == nullptr) throw InternalError(view.where() + ": is not elementwise");
  return append_epilogue(op.chain(view), node.epilogue);
}

ReferenceTensor to_reference(const Tensor& tensor) {
  ReferenceTensor result;
  result.shape = tensor.shape();
  result.value.resize(static_cast<std::size_t>(tensor.size()));
  result.error.resize(result.value.size(), 0.0);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    result.value[static_cast<std::size_t>(i)] = tensor.at(i);
  }
  return result;
}

}  // namespace morton
