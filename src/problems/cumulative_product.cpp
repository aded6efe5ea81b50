// SPDX-License-Identifier: Apache-2.0
#include "base/algebra/typed_chain.hpp"
#include "problems/cumulative_sum.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> cumulative_product_at(ProblemReader& problem, const Coordinates& at) {
  const auto cumulative = problem.structure<CumulativeSumStructure>();
  const bool from_back = cumulative.from == CumulativeSumStructure::From::back;
  const DType type = problem.problem().types.at("acc");
  double product = 1.0;
  for (std::int64_t l = 0; l < problem.size("L"); ++l) {
    const bool before = from_back ? l > at[1] : l < at[1];
    const bool own = l == at[1] && cumulative.own == CumulativeSumStructure::Own::included;
    if (before || own) product *= problem.load("src", {at[0], l, at[2]});
    if (!is_real(type)) product = wrapped(type, product);
  }
  return product;
}

}  // namespace

/// dst[M,L,N] = product over all j <= l of src[M,J,N]; its structure is that of cumulative_sum.
ProblemFamily family_cumulative_product() {
  return {.id = families::cumulative_product,
          .operands = {{"src", {"M", "L", "N"}}, OperandSchema::dst({"M", "L", "N"})},
          .structure = field_names<CumulativeSumStructure>(),
          .flop = Expression::parse("M*L*N", "cumulative_product"),
          .value_at = cumulative_product_at,
          .mixes = Dimensions{"L"}};
}

}  // namespace morton::problems
