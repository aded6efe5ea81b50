// SPDX-License-Identifier: Apache-2.0
#include "problems/gemm.hpp"

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

/// The sum over k of lhs[lhs_batch.., m, k] * rhs[rhs_batch.., k, n], (m, n) the last two of `at`.
double product_at(ProblemReader& problem, const Coordinates& at, const Coordinates& lhs_batch,
                  const Coordinates& rhs_batch) {
  Coordinates lhs = lhs_batch;
  Coordinates rhs = rhs_batch;
  lhs.insert(lhs.end(), {at[at.size() - 2], 0});
  rhs.insert(rhs.end(), {0, at.back()});
  double sum = 0.0;
  for (std::int64_t k = 0; k < problem.size("K"); ++k) {
    lhs.back() = k;
    rhs[rhs.size() - 2] = k;
    sum += problem.load("lhs", lhs) * problem.load("rhs", rhs);
  }
  return sum;
}

std::optional<double> gemm_at(ProblemReader& problem, const Coordinates& at) {
  return product_at(problem, at, {}, {});
}

std::optional<double> batched_gemm_at(ProblemReader& problem, const Coordinates& at) {
  return product_at(problem, at, {at[0]}, {at[0]});
}

std::optional<double> filter_gemm_at(ProblemReader& problem, const Coordinates& at) {
  return product_at(problem, at, {}, {at[0]});
}

std::optional<double> integer_gemm_at(ProblemReader& problem, const Coordinates& at) {
  const auto zero = problem.structure<IntegerGemmStructure>();
  double sum = 0.0;
  for (std::int64_t k = 0; k < problem.size("K"); ++k) {
    sum += (problem.load("lhs", {at[0], k}) - static_cast<double>(zero.zero_lhs)) *
           (problem.load("rhs", {k, at[1]}) - static_cast<double>(zero.zero_rhs));
  }
  return sum;
}

}  // namespace

ProblemFamily family_gemm() {
  return {.id = families::gemm,
          .operands = {{"lhs", {"M", "K"}}, {"rhs", {"K", "N"}}, OperandSchema::dst({"M", "N"})},
          .flop = Expression::parse("2*M*N*K", "gemm"),
          .value_at = gemm_at,
          .mixes = Dimensions{},
          .named_first = {"M", "N", "K"}};
}

ProblemFamily family_batched_gemm() {
  return {.id = families::batched_gemm,
          .operands = {{"lhs", {"B", "M", "K"}},
                       {"rhs", {"B", "K", "N"}},
                       OperandSchema::dst({"B", "M", "N"})},
          .flop = Expression::parse("2*B*M*N*K", "batched_gemm"),
          .value_at = batched_gemm_at,
          .mixes = Dimensions{},
          .named_first = {"B", "M", "N", "K"}};
}

ProblemFamily family_filter_gemm() {
  return {.id = families::filter_gemm,
          .operands = {{"lhs", {"M", "K"}},
                       {"rhs", {"B", "K", "N"}},
                       OperandSchema::dst({"B", "M", "N"})},
          .flop = Expression::parse("2*B*M*N*K", "filter_gemm"),
          .value_at = filter_gemm_at,
          .named_first = {"B", "M", "N", "K"}};
}

ProblemFamily family_integer_gemm() {
  return {.id = families::integer_gemm,
          .operands = {{"lhs", {"M", "K"}}, {"rhs", {"K", "N"}}, OperandSchema::dst({"M", "N"})},
          .structure = field_names<IntegerGemmStructure>(),
          .flop = Expression::parse("2*M*N*K", "integer_gemm"),
          .value_at = integer_gemm_at,
          .mixes = Dimensions{},
          .named_first = {"M", "N", "K"}};
}

}  // namespace morton::problems
