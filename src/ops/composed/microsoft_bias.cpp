// SPDX-License-Identifier: Apache-2.0
//
// Biases and activations, as ONNX Runtime's optimiser writes them into files.
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// Input 0, and the bias of its last dimension (input 1) where there is one; in the type to compute
/// in.
TensorId biased(Expansion& out) {
  const NodeView& node = out.node();
  const Shape shape = node.input(0).shape;
  if (!node.has_input(1)) return widened(out, out.input(0));
  if (shape.empty()) node.fail("its input has no dimensions, and its bias has one");
  require_shape(node, 1, {shape.back()}, "the bias");
  return out.add("Add", {widened(out, out.input(0)), widened(out, out.input(1))});
}

/// The node's result, in the type of its input.
std::vector<TensorId> as_input(Expansion& out, TensorId result) {
  return {out.converted(result, out.node().input(0).dtype)};
}

std::vector<TensorId> expand_gelu(Expansion& out) {
  return as_input(out, out.add("Gelu", {biased(out)}));
}

std::vector<TensorId> expand_fast_gelu(Expansion& out) {
  return as_input(out, out.add("Gelu", {biased(out)}, {{"approximate", std::string("tanh")}}));
}

/// x * sigmoid(alpha * x).
std::vector<TensorId> expand_quick_gelu(Expansion& out) {
  const TensorId x = widened(out, out.input(0));
  const TensorId scaled = out.scaled(x, out.node().real("alpha", 1.702));
  return as_input(out, out.add("Mul", {x, out.add("Sigmoid", {scaled})}));
}

std::vector<TensorId> expand_bias_add(Expansion& out) {
  const NodeView& node = out.node();
  require_shape(node, 2, node.input(0).shape, "what is added");
  return as_input(out, out.add("Add", {biased(out), widened(out, out.input(2))}));
}

/// The softmax over all dimensions from `axis` on.
std::vector<TensorId> expand_bias_softmax(Expansion& out) {
  const NodeView& node = out.node();
  const Shape shape = node.input(0).shape;
  if (node.broadcast(node.input(1).shape, shape) != shape) {
    node.fail("the bias, " + to_string(node.input(1).shape) + ", does not broadcast to " +
              to_string(shape));
  }
  (void)node.flag("is_inner_broadcast", 0);  // both forms broadcast by the shapes
  const std::size_t axis =
      node.axis(node.integer("axis", 1), shape.size(), static_cast<std::int64_t>(shape.size()) - 1);
  const TensorId sum = out.add("Add", {widened(out, out.input(0)), widened(out, out.input(1))});
  if (axis + 1 == shape.size()) return as_input(out, out.add("Softmax", {sum}));
  const auto rows = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const TensorId matrix =
      out.reshaped(sum, {element_count({shape.begin(), rows}), element_count({rows, shape.end()})});
  return as_input(out, out.reshaped(out.add("Softmax", {matrix}), shape));
}

}  // namespace

const OperatorTable& microsoft_bias_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.BiasAdd", {.least = 3, .most = 3, .parameters = {1}}, {},
                       expand_bias_add),
      foreign_operator("com.microsoft.BiasGelu", {.least = 2, .most = 2, .parameters = {1}}, {},
                       expand_gelu),
      foreign_operator("com.microsoft.BiasSoftmax", {.least = 2, .most = 2},
                       {"axis", "is_inner_broadcast"}, expand_bias_softmax),
      foreign_operator("com.microsoft.FastGelu", {.least = 1, .most = 2, .parameters = {1}}, {},
                       expand_fast_gelu),
      foreign_operator("com.microsoft.Gelu", {}, {}, expand_gelu),
      foreign_operator("com.microsoft.QuickGelu", {}, {"alpha"}, expand_quick_gelu),
  };
  return kTable;
}

}  // namespace morton::ops
