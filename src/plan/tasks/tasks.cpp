// SPDX-License-Identifier: Apache-2.0
#include "plan/tasks/tasks.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"

namespace morton::plan {
namespace {

TaskTensor to_task_tensor(const GraphTensor& tensor) {
  TaskTensor result;
  result.name = tensor.name;
  result.dtype = tensor.dtype;
  switch (tensor.kind) {
    case GraphTensor::Kind::input:
      result.kind = TaskTensor::Kind::input;
      break;
    case GraphTensor::Kind::constant:
      result.kind = TaskTensor::Kind::constant;
      break;
    case GraphTensor::Kind::state:
      result.kind = TaskTensor::Kind::state;
      break;
    case GraphTensor::Kind::activation:
      result.kind = TaskTensor::Kind::activation;
      // What has no elements is known, whatever would compute it.
      if (element_count(tensor.shape) == 0) {
        result.kind = TaskTensor::Kind::constant;
        result.shape = tensor.shape;
        result.data = Tensor::allocate(tensor.dtype, tensor.shape);
        return result;
      }
      break;
  }
  const bool has_data =
      result.kind == TaskTensor::Kind::constant || result.kind == TaskTensor::Kind::state;
  result.shape = has_data ? tensor.data.shape() : tensor.shape;
  result.data = tensor.data;
  return result;
}

std::string task_name(const Node& node) {
  std::string name = node.name;
  for (const auto& fused : node.fused) name += "+" + fused;
  return name;
}

/// Kernels have at least one work-item, and OpenCL no empty buffers.
void check_elements(const BoundProblem& bound, const Node& node, const TaskList& list) {
  const auto check = [&](TensorId id) {
    const TaskTensor& tensor = list.tensors[id];
    if (element_count(tensor.shape) > 0) return;
    UnsupportedError error("plan: node '" + task_name(node) + "' computes with '" + tensor.name +
                           "' of shape " + to_string(tensor.shape) +
                           ", which has no elements to compute");
    error.put_down_to(node.name);
    throw error;
  };
  for (const auto& [role, binding] : bound.operands) check(binding.tensor);
  for (const Side& side : bound.sides) check(side.tensor);
}

/// The node's problems as tasks; of several each has its number.
void add_tasks(const Graph& graph, const Node& node, TaskList& list) {
  const std::string name = task_name(node);
  std::vector<BoundProblem> problems = lower(graph, node);
  const std::string count = std::to_string(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const std::string part =
        problems.size() > 1 ? " [" + std::to_string(i + 1) + "/" + count + "]" : "";
    check_elements(problems[i], node, list);
    ++list.tensors[tensor_of(problems[i], "dst")].parts;
    list.tasks.add({name + part, std::move(problems[i]), node.name});
  }
}

}  // namespace

TaskList make_tasks(const Graph& graph) {
  TaskList list;
  for (const auto& tensor : graph.tensors) list.tensors.add(to_task_tensor(tensor));
  for (const TensorId id : graph.inputs) list.inputs.emplace_back(graph.tensor(id).name, id);
  for (const TensorId id : graph.outputs) {
    list.outputs.emplace_back(graph.tensor(id).name, id);
    list.tensors[id].is_output = true;
  }
  for (const StateUpdate& update : graph.updates) {
    const GraphTensor& state = graph.tensor(update.state);
    const GraphTensor& value = graph.tensor(update.value);
    if (state.shape != value.shape || state.dtype != value.dtype) {
      throw ModelError("plan: state '" + state.name + "' is " + std::string(name_of(state.dtype)) +
                       " " + to_string(state.shape) + ", the value that it takes, '" + value.name +
                       "', is " + std::string(name_of(value.dtype)) + " " + to_string(value.shape));
    }
    list.updates.emplace_back(update.state, update.value);
  }
  for (const auto& node : graph.nodes) {
    const Operator* op = find_operator(node.op);
    if (op == nullptr) {
      UnsupportedError error("plan: node '" + node.name + "': no operator " + node.op);
      error.put_down_to(node.name);
      throw error;
    }
    if (op->host.alias) {
      list.tensors[node.outputs[0]].alias_of = node.inputs[0];
      continue;
    }
    add_tasks(graph, node, list);
  }
  return list;
}

TensorId tensor_of(const BoundProblem& bound, const std::string& role) {
  return bound.operands.at(role).tensor;
}

std::vector<std::string> dimensions_of(const BoundProblem& bound, const std::string& role) {
  return bound.operands.at(role).view.dimensions;
}

std::vector<std::string> numbered_dimensions(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) names.push_back("D" + std::to_string(d));
  return names;
}

BoundProblem elementwise_problem(TensorId src, TensorId dst, const Shape& shape, const Chain& chain,
                                 std::vector<Side> sides) {
  BoundProblem bound;
  bound.problem.family = families::elementwise;
  bound.problem.types = {{"src0", DType::f32}, {"dst", DType::f32}, {"acc", DType::f32}};
  bound.problem.epilogue = chain;
  const auto dimensions = numbered_dimensions(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) bound.problem.extents[dimensions[d]] = shape[d];
  bound.operands["src0"] = {src, View::identity(dimensions)};
  bound.operands["dst"] = {dst, View::identity(dimensions)};
  bound.sides = std::move(sides);
  return bound;
}

}  // namespace morton::plan
