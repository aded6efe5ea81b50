// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// The extents that it crops and pads to, of all dimensions.
Shape centered_shape(const NodeView& node) {
  Shape result = node.input(0).shape;
  std::vector<std::int64_t> every(result.size());
  std::iota(every.begin(), every.end(), std::int64_t{0});
  const auto axes = axes_from(node, node.integers("axes", every), result.size());
  const std::vector<std::int64_t> wanted = node.value_integers(1);
  if (wanted.size() != axes.size()) {
    node.fail("its shape has " + std::to_string(wanted.size()) + " numbers for " +
              std::to_string(axes.size()) + " axes");
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (wanted[a] < 1) {
      node.fail("its shape asks for an extent of " + std::to_string(wanted[a]) +
                ", expected 1 or more");
    }
    result[axes[a]] = wanted[a];
  }
  return result;
}

std::vector<TensorId> expand_center_crop_pad(Expansion& expansion) {
  const Shape wanted = centered_shape(expansion.node());
  const Shape shape = expansion.node().input(0).shape;
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> starts(rank, 0);
  std::vector<std::int64_t> ends(rank);
  std::vector<std::int64_t> before(rank, 0);
  std::vector<std::int64_t> behind(rank, 0);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t kept = std::min(shape[d], wanted[d]);
    starts[d] = (shape[d] - kept) / 2;
    ends[d] = starts[d] + kept;
    before[d] = (wanted[d] - kept) / 2;
    behind[d] = wanted[d] - kept - before[d];
  }
  TensorId result = expansion.input(0);
  const std::vector<std::int64_t> steps(rank, 1);
  if (Shape(ends) != shape) result = expansion.sliced(result, starts, ends, steps);
  if (expansion.shape_of(result) != wanted) result = expansion.padded(result, before, behind);
  return {result};
}

}  // namespace

const Operator& operator_CenterCropPad() {
  static const Operator kOperator{
      .name = "CenterCropPad",
      .inputs = {.least = 2, .most = 2, .planned = {1}},
      .attributes = {"axes"},
      .since_opset = 18,
      .expand = expand_center_crop_pad,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
