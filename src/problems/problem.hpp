// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/algebra/chain.hpp"
#include "base/algebra/expression.hpp"
#include "base/algebra/view.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "base/tensor_id.hpp"
#include "morton/dtype.hpp"
#include "morton/tensor.hpp"
#include "problems/family.hpp"

namespace morton::problems {

/// One thing to compute, without any layout: a family, sizes, types, and what is done to each value
/// before it is stored.
struct Problem {
  Family family;
  /// Sizes that a kernel takes as arguments: a new value compiles nothing.
  Environment extents;
  /// Sizes that are compiled into a kernel (filter, stride, padding, groups).
  Environment structure;
  /// Element type of each operand, and of the accumulator under "acc".
  NameMap<DType> types;
  /// Applied to every value of dst; input 0 is the value, input i the i-th side operand. For the
  /// elementwise family input 0 is src0 and every further input a side operand.
  Chain epilogue;
};

/// An operand's tie to a tensor of the graph.
struct Binding {
  TensorId tensor;  ///< of the graph, or a recipe's temporary
  View view;
};

/// A side operand of an epilogue: its elements, taken row-major as `shape`, broadcast (NumPy's
/// rule) against the tensor that dst is bound to. `shape` may differ from the tensor's own: the
/// bias of a convolution holds O elements and broadcasts as O x 1 x 1.
struct Side {
  TensorId tensor;
  Shape shape;
};

/// A node turned into a problem: what to compute, and where the operands are.
struct BoundProblem {
  Problem problem;
  NameMap<Binding> operands;
  std::vector<Side> sides;  ///< the epilogue's inputs 1, 2, ...
};

/// Extents and structure in one environment.
[[nodiscard]] Environment environment_of(const Problem& problem);

/// Elements of an operand, by the problem's sizes.
[[nodiscard]] MORTON_FOR_TOOLS std::int64_t elements_of(const OperandSchema& schema,
                                                        const Problem& problem);
/// Operations of the problem, without those that a kernel does for padding.
[[nodiscard]] double flop_of(const Problem& problem);
/// Bytes of its operands, each once.
[[nodiscard]] double bytes_of(const Problem& problem);

/// "gemm M=120 N=1 K=400 f32, tanh(add(v, s1))".
[[nodiscard]] MORTON_FOR_TOOLS std::string print(const Problem& problem);

}  // namespace morton::problems
