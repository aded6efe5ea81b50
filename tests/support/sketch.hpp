// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// A graph, written value by value: each is known by its name.
class Sketch {
 public:
  Sketch() { graph_.opset = 17; }

  Sketch& input(const std::string& name, const Shape& shape, DType type = DType::f32) {
    GraphTensor tensor{.name = name, .dtype = type, .kind = GraphTensor::Kind::input};
    tensor.shape = shape;
    for (const std::int64_t extent : shape) tensor.declared.push_back({extent, ""});
    graph_.inputs.push_back(graph_.add_tensor(std::move(tensor)));
    return *this;
  }

  /// A formal input of a body, of which nothing is known.
  Sketch& formal(const std::string& name) {
    graph_.inputs.push_back(graph_.add_tensor({.name = name, .kind = GraphTensor::Kind::input}));
    return *this;
  }

  Sketch& constant(const std::string& name, Tensor value) {
    graph_.add_tensor(graph::constant_tensor(name, std::move(value)));
    return *this;
  }
  Sketch& whole(const std::string& name, std::int64_t value) {
    return constant(name, Tensor::from({}, std::span<const std::int64_t>(&value, 1)));
  }
  Sketch& truth(const std::string& name, bool value) {
    Tensor tensor = Tensor::allocate(DType::boolean, {});
    tensor.set(0, value ? 1.0 : 0.0);
    return constant(name, std::move(tensor));
  }

  Sketch& node(const std::string& op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs,
               std::map<std::string, Attribute> attributes = {},
               std::map<std::string, Body> bodies = {}) {
    Node node{.op = op, .name = op + "_" + std::to_string(graph_.nodes.size())};
    for (const std::string& name : inputs) {
      node.inputs.push_back(name.empty() ? kNoTensor : graph_.find(name));
    }
    for (const std::string& name : outputs)
      node.outputs.push_back(graph_.add_tensor({.name = name}));
    node.attributes = std::move(attributes);
    node.bodies = std::move(bodies);
    graph_.nodes.push_back(std::move(node));
    return *this;
  }

  Graph graph(const std::vector<std::string>& outputs) {
    for (const std::string& name : outputs) graph_.outputs.push_back(graph_.find(name));
    return std::move(graph_);
  }
  Body body(const std::vector<std::string>& outputs, std::size_t captured) {
    return {std::make_shared<const Graph>(graph(outputs)), captured};
  }

 private:
  Graph graph_;
};

}  // namespace morton::test
