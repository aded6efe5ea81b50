// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

/// a * sigmoid(alpha * a) * b.
std::vector<TensorId> expand_swi_glu(Expansion& out) {
  const NodeView& node = out.node();
  require_real(node, 0);
  require_shape(node, 1, node.input(0).shape, "the linear input");
  const DType type = node.input(0).dtype;
  if (node.input(1).dtype != type) {
    node.fail("its inputs are of types " + std::string(name_of(type)) + " and " +
              std::string(name_of(node.input(1).dtype)) + ", expected one type");
  }
  const TensorId gate = widened(out, out.input(0));
  const TensorId share = out.add("Sigmoid", {out.scaled(gate, node.real("alpha", 1.0))});
  const TensorId swished = out.add("Mul", {gate, share});
  return {out.converted(out.add("Mul", {swished, widened(out, out.input(1))}), type)};
}

}  // namespace

const Operator& operator_SwiGLU() {
  static const Operator kOperator{
      .name = "SwiGLU",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"alpha"},
      .since_opset = 28,
      .expand = expand_swi_glu,
  };
  return kOperator;
}

}  // namespace morton::ops
