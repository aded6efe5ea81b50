// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

/// The shape that input 1 spells: 0 copies the input's extent (a real 0 under `allowzero`), one -1
/// is what remains.
std::vector<TensorType> infer_reshape(const NodeView& node) {
  const TensorType input = node.input(0);
  const Tensor& target = node.value(1);
  if (target.dtype() != DType::i64 || target.shape().size() != 1) {
    node.fail("the shape (input 1) must be a list of i64, got " +
              std::string(name_of(target.dtype())) + " " + to_string(target.shape()));
  }
  const auto asked = target.as<std::int64_t>();
  if (asked.size() > kMaxRank) node.unsupported("more than 8 dimensions");
  Shape shape(asked.begin(), asked.end());
  const bool allow_zero = node.flag("allowzero", 0);
  std::size_t open = shape.size();
  std::int64_t known = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < -1 || (shape[d] == -1 && open != shape.size())) {
      node.fail("cannot reshape to " + to_string(shape) + ": one -1 at most, no lower extent");
    }
    if (shape[d] == 0 && !allow_zero) {
      if (d >= input.shape.size()) {
        node.fail("extent 0 at " + std::to_string(d) + " copies from " + to_string(input.shape) +
                  ", which has no such dimension");
      }
      shape[d] = input.shape[d];
    }
    if (shape[d] == -1) {
      open = d;
    } else {
      known = checked_mul(known, shape[d], "Reshape");
    }
  }
  const std::int64_t count = element_count(input.shape);
  if (open != shape.size()) {
    if (known == 0 || count % known != 0) {
      node.fail(to_string(input.shape) + " cannot be reshaped to " + to_string(shape));
    }
    shape[open] = count / known;
    known = count;
  }
  if (known != count) {
    node.fail(to_string(input.shape) + " has " + std::to_string(count) +
              " elements and cannot be reshaped to " + to_string(shape));
  }
  return {{input.dtype, shape}};
}

}  // namespace

const Operator& operator_Reshape() {
  static const Operator kOperator{
      .name = "Reshape",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .attributes = {"allowzero"},
      .since_opset = 5,
      .infer = infer_reshape,
      .host = {.alias = true},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
