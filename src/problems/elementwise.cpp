// SPDX-License-Identifier: Apache-2.0
//
// elementwise: dst = epilogue(src0, side 1, ...), of any rank, dimensions D0 D1 ...
//
// bias: dst[M,N] = src[M,N] + bias[M].
// sigmoid: dst[M,N] = 1 / (1 + exp(-src[M,N])).
// relu: dst[M,N] = max(src[M,N], 0).
// These are elementwise problems that the plan also poses so (plan/tasks/narrow.hpp), for kernels
// that demand formats (R17, chapter 9).
#include <algorithm>
#include <cmath>

#include "base/rooms.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> elementwise_at(ProblemReader& problem, const Coordinates& at) {
  return problem.load("src0", at);
}

std::optional<double> bias_at(ProblemReader& problem, const Coordinates& at) {
  return problem.load("src", at) + problem.load("bias", {at[0]});
}

std::optional<double> sigmoid_at(ProblemReader& problem, const Coordinates& at) {
  return 1.0 / (1.0 + std::exp(-problem.load("src", at)));
}

std::optional<double> relu_at(ProblemReader& problem, const Coordinates& at) {
  return std::max(problem.load("src", at), 0.0);
}

}  // namespace

ProblemFamily family_elementwise() {
  return {.id = families::elementwise,
          .operands = {{"src0", {}}, OperandSchema::dst({})},
          .value_at = elementwise_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_bias() {
  return {.id = families::bias,
          .operands = {{"src", {"M", "N"}}, {"bias", {"M"}}, OperandSchema::dst({"M", "N"})},
          .flop = Expression::parse("M*N", "bias"),
          .value_at = bias_at};
}

ProblemFamily family_sigmoid() {
  return {.id = families::sigmoid,
          .operands = {{"src", {"M", "N"}}, OperandSchema::dst({"M", "N"})},
          .flop = Expression::parse("4*M*N", "sigmoid"),
          .value_at = sigmoid_at};
}

ProblemFamily family_relu() {
  return {.id = families::relu,
          .operands = {{"src", {"M", "N"}}, OperandSchema::dst({"M", "N"})},
          .flop = Expression::parse("M*N", "relu"),
          .value_at = relu_at};
}

}  // namespace morton::problems
