// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"

namespace morton::ops {

/// Where a convolution of codes has its operands; zero points may be absent.
struct ConvolutionInputs {
  std::size_t x = 0, weights = 1, zero_x = 2, zero_weights = 3;
};

/// The sums of a convolution of codes: of (x - zero of x) * (weight - zero of weights), in 32 bits,
/// exact. What lies beyond the image is the zero point of x.
struct ConvolutionSums {
  /// i32, (groups x) outputs x (images * places) or as the result: `lines` has the shape of a
  /// number for each output.
  TensorId sums = kNoTensor;
  /// What `sums` has too much: i32, a number for each output. None: nothing.
  TensorId excess = kNoTensor;
  Shape lines;
  Shape result;  ///< N O and the places along each direction

  /// Numbers for each output, or one for all, so that they broadcast against the sums.
  [[nodiscard]] TensorId spread(GraphWriter& to, TensorId numbers) const;
  /// The sums without the excess.
  [[nodiscard]] TensorId whole(GraphWriter& to) const;
  /// `value`, which lies as the sums, in the shape of the result.
  [[nodiscard]] TensorId arranged(GraphWriter& to, TensorId value) const;
};

/// Throws ModelError where the operands or the attributes do not fit, and what a MatMulInteger
/// throws where a sum may not fit 32 bits.
[[nodiscard]] ConvolutionSums convolution_sums(Expansion& to, const ConvolutionInputs& at);

}  // namespace morton::ops
