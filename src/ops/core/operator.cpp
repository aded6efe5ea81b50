// SPDX-License-Identifier: Apache-2.0
#include "ops/core/operator.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/text/near_names.hpp"
#include "ops/core/bodies.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

#define MORTON_OPERATOR(name) const Operator& operator_##name();
#define MORTON_ROW(name, table) const OperatorTable& table##_operators();
#define MORTON_ROW_OF(domain, name, table) const OperatorTable& table##_operators();
#include "ops/ops.def"
#undef MORTON_ROW_OF
#undef MORTON_ROW
#undef MORTON_OPERATOR

namespace {

/// The operator `name` of a table; throws InternalError where it has no such row.
const Operator& row_of(const OperatorTable& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Operator::name);
  if (found == table.end()) {
    throw InternalError("ops.def: no row for '" + std::string(name) + "' in its table");
  }
  return *found;
}

/// Why an operator that ONNX has is none of ours; empty for other names.
std::string reason_of_refusal(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kReasons{
#define MORTON_REFUSED(name, reason) {name, reason},
#include "ops/refused.def"
#undef MORTON_REFUSED
  };
  const auto found = kReasons.find(name);
  return found == kReasons.end() ? "" : std::string(found->second);
}

/// Operators whose names are like this one, as a message names them.
std::string names_near(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Operator* op : operators()) names.push_back(op->name);
  std::string near;
  for (const std::string& one : near_names(name, names)) {
    near += (near.empty() ? "; near it: " : ", ") + one;
  }
  return near;
}

void check_inputs(const NodeView& view, const Operator& op) {
  if (view.input_count() < op.inputs.least || view.input_count() > op.inputs.most) {
    const bool one_count = op.inputs.least == op.inputs.most;
    view.fail("has " + std::to_string(view.input_count()) +
              (view.input_count() == 1 ? " input" : " inputs") + ", expected " +
              std::to_string(op.inputs.least) +
              (one_count ? "" : " to " + std::to_string(op.inputs.most)));
  }
  for (std::size_t i = 0; i < op.inputs.least; ++i) {
    if (!view.has_input(i)) view.fail("input " + std::to_string(i) + " is missing");
  }
}

void check_declaration(const NodeView& view, const Operator& op) {
  if (view.opset() < op.since_opset) {
    view.unsupported("the model is written in opset " + std::to_string(view.opset()) +
                     "; this operator is supported from opset " + std::to_string(op.since_opset) +
                     " on (onnx.version_converter changes it)");
  }
  if (const auto& bodies = view.node().bodies; !bodies.empty() && !has_bodies(op.name)) {
    view.unsupported("attribute '" + bodies.begin()->first + "' is not supported");
  }
  check_inputs(view, op);
  for (const auto& [name, value] : view.node().attributes) {
    if (std::find(op.attributes.begin(), op.attributes.end(), name) == op.attributes.end()) {
      view.unsupported("attribute '" + name + "' is not supported");
    }
  }
}

void check_epilogue(const Graph& graph, const NodeView& view, const Shape& result) {
  for (std::size_t i = view.input_count(); i < view.node().inputs.size(); ++i) {
    const GraphTensor& side = graph.tensor(view.node().inputs[i]);
    if (view.broadcast(side.shape, result, "epilogue") != result) {
      view.fail("operand '" + side.name + "' of its epilogue, " + to_string(side.shape) +
                ", does not broadcast to " + to_string(result));
    }
  }
}

/// Type of the node's result, whose own operation gives `own`.
DType type_behind_epilogue(const Graph& graph, const NodeView& view, DType own) {
  if (view.node().epilogue.is_identity()) return own;
  std::vector<DType> types{own};
  for (std::size_t i = view.input_count(); i < view.node().inputs.size(); ++i) {
    types.push_back(graph.tensor(view.node().inputs[i]).dtype);
  }
  return TypedChain(view.node().epilogue, std::move(types)).result_type();
}

/// What the operator infers. Its errors name the node, also those of arithmetic that does not fit.
std::vector<TensorType> own_types(const NodeView& view, const Operator& op) {
  try {
    if (op.infer != nullptr) return op.infer(view);
    return op.chain != nullptr ? infer_elementwise(view) : infer_composed(view);
  } catch (const ModelError& error) {
    if (error.node() == view.node().name) throw;
    view.fail(error.what());
  }
}

/// Throws ModelError, put down to the node, where a result has more elements than can be counted.
void check_sizes(const NodeView& view, const std::vector<TensorType>& results) {
  const std::string what = view.where() + ": output";
  try {
    for (const TensorType& type : results) (void)element_count(type.shape, what.c_str());
  } catch (Error& error) {
    error.put_down_to(view.node().name);
    throw;
  }
}

/// What lies in memory of this type once the values are stored there.
ReferenceTensor stored_as(DType type, ReferenceTensor tensor) {
  if (register_type(type) == type) return tensor;
  for (std::size_t i = 0; i < tensor.value.size(); ++i) {
    const Bounded stored = stored_as(type, Bounded{tensor.value[i], tensor.error[i]});
    tensor.value[i] = stored.value;
    tensor.error[i] = stored.error;
  }
  return tensor;
}

/// The elements that `origins` names, taken from the operands.
ReferenceTensor moved(const std::vector<Origin>& origins, const Shape& shape,
                      std::span<const ReferenceTensor> operands) {
  ReferenceTensor result;
  result.shape = shape;
  for (const Origin& origin : origins) {
    const bool nowhere = origin.input == Origin::kNowhere;
    const auto at = static_cast<std::size_t>(origin.index);
    const ReferenceTensor* from =
        nowhere ? nullptr : &operands[static_cast<std::size_t>(origin.input)];
    result.value.push_back(nowhere ? 0.0 : from->value.at(at));
    result.error.push_back(nowhere ? 0.0 : from->error.at(at));
  }
  return result;
}

/// The values of the node's outputs without its epilogue.
std::vector<ReferenceTensor> references_of(const NodeView& view,
                                           const std::vector<TensorType>& types,
                                           std::span<const ReferenceTensor> operands) {
  const Operator& op = operator_of(view.node());
  std::vector<ReferenceTensor> results;
  if (op.expand != nullptr) results = reference_composed(view, operands);
  if (!results.empty()) return results;
  if (op.host.references != nullptr) return op.host.references(view, operands);
  if (op.host.reference != nullptr) return {op.host.reference(view, operands)};
  if (op.chain != nullptr) {
    std::vector<ChainOperand> sources;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool there = view.has_input(i);
      sources.push_back({&operands[i], operands[i].shape, view.input(there ? i : 0).dtype});
    }
    results.push_back(evaluate(op.chain(view), sources, types[0].shape));
  } else if (op.host.alias) {
    results.push_back(operands[0]);
    results[0].shape = types[0].shape;
  } else if (op.host.origins != nullptr) {
    const auto origins = op.host.origins(view);
    for (std::size_t i = 0; i < origins.size(); ++i) {
      results.push_back(moved(origins[i], types[i].shape, operands));
    }
  } else {
    for (const Tensor& value : op.host.values(view)) results.push_back(to_reference(value));
  }
  return results;
}

}  // namespace

const std::vector<const Operator*>& operators() {
  static const std::vector<const Operator*> kOperators{
#define MORTON_OPERATOR(name) &operator_##name(),
#define MORTON_ROW(name, table) &row_of(table##_operators(), #name),
#define MORTON_ROW_OF(domain, name, table) &row_of(table##_operators(), #domain "." #name),
#include "ops/ops.def"
#undef MORTON_ROW_OF
#undef MORTON_ROW
#undef MORTON_OPERATOR
  };
  return kOperators;
}

const Operator* find_operator(std::string_view name) {
  const auto found = std::ranges::find(operators(), name, &Operator::name);
  return found == operators().end() ? nullptr : *found;
}

const Operator& operator_of(const Node& node) {
  if (const Operator* op = find_operator(node.op)) return *op;
  const std::string reason = reason_of_refusal(node.op);
  UnsupportedError error(
      "node '" + node.name + "': the operator '" + node.op + "' is not supported" +
      (reason.empty() ? names_near(node.op) : ": " + reason) +
      " (README.md lists those that are; " + setting("model_support") + " looks at every node)");
  error.put_down_to(node.name);
  throw error;
}

void check_supported(const Graph& graph, const Node& node) {
  check_declaration(NodeView(graph, node), operator_of(node));
  if (has_bodies(node.op)) (void)wiring_of(graph, node);
  for (const auto& [name, body] : node.bodies) {
    for (const Node& inner : body.graph->nodes) check_supported(*body.graph, inner);
  }
}

void check_inputs(const Graph& graph, const Node& node) {
  if (const Operator* op = find_operator(node.op)) check_inputs(NodeView(graph, node), *op);
}

std::vector<TensorType> infer(const Graph& graph, const Node& node) {
  const Operator& op = operator_of(node);
  const NodeView view(graph, node);
  check_declaration(view, op);
  std::vector<TensorType> types = own_types(view, op);
  for (std::size_t i = types.size(); i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    view.unsupported("output " + std::to_string(i) + " ('" + graph.tensor(node.outputs[i]).name +
                     "') is not supported");
  }
  check_sizes(view, types);
  check_epilogue(graph, view, types[0].shape);
  types[0].dtype = type_behind_epilogue(graph, view, types[0].dtype);
  return types;
}

ReferenceTensor reference(const Graph& graph, const Node& node,
                          std::span<const ReferenceTensor> inputs) {
  return std::move(references(graph, node, inputs).front());
}

std::vector<ReferenceTensor> references(const Graph& graph, const Node& node,
                                        std::span<const ReferenceTensor> inputs) {
  const NodeView view(graph, node);
  Node plain = node;
  plain.inputs.resize(view.input_count());
  plain.epilogue = Chain{};
  const std::vector<TensorType> types = infer(graph, plain);
  if (inputs.size() != node.inputs.size()) {
    throw InternalError(view.where() + ": the reference got " + std::to_string(inputs.size()) +
                        " values for " + std::to_string(node.inputs.size()) + " inputs");
  }
  std::vector<ReferenceTensor> results =
      references_of(view, types, inputs.first(view.input_count()));
  DType stored = types[0].dtype;
  if (!node.epilogue.is_identity()) {
    std::vector<ChainOperand> sources{{&results[0], results[0].shape, stored}};
    for (std::size_t i = view.input_count(); i < inputs.size(); ++i) {
      sources.push_back({&inputs[i], inputs[i].shape, graph.tensor(node.inputs[i]).dtype});
    }
    results[0] = evaluate(node.epilogue, sources, types[0].shape);
    stored = type_behind_epilogue(graph, view, stored);
  }
  results[0] = stored_as(stored, std::move(results[0]));
  for (std::size_t i = 1; i < results.size(); ++i) {
    results[i] = stored_as(types[i].dtype, std::move(results[i]));
  }
  return results;
}

ReferenceTensor to_reference(const Tensor& tensor) {
  ReferenceTensor result;
  result.shape = tensor.shape();
  result.value.resize(static_cast<std::size_t>(tensor.size()));
  result.error.resize(result.value.size(), 0.0);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.at(i);
    result.value[static_cast<std::size_t>(i)] = value;
    // Beyond 2^53 double holds no longer every whole number.
    const bool is_long = tensor.dtype() == DType::i64 || tensor.dtype() == DType::u64;
    if (is_long && std::fabs(value) >= kExactIntegers) {
      result.error[static_cast<std::size_t>(i)] = std::fabs(value) * 0x1p-52;
    }
  }
  return result;
}

}  // namespace morton::ops
