// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

void check_causal_conv(const NodeView& node) {
  require_real(node, 0);
  require_rank(node, 0, 3, "its input");
  require_rank(node, 1, 3, "the filter");
  const Shape shape = node.input(0).shape;
  const std::int64_t length = node.input(1).shape[2];
  require_shape(node, 1, {shape[1], 1, length}, "the filter");
  if (length < 1) node.fail("its filter has no elements");
  require_shape(node, 2, {shape[1]}, "the bias");
  require_shape(node, 3, {shape[0], shape[1], length - 1}, "past_state");
  const std::string activation = node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    node.fail("activation is '" + activation + "', expected none, silu or swish");
  }
}

/// Each channel's own convolution over what came before and itself. Output 1 is what the next call
/// takes for the past.
std::vector<TensorId> expand_causal_conv(Expansion& out) {
  const NodeView& node = out.node();
  check_causal_conv(node);
  const Shape shape = node.input(0).shape;
  const DType type = node.input(0).dtype;
  const std::int64_t past = node.input(1).shape[2] - 1;
  TensorId whole = out.input(0);
  if (past > 0) {
    whole = node.has_input(3) ? out.add("Concat", {out.converted(out.input(3), type), whole},
                                        {{"axis", std::int64_t{2}}})
                              : out.padded(whole, {0, 0, past}, {0, 0, 0});
  }
  TensorId result =
      out.add("Conv", {widened(out, whole), widened(out, out.input(1)), widened(out, out.input(2))},
              {{"group", shape[1]}});
  if (node.text("activation", "none") != "none") {
    result = out.add("Mul", {result, out.add("Sigmoid", {result})});
  }
  const std::int64_t length = past + shape[2];
  const TensorId state = past > 0 ? part_along(out, whole, 2, length - past, length)
                                  : out.constant(Tensor::allocate(type, {shape[0], shape[1], 0}));
  return {out.converted(result, type), state};
}

}  // namespace

const Operator& operator_CausalConvWithState() {
  static const Operator kOperator{
      .name = "CausalConvWithState",
      .inputs = {.least = 2, .most = 4, .parameters = {1, 2}},
      .attributes = {"activation"},
      .since_opset = 27,
      .expand = expand_causal_conv,
  };
  return kOperator;
}

}  // namespace morton::ops
