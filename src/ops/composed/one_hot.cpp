// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/elementwise.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {
namespace {

std::int64_t depth_of(const NodeView& node) {
  const Tensor& depth = node.value(1);
  if (depth.size() != 1) {
    node.fail("its depth has " + std::to_string(depth.size()) + " numbers, expected one");
  }
  const double value = std::trunc(depth.at(0));
  if (!(value >= 1.0 && value <= 2147483647.0)) {
    node.fail("its depth is " + std::to_string(depth.at(0)) + ", expected 1 or more");
  }
  return static_cast<std::int64_t>(value);
}

/// The indices as i64, those below 0 counted from the end.
TensorId counted(Expansion& expansion, std::int64_t depth) {
  const TensorId indices = expansion.converted(expansion.input(0), DType::i64);
  Chain wrap;
  const ScalarRef index = ScalarRef::input(0);
  const ScalarRef below = wrap.append(ScalarOp::less, {index, ScalarRef::constant(0.0)});
  const ScalarRef behind =
      wrap.append(ScalarOp::add, {index, ScalarRef::constant(static_cast<double>(depth))});
  wrap.append(ScalarOp::select, {below, behind, index});
  return expansion.chain(wrap, {indices});
}

/// Each index beside every number below the depth.
std::vector<TensorId> expand_one_hot(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const std::int64_t depth = depth_of(node);
  const Shape shape = node.input(0).shape;
  if (node.input(2).shape != Shape{2}) {
    node.fail("its values are " + to_string(node.input(2).shape) + ", expected [2]: off and on");
  }
  const std::size_t rank = shape.size() + 1;
  if (rank > kMaxRank) node.unsupported("more than 8 dimensions");
  const std::size_t axis =
      node.axis(node.integer("axis", -1), rank, static_cast<std::int64_t>(rank) - 1);
  Shape apart = shape;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  Shape numbered(rank, 1);
  numbered[axis] = depth;
  const TensorId places = expansion.reshaped(counted(expansion, depth), apart);
  const TensorId names = expansion.numbered(0, numbered);
  const TensorId is_hot = expansion.add("Equal", {places, names});
  const TensorId values = expansion.input(2);
  const TensorId off = expansion.sliced(values, {0}, {1}, {1});
  const TensorId on = expansion.sliced(values, {1}, {2}, {1});
  return {expansion.add("Where", {is_hot, on, off})};
}

}  // namespace

const Operator& operator_OneHot() {
  static const Operator kOperator{
      .name = "OneHot",
      .inputs = {.least = 3, .most = 3, .planned = {1}},
      .attributes = {"axis"},
      .since_opset = 9,
      .expand = expand_one_hot,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
