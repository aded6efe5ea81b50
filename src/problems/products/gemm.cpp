// SPDX-License-Identifier: Apache-2.0
#include "problems/products/gemm.hpp"

#include <array>

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

struct FamilyOfProducts {
  Family one, many;
};
constexpr std::array kFamiliesOfProducts{
    FamilyOfProducts{families::gemm, families::batched_gemm},
    FamilyOfProducts{families::integer_gemm, families::batched_integer_gemm},
};

/// A product of this name: of matrices, or with `batch` ("B") of many.
ProblemFamily product_family(Family id, const Dimensions& batch) {
  const auto with_batch = [&](Dimensions matrix) {
    matrix.insert(matrix.begin(), batch.begin(), batch.end());
    return matrix;
  };
  return {.id = id,
          .operands = {{"lhs", with_batch({"M", "K"})},
                       {"rhs", with_batch({"K", "N"})},
                       OperandSchema::dst(with_batch({"M", "N"}))},
          .flop = Expression::parse(batch.empty() ? "2*M*N*K" : "2*B*M*N*K", id.name()),
          .value_at = batch.empty() ? gemm_at : batched_gemm_at,
          .mixes = Dimensions{},
          .named_first = with_batch({"M", "N", "K"})};
}

}  // namespace

std::optional<Family> batch_of_products(Family family) {
  for (const auto& [one, many] : kFamiliesOfProducts) {
    if (one == family) return many;
  }
  return std::nullopt;
}

std::optional<Family> one_of_products(Family family) {
  for (const auto& [one, many] : kFamiliesOfProducts) {
    if (many == family) return one;
  }
  return std::nullopt;
}

ProblemFamily family_gemm() { return product_family(families::gemm, {}); }
ProblemFamily family_batched_gemm() { return product_family(families::batched_gemm, {"B"}); }
ProblemFamily family_integer_gemm() { return product_family(families::integer_gemm, {}); }
ProblemFamily family_batched_integer_gemm() {
  return product_family(families::batched_integer_gemm, {"B"});
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

}  // namespace morton::problems
