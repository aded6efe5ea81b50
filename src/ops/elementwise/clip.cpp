// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"

namespace morton::ops {
namespace {

void check_limits(const NodeView& node) {
  const bool as_attributes = node.has("min") || node.has("max");
  if (as_attributes && node.opset() >= 11) node.fail("min and max are inputs from opset 11 on");
  if (node.input_count() > 1 && node.opset() < 11) {
    node.fail("min and max are attributes before opset 11");
  }
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (node.has_input(i) && element_count(node.input(i).shape) != 1) {
      node.fail("limit " + std::to_string(i) + " has the shape " + to_string(node.input(i).shape) +
                "; expected a scalar");
    }
  }
}

/// Opset 6 states the limits as attributes, by default the largest of f32; opset 11 and later as
/// inputs that may be missing. As ONNX has it, a least value above the largest gives the largest.
Chain clip_chain(const NodeView& node) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Chain chain;
  chain.input_count = static_cast<int>(node.input_count());
  ScalarRef value = ScalarRef::input(0);
  const auto limit = [&](std::size_t input, std::string_view attribute, ScalarOp op,
                         double otherwise) {
    // A value that is no number stays, so it stands first. Of two equal arguments the limit is to
    // be the one whose gradient counts (base/algebra/derivative.hpp): as a constant it is.
    if (const Tensor* known = node.has_input(input) ? node.constant(input) : nullptr;
        known != nullptr && is_real(known->dtype())) {
      value = chain.append(op, {value, ScalarRef::constant(known->at(0))});
    } else if (node.has_input(input)) {
      const ScalarRef bound = ScalarRef::input(static_cast<int>(input));
      const bool is_least = op == ScalarOp::max;
      const ScalarRef beyond =
          chain.append(ScalarOp::less_equal, {is_least ? value : bound, is_least ? bound : value});
      value = chain.append(ScalarOp::select, {beyond, bound, value});
    } else if (node.has(attribute) || node.opset() < 11) {
      value = chain.append(op, {value, ScalarRef::constant(node.real(attribute, otherwise))});
    }
  };
  check_limits(node);
  limit(1, "min", ScalarOp::max, -kLargest);
  limit(2, "max", ScalarOp::min, kLargest);
  return chain;
}

}  // namespace

const Operator& operator_Clip() {
  static const Operator kOperator{
      .name = "Clip",
      .inputs = {.most = 3},
      .attributes = {"min", "max"},
      .since_opset = 6,
      .chain = clip_chain,
      .types = number_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
