// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/made_constant.hpp"

namespace morton::ops {
namespace {

/// N, C and the extents of the image that the grid is for.
Shape grid_size(const NodeView& node) {
  const Shape size = node.value_integers(1);
  if (size.size() != 4 && size.size() != 5) {
    node.fail("its size has " + std::to_string(size.size()) + " numbers, expected 4 or 5");
  }
  for (const std::int64_t extent : size) {
    if (extent < 1) node.fail("its size is " + to_string(size) + ", expected 1 or more of each");
  }
  const auto rank = static_cast<std::int64_t>(size.size()) - 2;
  const Shape expected{size[0], rank, rank + 1};
  if (node.input(0).shape != expected) {
    node.fail("the matrices are " + to_string(node.input(0).shape) + ", expected " +
              to_string(expected));
  }
  return size;
}

/// The places of an image's elements, from -1 to 1, innermost dimension first, and a 1 behind them.
/// With `corners` the only element of an extent of 1 is in the middle, as in PyTorch.
Tensor places_in_image(DType type, const Shape& image, bool corners, const std::string& where) {
  const auto rank = static_cast<std::int64_t>(image.size());
  const std::int64_t count = element_count(image);
  Tensor places = made_constant(type, {1, count, rank + 1}, where);
  for (std::int64_t e = 0; e < count; ++e) {
    std::int64_t rest = e;
    for (std::int64_t k = 0; k < rank; ++k) {
      const std::int64_t extent = image[static_cast<std::size_t>(rank - 1 - k)];
      const auto at = static_cast<double>(rest % extent);
      const auto whole = static_cast<double>(extent);
      const double place = corners ? (extent == 1 ? 0.0 : 2.0 * at / (whole - 1.0) - 1.0)
                                   : (2.0 * at + 1.0) / whole - 1.0;
      places.set(e * (rank + 1) + k, place);
      rest /= extent;
    }
    places.set(e * (rank + 1) + rank, 1.0);
  }
  return places;
}

std::vector<TensorId> expand_affine_grid(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Shape size = grid_size(node);
  const Shape image(size.begin() + 2, size.end());
  const bool corners = node.flag("align_corners", 0);
  const DType type = node.input(0).dtype == DType::f64 ? DType::f64 : DType::f32;
  const TensorId matrices = expansion.converted(expansion.input(0), type);
  const TensorId grid = expansion.add(
      "MatMul", {expansion.constant(places_in_image(type, image, corners, node.where())),
                 expansion.transposed(matrices, {0, 2, 1})});
  Shape shape{size[0]};
  shape.insert(shape.end(), image.begin(), image.end());
  shape.push_back(static_cast<std::int64_t>(image.size()));
  return {expansion.reshaped(expansion.converted(grid, node.input(0).dtype), shape)};
}

}  // namespace

const Operator& operator_AffineGrid() {
  static const Operator kOperator{
      .name = "AffineGrid",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .attributes = {"align_corners"},
      .since_opset = 20,
      .expand = expand_affine_grid,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64},
  };
  return kOperator;
}

}  // namespace morton::ops
