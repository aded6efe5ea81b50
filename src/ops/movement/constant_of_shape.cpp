// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "ops/core/operator.hpp"

namespace morton::ops {
namespace {

/// One element of the result; a float 0 where the attribute is absent.
Tensor element_of(const NodeView& node) {
  const auto found = node.node().attributes.find("value");
  if (found == node.node().attributes.end()) return Tensor::allocate(DType::f32, {1});
  const auto* value = std::get_if<Tensor>(&found->second);
  if (value == nullptr || value->size() != 1) {
    node.fail("attribute 'value' should be a tensor of one element");
  }
  return *value;
}

std::vector<TensorType> infer_constant_of_shape(const NodeView& node) {
  const auto extents = node.value_integers(0);
  if (extents.size() > kMaxRank) node.unsupported("more than 8 dimensions");
  for (const std::int64_t extent : extents) {
    if (extent < 0) node.fail("the extent " + std::to_string(extent) + " is negative");
  }
  return {{element_of(node).dtype(), {extents.begin(), extents.end()}}};
}

std::vector<Tensor> values_of_constant_of_shape(const NodeView& node) {
  const TensorType type = infer_constant_of_shape(node)[0];
  const Tensor element = element_of(node);
  Tensor result = Tensor::allocate(type.dtype, type.shape);
  for (std::size_t at = 0; at < result.bytes(); at += element.bytes()) {
    std::memcpy(result.mutable_data() + at, element.data(), element.bytes());
  }
  return {result};
}

}  // namespace

const Operator& operator_ConstantOfShape() {
  static const Operator kOperator{
      .name = "ConstantOfShape",
      .inputs = {.planned = {0}},
      .attributes = {"value"},
      .since_opset = 9,
      .infer = infer_constant_of_shape,
      .host = {.values = values_of_constant_of_shape},
      .takes_epilogue = false,
  };
  return kOperator;
}

}  // namespace morton::ops
