// SPDX-License-Identifier: Apache-2.0
#include "problems/products/coded_gemm.hpp"

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> coded_gemm_at(ProblemReader& problem, const Coordinates& at) {
  const auto coded = problem.structure<CodedGemmStructure>();
  const std::int64_t n = at[1];
  double sum = 0.0;
  for (std::int64_t k = 0; k < problem.size("K"); ++k) {
    const auto byte = static_cast<std::int64_t>(problem.load("codes", {k / coded.codes(), n}));
    const std::int64_t shift = k % coded.codes() * coded.bits;
    const std::int64_t code = (byte >> shift) & ((std::int64_t{1} << coded.bits) - 1);
    const std::int64_t block = k / coded.block;
    const double zero = problem.load("zeros", {block, n});
    const double weight = (static_cast<double>(code) - zero) * problem.load("scales", {block, n});
    sum += problem.load("lhs", {at[0], k}) * weight;
  }
  return sum;
}

}  // namespace

ProblemFamily family_coded_gemm() {
  return {.id = families::coded_gemm,
          .operands = {{"lhs", {"M", "K"}},
                       {"codes", {"P", "N"}},
                       {"scales", {"G", "N"}},
                       {"zeros", {"G", "N"}},
                       OperandSchema::dst({"M", "N"})},
          .structure = field_names<CodedGemmStructure>(),
          .flop = Expression::parse("2*M*N*K", "coded_gemm"),
          .value_at = coded_gemm_at,
          .mixes = Dimensions{},
          .named_first = {"M", "N", "K"}};
}

}  // namespace morton::problems
