// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ops/operator.hpp"
#include "ops/window.hpp"

namespace morton {

/// What the two pools share.

/// The windows of a pool; besides what `window_of` checks, every window holds part of the image.
[[nodiscard]] Window pool_window(const NodeView& node);

[[nodiscard]] std::vector<TensorType> infer_pool(const NodeView& node);

/// The problem, lacking what only the average has.
[[nodiscard]] BoundProblem lower_pool(const NodeView& node, const std::string& family);

/// Calls `visit(plane, oh, ow)` for every element of the result in row-major order, `plane` being
/// the index of the image's first element in the source, and stores what it returns.
template <typename Visit>
[[nodiscard]] ReferenceTensor reference_pool(const Shape& image, const Window& window,
                                             const Visit& visit) {
  ReferenceTensor result;
  result.shape = {image[0], image[1], window.output[0], window.output[1]};
  for (std::int64_t plane = 0; plane < image[0] * image[1]; ++plane) {
    for (std::int64_t oh = 0; oh < window.output[0]; ++oh) {
      for (std::int64_t ow = 0; ow < window.output[1]; ++ow) {
        const Bounded value = visit(plane * image[2] * image[3], oh, ow);
        result.value.push_back(value.value);
        result.error.push_back(value.error);
      }
    }
  }
  return result;
}

}  // namespace morton
