// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "ops/math/along.hpp"
#include "problems/reduce.hpp"

namespace morton::ops {

/// What an operator does with the elements that it makes one of: each is mapped, they are combined,
/// and the result is finished (problems/reduce.hpp).
struct Reduction {
  using Map = ReduceStructure::Map;
  using Combine = ReduceStructure::Combine;
  Map map = Map::none;
  Combine combine = Combine::sum;
  enum class Finish : std::uint8_t { none, mean, square_root, logarithm } finish = Finish::none;
};

/// The dimensions that a Reduce operator names: its attribute `axes`, or its input 1 where the
/// opset has it there; all where it names none, unless `noop_with_empty_axes` is 1.
[[nodiscard]] std::vector<std::size_t> reduced_axes(const NodeView& node);

/// All dimensions but the first two: those of an image. Throws ModelError where there is none.
[[nodiscard]] Along along_image(const NodeView& node);

/// The result of a Reduce operator.
[[nodiscard]] std::vector<TensorType> infer_reduction(const NodeView& node);
/// The result of a global pool, along all dimensions but the first two, which stay as 1.
[[nodiscard]] std::vector<TensorType> infer_global_pool(const NodeView& node);

[[nodiscard]] ReferenceTensor reference_reduction(const NodeView& node,
                                                  const ReferenceTensor& source,
                                                  const Reduction& reduction);
[[nodiscard]] BoundProblem lower_reduction(const NodeView& node, const Reduction& reduction);

/// The reduction of input 0 along any dimensions; the result is tensor `dst`.
[[nodiscard]] BoundProblem lower_along(const NodeView& node, const Along& along, Reduced reduced,
                                       const Reduction& reduction, TensorId dst);

[[nodiscard]] ReferenceTensor reference_global_pool(const NodeView& node,
                                                    const ReferenceTensor& source,
                                                    const Reduction& reduction);
[[nodiscard]] BoundProblem lower_global_pool(const NodeView& node, const Reduction& reduction);

/// Their gradients. Throw UnsupportedError for products, and for maps that have none.
void gradient_of_reduce(Gradient& gradient, const Reduction& reduction);
void gradient_of_global_pool(Gradient& gradient, const Reduction& reduction);

/// Those that are reduced: f32, f64 and integers, but for roots and logarithms, which are of
/// reals. The largest and the smallest are of bools too.
[[nodiscard]] std::vector<DType> types_of(const Reduction& reduction);

}  // namespace morton::ops
