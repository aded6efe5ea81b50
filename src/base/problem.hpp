// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/algebra/chain.hpp"
#include "base/algebra/expression.hpp"
#include "base/algebra/view.hpp"
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
///   kernels are those of gemm (catalogue/batched.hpp). filter_gemm: with one lhs[M,K] for all b.
/// - integer_gemm: dst[M,N] = sum over k of (lhs[M,K] - ZL) * (rhs[K,N] - ZR) in 32-bit integers,
///   for 8-bit operands; structure ZL ZR. Its epilogue's input 0 is the sum, i32.
/// - conv2d: dst[N,O,OH,OW] = sum over i, kh, kw of src[N,C,H,W] * weights[O,I,KH,KW];
///   structure KH KW SH SW DH DW PT PL G I.
/// - max_pool2d: dst[N,C,OH,OW] = max over the window of src[N,C,H,W];
///   structure KH KW SH SW DH DW PT PL.
/// - average_pool2d: dst = sum over the window of src / count; as max_pool2d, and PB PR COUNT_PAD.
/// - conv2d_pool: either pool behind conv2d, in one step; base/pooled_map.hpp says all of it.
/// - lp_pool2d: dst[N,C,OH,OW] = (sum over the window of |src[N,C,H,W]|^P)^(1/P);
///   structure as max_pool2d, and P.
/// - max_pool2d_indices: dst[N,C,OH,OW] = place in src[N,C,H,W] of the element that max_pool2d
///   takes, the first where several are largest; structure as max_pool2d, and COLUMNS.
/// - max_pool2d_gradient: dst[N,C,H,W] = sum of the above[N,C,OH,OW] in whose windows src[N,C,H,W]
///   is the element that max_pool2d takes, the first where several are largest; structure as
///   max_pool2d.
/// - conv_transpose2d: dst[N,O,OH,OW] = sum over c, kh, kw of src[N,C,H,W] * weights[C,J,KH,KW];
///   structure KH KW SH SW DH DW PT PL G J.
/// - resize2d: dst[C,OH,OW] = weighted sum of src[C,H,W] around row p and column q; parameters
///   HN HA HD WN WA WD, structure TAPS EXCLUDE CUBIC.
/// - elementwise: dst = epilogue(src0, side 1, ...), of any rank, dimensions D0 D1 ...
/// - bias: dst[M,N] = src[M,N] + bias[M]; sigmoid: dst[M,N] = 1 / (1 + exp(-src[M,N])); relu:
///   dst[M,N] = max(src[M,N], 0). Elementwise problems that the plan also poses as these
///   (plan/search/narrow.hpp), for kernels that demand formats (R17, chapter 9).
/// - sum: dst[M,N] = sum over b of src[B,M,N].
/// - unfold2d: dst[N,K,P] = src[N,C,H,W] where a window of conv2d reads it: k = (c*KH + kh)*KW + kw
///   and p = oh*OW + ow; structure KH KW SH SW DH DW PT PL, parameters OH OW.
/// - fold2d: dst[N,O,OH,OW] = sum of the src[N,K,P] that a window of conv_transpose2d puts there:
///   k = (o*KH + kh)*KW + kw and p = h*W + w; structure KH KW SH SW DH DW PT PL, parameters H W.
/// - reduce: dst[P,M,N] = the map of src[M,L,N], combined over the l of part p, which are from
///   p * DEPTH on below (p + 1) * DEPTH and L. MAP 0: v, 1: |v|, 2: v * v; COMBINE 0: sum, 1:
///   product, 2: smallest, 3: largest; MEAN 1: divided by COUNT; structure MAP COMBINE MEAN,
///   parameters DEPTH COUNT. Operators have one part; more are the first stage of a long sum.
/// - log_sum_exp: dst[M,N] = log(sum over l of exp(src[M,L,N])).
/// - inverse_deviation: dst[M,N] = 1 / sqrt(variance over l of src[M,L,N] + e); structure EPSILON,
///   the bits of e as an f32.
/// - arg_max: dst[M,N] = the l of the largest src[M,L,N], the first of equals; SMALLEST 1: of the
///   smallest; LAST 1: the last of equals; structure SMALLEST LAST.
/// - softmax: dst[M,L,N] = exp(src[M,L,N] - max over l) / sum over l of the same; LOG 1: the
///   logarithm of that; structure LOG.
/// - hardmax: dst[M,L,N] = 1 where l is the first of the largest src[M,L,N] along l, else 0.
/// - normalize: dst[M,L,N] = src[M,L,N] in other units, all along l. KIND 0: (v - mean) /
///   sqrt(variance + e); 1: v / sum of |v|; 2: v / sqrt(sum of v * v); structure KIND, EPSILON, the
///   bits of e as an f32.
/// - top_k: dst[M,K,N] = the K largest src[M,L,N] along l, in their order, the first of equals
///   first; SMALLEST 1: the K smallest; INDICES 1: their l; structure SMALLEST INDICES.
/// - cumulative_sum: dst[M,L,N] = sum over all j <= l of src[M,J,N]; EXCLUSIVE 1: j < l; REVERSE 1:
///   j >= l and j > l; structure EXCLUSIVE REVERSE.
/// - local_response: dst[N,C,S] = src / (b + a / SIZE * sum of the squares of src over the channels
///   c - (SIZE - 1) / 2 to c + SIZE / 2 that exist) ^ p; structure SIZE, and ALPHA BETA BIAS, the
///   bits of a, p and b as f32.
/// - pack: dst = src, of any rank, dimensions D0 D1 ..., in another arrangement.
/// - gather: dst = src at coordinates of which some are what `index` holds, of any rank, dimensions
///   D0 D1 ...; structure L. The view of index has the further dimension L, that of src the further
///   dimension I: i is index[.., 0] for L = 1; else index[.., 0] to index[.., L-1] in mixed radix.
///   Its parameters I0 to I3 are the extents that they index; a negative index counts from the end,
///   and dst is 0 where one lies outside.
/// - winograd_weights: dst[X,O,C] = (G w G') of the filter w = src[O,C,U,V]; structure OUT.
/// - winograd_input: dst[X,C,T] = (B' d B), d a patch of src[N,C,H,W]; structure OUT PT PL.
/// - winograd_output: dst[N,O,OH,OW] = (A' m A) of m = src[X,O,T]; structure OUT.
/// Winograd's minimal filtering F(OUT x OUT, 3x3) (A. Lavin and S. Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2015): T tiles of OUT x OUT results, each from a patch of
/// (OUT+2) x (OUT+2) elements, X = (OUT+2)^2 products; G, B and A are constants that OUT gives.
/// Parameters T0 TH TW: tile t is number t + T0 of all, (n * TH + row of tiles) * TW + column.
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
/// conv_transpose2d is conv2d backwards: src[.., h, w] adds to dst at row h * SH + kh * DH - PT and
/// column w * SW + kw * DW - PL, for each kh and kw; what falls outside of dst is dropped. Output
/// channel o is channel o % J of group o / J, J = O / G, and reads the C / G channels of its group.
///
/// max_pool2d_indices counts elements row-major over all of src: ((n * C + c) * H + h) * W + w;
/// with COLUMNS 1 a plane is counted down its columns: (n * C + c) * H * W + w * H + h.
///
/// resize2d reads around p = (HN * oh + HA) / HD and q = (WN * ow + WA) / WD, exact fractions. With
/// TAPS 2 it interpolates between the rows floor(p) and floor(p) + 1; with TAPS 4 it weights the
/// rows floor(p) - 1 to floor(p) + 2 by the cubic of R. Keys ("Cubic convolution interpolation for
/// digital image processing", 1981), whose coefficient is the f32 of which CUBIC has the bits; and
/// so the columns. A row outside the image is the one at its border; with EXCLUDE 1 its weight is 0
/// and the others are divided by what is left of their sum.
///
/// Extents may hold more names than a family has: those of tensor dimensions that a view joins.
struct ProblemFamily {
  std::string_view name;
  std::vector<OperandSchema> operands;
  /// Names of its structure, in the order of the table above; every other dimension is an extent.
  std::vector<std::string_view> structure = {};
  /// Further extents, which are no dimension of an operand: numbers that kernels take as arguments.
  std::vector<std::string_view> parameters = {};
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
