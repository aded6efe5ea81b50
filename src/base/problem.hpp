// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/chain.hpp"
#include "base/expression.hpp"
#include "base/view.hpp"
#include "morton/dtype.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// One operand of a family of problems: its name and its dimensions. A family whose operands have
/// any number of dimensions (elementwise, pack) lists none; its problems name theirs D0, D1, ...
struct OperandSchema {
  enum class Role { input, output } role = Role::input;
  std::string_view name;
  std::vector<std::string_view> dimensions;
};

/// What kernels can be asked to compute. A family has operands with their dimensions, extents (the
/// dimensions' sizes), and structure. All there are:
///
/// - gemm: dst[M,N] = sum over k of lhs[M,K] * rhs[K,N].
/// - batched_gemm: the same for each b: dst[B,M,N] = sum over k of lhs[B,M,K] * rhs[B,K,N]. Its
///   kernels are those of gemm (catalogue/batched.hpp).
/// - integer_gemm: dst[M,N] = sum over k of (lhs[M,K] - ZL) * (rhs[K,N] - ZR) in 32-bit integers,
///   for 8-bit operands; structure ZL ZR. Its epilogue works on the sum as f32.
/// - conv2d: dst[N,O,OH,OW] = sum over i, kh, kw of src[N,C,H,W] * weights[O,I,KH,KW];
///   structure KH KW SH SW DH DW PT PL G I.
/// - max_pool2d: dst[N,C,OH,OW] = max over the window of src[N,C,H,W];
///   structure KH KW SH SW DH DW PT PL.
/// - average_pool2d: dst[N,C,OH,OW] = sum over the window of src[N,C,H,W] / count;
///   structure as max_pool2d, and PB PR COUNT_PAD.
/// - elementwise: dst = epilogue(src0, side 1, ...), of any rank, dimensions D0 D1 ...
/// - bias: dst[M,N] = src[M,N] + bias[M]; sigmoid: dst[M,N] = 1 / (1 + exp(-src[M,N])); relu:
///   dst[M,N] = max(src[M,N], 0). Elementwise problems that the plan also poses as these
///   (plan/narrow.hpp), for kernels that demand formats (R17, chapter 9).
/// - sum: dst[M,N] = sum over b of src[B,M,N].
/// - softmax: dst[R,L] = exp(src[R,L] - max over l) / sum over l of the same.
/// - pack: dst = src, of any rank, dimensions D0 D1 ..., in another arrangement.
///
/// - winograd_weights: dst[X,O,C] = (G w G') of the filter w = src[O,C,U,V]; structure OUT.
/// - winograd_input: dst[X,C,T] = (B' d B) of the patch d = src[C,T,P,Q]; structure OUT.
/// - winograd_output: dst[O,T,Y,Z] = (A' m A) of m = src[X,O,T]; structure OUT.
///
/// Winograd's minimal filtering F(OUT x OUT, 3x3) (A. Lavin and S. Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2015): T tiles of OUT x OUT results, each from a patch of
/// P x Q = (OUT+2) x (OUT+2) elements, X = P * Q products; G, B and A are constants that OUT gives.
///
/// A window of conv2d and of the pools reads src at row oh * SH + kh * DH - PT and column
/// ow * SW + kw * DW - PL; what lies outside the image counts as 0 in conv2d and is left out in the
/// pools. OH and OW are given, so padding below and to the right is whatever the windows reach.
///
/// average_pool2d divides by the number of rows times the number of columns of the window that
/// count: with COUNT_PAD 0 those inside the image (0 <= row < H), with COUNT_PAD 1 those inside the
/// padded image (-PT <= row < H + PB): a window may hang over even that, and the overhang never
/// counts.
///
/// Groups of conv2d: I = C / G, and output channel o reads the channels (o / (O / G)) * I + i.
///
/// Extents may hold more names than a family has: those of tensor dimensions that a view joins.
struct ProblemFamily {
  std::string_view name;
  std::vector<OperandSchema> operands;
  /// Names of its structure, in the order of the table above; every other dimension is an extent.
  std::vector<std::string_view> structure = {};
};

/// The family named `name`, or nullptr.
[[nodiscard]] const ProblemFamily* find_problem_family(std::string_view name);
/// All families, in the order of the table above.
[[nodiscard]] const std::vector<ProblemFamily>& problem_families();

/// One thing to compute, without any layout: a family, sizes, types, and what is done to each value
/// before it is stored.
struct Problem {
  std::string family;
  /// Sizes that a kernel takes as arguments: a new value compiles nothing.
  Environment extents;
  /// Sizes that are compiled into a kernel (filter, stride, padding, groups).
  Environment structure;
  /// Element type of each operand, and of the accumulator under "acc".
  std::map<std::string, DType> types;
  /// Applied to every value of dst; input 0 is the value, input i the i-th side operand. For the
  /// elementwise family input 0 is src0 and every further input a side operand.
  Chain epilogue;
};

/// An operand's tie to a tensor of the graph.
struct Binding {
  int tensor = -1;  ///< index into the graph's (or a recipe's) tensors
  View view;
};

/// A side operand of an epilogue: its elements, taken row-major as `shape`, broadcast (NumPy's
/// rule) against the tensor that dst is bound to. `shape` may differ from the tensor's own: the
/// bias of a convolution holds O elements and broadcasts as O x 1 x 1.
struct Side {
  int tensor = -1;
  Shape shape;
};

/// A node turned into a problem: what to compute, and where the operands are.
struct BoundProblem {
  Problem problem;
  std::map<std::string, Binding> operands;
  std::vector<Side> sides;  ///< the epilogue's inputs 1, 2, ...
};

/// Extents and structure in one environment.
[[nodiscard]] Environment environment_of(const Problem& problem);

/// "gemm M=120 N=1 K=400 f32, tanh(add(v, s1))".
[[nodiscard]] std::string print(const Problem& problem);

}  // namespace morton
