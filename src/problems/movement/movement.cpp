// SPDX-License-Identifier: Apache-2.0
#include "problems/movement/movement.hpp"

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> pack_at(ProblemReader& problem, const Coordinates& at) {
  return problem.load("src", at);
}

std::optional<double> gather_at(ProblemReader& problem, const Coordinates& at) {
  Coordinates place = at;
  place.push_back(0);
  std::int64_t i = 0;
  for (std::int64_t l = 0; l < problem.structure<GatherStructure>().indices; ++l) {
    place.back() = l;
    const std::int64_t extent = problem.size("I" + std::to_string(l));
    auto index = static_cast<std::int64_t>(problem.load("index", place));
    if (index < 0) index += extent;
    if (index < 0 || index >= extent) return 0.0;
    i = i * extent + index;
  }
  place.back() = i;
  return problem.load("src", place);
}

}  // namespace

ProblemFamily family_pack() {
  return {.id = families::pack,
          .operands = {{"src", {}}, OperandSchema::dst({})},
          .value_at = pack_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_gather() {
  return {.id = families::gather,
          .operands = {{"src", {}}, {"index", {}}, OperandSchema::dst({})},
          .structure = field_names<GatherStructure>(),
          .parameters = {"I0", "I1", "I2", "I3"},
          .value_at = gather_at,
          .mixes = Dimensions{}};
}

}  // namespace morton::problems
