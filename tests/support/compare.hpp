// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/core/operator.hpp"
#include "ops/core/transform_error.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Whether `got` may stand for `expected` give or take `tolerance`. A NaN stands for a NaN only,
/// and an infinite result for the same infinity; a tolerance that is infinite or NaN allows
/// nothing.
[[nodiscard]] bool matches(double expected, double tolerance, double got);

/// What comparing two tensors gave.
struct Comparison {
  std::int64_t count = 0;
  std::int64_t wrong = 0;
  /// Largest error in tolerances, over the elements that match.
  double worst = 0.0;
  /// The first few wrong elements with index, expected, tolerance and got; a wrong number of
  /// elements.
  std::string text;
  [[nodiscard]] bool ok() const { return wrong == 0 && text.empty(); }
};

/// Each element against the reference's value and `scale` times its error bound: 1, or
/// Winograd's factor (docs/numerics.md).
[[nodiscard]] Comparison compare(const ReferenceTensor& expected, std::span<const float> got,
                                 double scale = 1.0);

/// The same for a result of any type.
[[nodiscard]] Comparison compare(const ReferenceTensor& expected, const Tensor& got,
                                 double scale = 1.0);

/// Each element against the reference's value, which f32 holds exactly (integer-valued data).
[[nodiscard]] Comparison compare_exactly(const ReferenceTensor& expected,
                                         std::span<const float> got);
[[nodiscard]] Comparison compare_exactly(const ReferenceTensor& expected, const Tensor& got);

/// The reference of a whole graph: the value of each of its outputs. `inputs` holds every input;
/// `transform` is what the kernels may do to its convolutions.
[[nodiscard]] std::vector<ReferenceTensor> reference_outputs(const Graph& graph,
                                                             std::span<const NamedTensor> inputs,
                                                             const TransformError& transform = {});

}  // namespace morton::test
