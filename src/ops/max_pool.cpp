// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/pool.hpp"

namespace morton {
namespace {

/// The largest element under each window. Exact but for the errors of its input: the result moves
/// by at most the largest error under the window.
ReferenceTensor reference_max(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Window window = pool_window(node);
  const ReferenceTensor& source = inputs[0];
  const Shape& image = source.shape;
  const auto visit = [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
    Bounded largest{-std::numeric_limits<double>::infinity(), 0.0};
    for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
      for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
        const std::int64_t h = window.at(0, oh, kh);
        const std::int64_t w = window.at(1, ow, kw);
        if (h < 0 || h >= image[2] || w < 0 || w >= image[3]) continue;
        const auto at = static_cast<std::size_t>(plane + h * image[3] + w);
        const double value = source.value[at];
        // A NaN is kept once met: nothing compares with it.
        if (!(value <= largest.value) && !std::isnan(largest.value)) largest.value = value;
        largest.error = std::max(largest.error, source.error[at]);
      }
    }
    return largest;
  };
  return reference_pool(image, window, visit);
}

}  // namespace

const Operator& operator_MaxPool() {
  // The second output, the indices, is refused where types are checked; `storage_order` tells how
  // they are counted and has no other meaning.
  static const Operator kOperator{
      .name = "MaxPool",
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode",
                     "storage_order"},
      .since_opset = 1,
      .infer = infer_pool,
      .reference = reference_max,
      .lower = [](const NodeView& node) { return lower_pool(node, "max_pool2d"); },
  };
  return kOperator;
}

}  // namespace morton
