// SPDX-License-Identifier: Apache-2.0
#include "passes/conversion/raise_rules.hpp"
#include "passes/rewrite.hpp"

namespace morton::passes {

std::optional<DType> NodeRaise::input_type(std::size_t i) {
  return has_input(i) ? types_[node().inputs[i]] : std::nullopt;
}

const Shape* NodeRaise::input_shape(std::size_t i) {
  if (!has_input(i)) return nullptr;
  const auto found = shapes_.find(graph_.tensor(node().inputs[i]).name);
  return found == shapes_.end() ? nullptr : &found->second;
}

void NodeRaise::set_input(std::size_t i, const std::string& name, Tensor data) {
  const TensorId id = add_constant(graph_, scope_ + node().name + "_" + name, std::move(data));
  if (node().inputs.size() <= i) node().inputs.resize(i + 1, kNoTensor);
  node().inputs[i] = id;
}

TensorId NodeRaise::add(const std::string& op, std::vector<TensorId> inputs, DType type,
                        std::map<std::string, Attribute> attributes) {
  const std::string name = scope_ + node().name + "_" + op;
  const TensorId result = add_activation(graph_, name, type, {});
  graph_.nodes.push_back({.op = op,
                          .name = unused_node_name(graph_, name),
                          .inputs = std::move(inputs),
                          .outputs = {result},
                          .attributes = std::move(attributes)});
  return result;
}

TensorId NodeRaise::replace_result(DType type) {
  const TensorId before = node().outputs[0];
  node().outputs[0] = add_activation(graph_, scope_ + node().name + "_of_rows", type, {});
  return before;
}

void NodeRaise::add_writing(const std::string& op, std::vector<TensorId> inputs, TensorId result) {
  graph_.nodes.push_back({.op = op,
                          .name = unused_node_name(graph_, node().name + "_" + op),
                          .inputs = std::move(inputs),
                          .outputs = {result}});
}

}  // namespace morton::passes
