// SPDX-License-Identifier: Apache-2.0
#include "problems/movement/scatter.hpp"

#include <algorithm>
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

using Reduction = ScatterStructure::Reduction;

/// The d that the indices of m name; -1 where one lies outside.
std::int64_t scattered_to(ProblemReader& problem, std::int64_t count, const Coordinates& at) {
  Coordinates place = at;
  std::int64_t d = 0;
  for (place[2] = 0; place[2] < count; ++place[2]) {
    const std::int64_t extent = problem.size("I" + std::to_string(place[2]));
    auto index = static_cast<std::int64_t>(problem.load("index", place));
    if (index < 0) index += extent;
    if (index < 0 || index >= extent) return -1;
    d = d * extent + index;
  }
  return d;
}

double scatter_combined(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::none:
      return b;
    case Reduction::add:
      return a + b;
    case Reduction::mul:
      return a * b;
    case Reduction::largest:
      return b > a || std::isnan(b) ? b : a;
    case Reduction::smallest:
      return b < a || std::isnan(b) ? b : a;
  }
  return b;
}

std::optional<double> scatter_at(ProblemReader& problem, const Coordinates& at) {
  const auto scatter = problem.structure<ScatterStructure>();
  const DType type = problem.problem().types.at("dst");
  double value = problem.load("src", at);
  for (std::int64_t m = 0; m < problem.size("M"); ++m) {
    if (scattered_to(problem, scatter.indices, {at[0], m, 0, at[2]}) != at[1]) continue;
    const double update = problem.load("update", {at[0], m, at[2]});
    value = scatter_combined(scatter.reduction, value, update);
    if (!is_real(type)) value = wrapped(type, value);
  }
  return value;
}

}  // namespace

ProblemFamily family_scatter() {
  return {.id = families::scatter,
          .operands = {{"src", {"O", "D", "I"}},
                       {"index", {"O", "M", "L", "I"}},
                       {"update", {"O", "M", "I"}},
                       OperandSchema::dst({"O", "D", "I"})},
          .structure = field_names<ScatterStructure>(),
          .parameters = {"I0", "I1", "I2", "I3"},
          .value_at = scatter_at,
          .mixes = Dimensions{"D"}};
}

}  // namespace morton::problems
