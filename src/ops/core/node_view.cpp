// SPDX-License-Identifier: Apache-2.0
#include "ops/core/node_view.hpp"

#include <algorithm>
#include <set>

#include "base/algebra/typed_chain.hpp"
#include "base/unknown_shape.hpp"

namespace morton::ops {
namespace {

/// The inputs of the graph, of unknown value, that `id` depends on.
std::set<TensorId> open_inputs(const Graph& graph, TensorId id) {
  std::set<TensorId> needed{id};
  std::set<TensorId> open;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool computes = std::ranges::any_of(node->outputs, [&](TensorId output) {
      return needed.contains(output) && graph.tensor(output).planned() == nullptr;
    });
    if (computes) needed.insert(node->inputs.begin(), node->inputs.end());
  }
  for (const TensorId input : graph.inputs) {
    if (needed.contains(input) && graph.tensor(input).planned() == nullptr) open.insert(input);
  }
  return open;
}

}  // namespace

bool is_data(const GraphTensor& input) {
  return is_real(input.dtype) && std::max(input.declared.size(), input.shape.size()) > 1;
}

std::string NodeView::where() const { return node_->op + " '" + node_->name + "'"; }

void NodeView::fail(const std::string& what) const {
  ModelError error(where() + ": " + what);
  error.put_down_to(node_->name);
  throw error;
}

void NodeView::unsupported(const std::string& what) const {
  UnsupportedError error(where() + ": " + what);
  error.put_down_to(node_->name);
  throw error;
}

void NodeView::wait(const std::string& what) const {
  NeedsSegments error(where() + ": " + what);
  error.put_down_to(node_->name);
  throw error;
}

Shape NodeView::broadcast(const Shape& a, const Shape& b, const std::string& part) const {
  try {
    return morton::broadcast(a, b, where() + (part.empty() ? "" : ": " + part));
  } catch (Error& error) {
    error.put_down_to(node_->name);
    throw;
  }
}

bool NodeView::has_input(std::size_t i) const {
  return i < input_count() && node_->inputs[i] != kNoTensor;
}

TensorId NodeView::input_id(std::size_t i) const {
  if (!has_input(i)) fail("input " + std::to_string(i) + " is missing");
  return node_->inputs[i];
}

TensorType NodeView::input(std::size_t i) const {
  const GraphTensor& tensor = graph_->tensor(input_id(i));
  return {tensor.dtype, tensor.shape};
}

const Tensor* NodeView::constant(std::size_t i) const {
  if (!has_input(i)) return nullptr;
  return graph_->tensor(node_->inputs[i]).planned();
}

const Tensor& NodeView::value(std::size_t i) const {
  if (const Tensor* known = constant(i)) return *known;
  const GraphTensor& tensor = graph_->tensor(input_id(i));
  std::string open;
  bool needs_run = false;
  for (const TensorId id : open_inputs(*graph_, node_->inputs[i])) {
    open += (open.empty() ? "'" : ", '") + graph_->tensor(id).name + "'";
    needs_run = needs_run || is_data(graph_->tensor(id));
  }
  const std::string what = where() + ": the value of input " + std::to_string(i) + ", '" +
                           tensor.name + "', must be known when the model is planned";
  if (open.empty() || needs_run) {
    wait("the value of input " + std::to_string(i) + ", '" + tensor.name +
         "', must be known when the model is planned; a run computes it");
  }
  throw UnknownShape(what + " and follows from " + open + ": give the value when compiling, by " +
                     setting("values"));
}

std::vector<std::int64_t> NodeView::value_integers(std::size_t i) const {
  const Tensor& tensor = value(i);
  if (tensor.dtype() != DType::i64 && tensor.dtype() != DType::i32) {
    fail("input " + std::to_string(i) + " is " + std::string(name_of(tensor.dtype())) +
         ", expected i64 or i32");
  }
  return whole_numbers(tensor);
}

std::vector<std::int64_t> whole_numbers(const Tensor& tensor) {
  if (tensor.dtype() == DType::i64) {
    const auto list = tensor.as<std::int64_t>();
    return {list.begin(), list.end()};
  }
  const auto list = tensor.as<std::int32_t>();
  return {list.begin(), list.end()};
}

TensorId NodeView::output_id(std::size_t i) const {
  if (i >= node_->outputs.size()) fail("output " + std::to_string(i) + " is missing");
  return node_->outputs[i];
}

bool NodeView::wants_output(std::size_t i) const {
  return i == 0 || (i < node_->outputs.size() && node_->outputs[i] != kNoTensor);
}

TensorType NodeView::output(std::size_t i) const {
  const GraphTensor& tensor = graph_->tensor(output_id(i));
  return {tensor.dtype, tensor.shape};
}

template <typename T>
T NodeView::attribute(std::string_view name, T otherwise, const char* expected) const {
  const auto found = node_->attributes.find(std::string(name));
  if (found == node_->attributes.end()) return otherwise;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  fail("attribute '" + std::string(name) + "' should be " + expected);
}

std::int64_t NodeView::integer(std::string_view name, std::int64_t otherwise) const {
  return attribute<std::int64_t>(name, otherwise, "an integer");
}

double NodeView::real(std::string_view name, double otherwise) const {
  return attribute<double>(name, otherwise, "a real number");
}

std::string NodeView::text(std::string_view name, std::string_view otherwise) const {
  return attribute<std::string>(name, std::string(otherwise), "a text");
}

std::vector<std::int64_t> NodeView::integers(std::string_view name,
                                             std::vector<std::int64_t> otherwise) const {
  return attribute<std::vector<std::int64_t>>(name, std::move(otherwise), "a list of integers");
}

std::vector<double> NodeView::reals(std::string_view name, std::vector<double> otherwise) const {
  return attribute<std::vector<double>>(name, std::move(otherwise), "a list of reals");
}

bool NodeView::has(std::string_view name) const {
  return node_->attributes.contains(std::string(name));
}

bool NodeView::flag(std::string_view name, std::int64_t otherwise) const {
  const std::int64_t value = integer(name, otherwise);
  if (value != 0 && value != 1) {
    fail("attribute '" + std::string(name) + "' is " + std::to_string(value) + ", expected 0 or 1");
  }
  return value == 1;
}

std::size_t NodeView::axis(std::int64_t axis, std::size_t rank, std::int64_t last) const {
  const auto dimensions = static_cast<std::int64_t>(rank);
  if (axis < -dimensions || axis > last) {
    fail("axis " + std::to_string(axis) + " is outside [" + std::to_string(-dimensions) + ", " +
         std::to_string(last) + "] for " + std::to_string(rank) + " dimensions");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis);
}

std::size_t NodeView::axis_attribute() const {
  const std::size_t rank = input(0).shape.size();
  return axis(integer("axis", 0), rank, static_cast<std::int64_t>(rank) - 1);
}

}  // namespace morton::ops
