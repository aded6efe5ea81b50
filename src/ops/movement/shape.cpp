// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

/// The extents from `start` to before `end`, both counted from the end where negative.
Shape extents_of(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = place(node.integer("start", 0));
  const std::int64_t end = std::max(start, place(node.integer("end", rank)));
  return {shape.begin() + start, shape.begin() + end};
}

std::vector<TensorType> infer_shape(const NodeView& node) {
  return {{DType::i64, {static_cast<std::int64_t>(extents_of(node).size())}}};
}

std::vector<Tensor> values_of_shape(const NodeView& node) {
  const Shape extents = extents_of(node);
  return {Tensor::from({static_cast<std::int64_t>(extents.size())},
                       std::span<const std::int64_t>(extents))};
}

}  // namespace

const Operator& operator_Shape() {
  static const Operator kOperator{
      .name = "Shape",
      .inputs = {.shapes_only = true},
      .attributes = {"start", "end"},
      .since_opset = 1,
      .infer = infer_shape,
      .host = {.values = values_of_shape},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
