// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/planes.hpp"
#include "ops/math/window.hpp"

namespace morton::ops {

/// What Conv and ConvTranspose share. `extents` are those of the result, N O OH OW.

/// Where an element of the result stands.
struct ConvolutionPosition {
  std::int64_t n, o, oh, ow;
};

/// Throws ModelError unless input 2, the bias, is absent or has one number for each of `outputs`
/// channels.
void check_bias(const NodeView& node, std::int64_t outputs);

/// `sums`, and to each its channel's bias where the node has one.
[[nodiscard]] ReferenceTensor with_bias(const NodeView& node, const ImageShape& source,
                                        ReferenceTensor sums,
                                        std::span<const ReferenceTensor> inputs);

/// Calls `sum_at(position)` for every element of the result, and adds the bias.
template <typename SumAt>
[[nodiscard]] ReferenceTensor reference_convolution(const NodeView& node, const ImageShape& source,
                                                    const Shape& extents,
                                                    std::span<const ReferenceTensor> inputs,
                                                    const SumAt& sum_at) {
  ReferenceTensor sums =
      reference_planes(source, extents, [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
        return sum_at(ConvolutionPosition{plane / extents[1], plane % extents[1], oh, ow});
      });
  return with_bias(node, source, std::move(sums), inputs);
}

/// Gives the gradient of input 2, the bias: the sum over all images and positions.
void give_bias_gradient(Gradient& gradient);

/// The problem without its weights and its structure, and without a bias.
[[nodiscard]] BoundProblem lower_sums(const NodeView& node, Family family, const ImageShape& source,
                                      const Shape& extents);
/// The same with a bias, which is input 2 where the node has one.
[[nodiscard]] BoundProblem lower_convolution(const NodeView& node, Family family,
                                             const ImageShape& source, const Shape& extents);

}  // namespace morton::ops
