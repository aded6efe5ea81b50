// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/composed/writing.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

/// The extents of the image that a pool with these windows would have had.
Shape unpooled_shape(const NodeView& node) {
  Shape shape = node.input(0).shape;
  if (shape.size() < 3) node.fail("its input needs a batch, channels and an image");
  const std::size_t rank = shape.size() - 2;
  if (!node.has("kernel_shape")) node.fail("the attribute 'kernel_shape' is missing");
  const auto kernel = numbers_from(node, "kernel_shape", rank, 1);
  const auto strides = numbers_from(node, "strides", rank, 1);
  const auto pads = numbers_from(node, "pads", 2 * rank, 0);
  for (std::size_t d = 0; d < rank; ++d) {
    shape[d + 2] = checked_mul(shape[d + 2] - 1, strides[d], "an unpooled image") + kernel[d] -
                   pads[d] - pads[rank + d];
    if (shape[d + 2] < 1) node.fail("its pads leave nothing of the image");
  }
  return shape;
}

std::vector<TensorId> expand_max_unpool(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Shape shape = unpooled_shape(node);
  if (node.input(1).dtype != DType::i64 || node.input(1).shape != node.input(0).shape) {
    node.fail("the indices are " + std::string(name_of(node.input(1).dtype)) + " " +
              to_string(node.input(1).shape) + ", expected i64 " + to_string(node.input(0).shape));
  }
  const std::int64_t count = element_count(node.input(0).shape);
  const TensorId image = zeros(expansion, node.input(0).dtype, {element_count(shape)});
  const TensorId flat =
      expansion.add("ScatterElements", {image, expansion.reshaped(expansion.input(1), {count}),
                                        expansion.reshaped(expansion.input(0), {count})});
  const TensorId result = expansion.reshaped(flat, shape);
  if (!node.has_input(2)) return {result};
  const Shape wanted = node.value_integers(2);
  std::vector<std::int64_t> behind;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    behind.push_back(wanted.size() == shape.size() ? wanted[d] - shape[d] : -1);
    if (behind.back() < 0) {
      node.fail("its output shape is " + to_string(wanted) + ", expected " + to_string(shape) +
                " or more");
    }
  }
  if (wanted == shape) return {result};
  return {expansion.padded(result, std::vector<std::int64_t>(shape.size(), 0), behind)};
}

}  // namespace

const Operator& operator_MaxUnpool() {
  static const Operator kOperator{
      .name = "MaxUnpool",
      .inputs = {.least = 2, .most = 3, .planned = {2}},
      .attributes = {"kernel_shape", "strides", "pads"},
      .since_opset = 9,
      .expand = expand_max_unpool,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64},
  };
  return kOperator;
}

}  // namespace morton::ops
