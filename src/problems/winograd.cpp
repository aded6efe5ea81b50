// SPDX-License-Identifier: Apache-2.0
#include "problems/winograd.hpp"

#include "base/error.hpp"
#include "problems/solver.hpp"

namespace morton::problems {
namespace {

using WinogradMatrix = std::vector<std::vector<double>>;

/// G, B' and A' of a tile size.
struct WinogradMatrices {
  WinogradMatrix weights, input, output;
};

const WinogradMatrices& winograd_matrices(std::int64_t out) {
  static const WinogradMatrices kTwo{{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                                     {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                                     {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  static const WinogradMatrices kFour{
      {{1.0 / 4, 0, 0},
       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
       {1.0 / 24, 1.0 / 12, 1.0 / 6},
       {1.0 / 24, -1.0 / 12, 1.0 / 6},
       {0, 0, 1}},
      {{4, 0, -5, 0, 1, 0},
       {0, -4, -4, 1, 1, 0},
       {0, 4, -4, -1, 1, 0},
       {0, -2, -1, 2, 1, 0},
       {0, 2, -1, -2, 1, 0},
       {0, 4, 0, -5, 0, 1}},
      {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
  if (out == 2) return kTwo;
  if (out == 4) return kFour;
  throw InternalError("winograd: there is no transform with OUT " + std::to_string(out));
}

/// Element (row, column) of matrix * square * matrix', where `element_at(i, j)` is the square's.
template <typename ElementAt>
double transformed(const WinogradMatrix& matrix, std::int64_t row, std::int64_t column,
                   ElementAt element_at) {
  const auto& down = matrix.at(static_cast<std::size_t>(row));
  const auto& across = matrix.at(static_cast<std::size_t>(column));
  double sum = 0.0;
  for (std::size_t i = 0; i < down.size(); ++i) {
    for (std::size_t j = 0; j < across.size(); ++j) {
      if (down[i] == 0.0 || across[j] == 0.0) continue;
      sum += down[i] * across[j] *
             element_at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
    }
  }
  return sum;
}

std::optional<double> winograd_weights_at(ProblemReader& problem, const Coordinates& at) {
  const std::int64_t out = problem.structure<WinogradStructure>().out;
  return transformed(winograd_matrices(out).weights, at[0] / (out + 2), at[0] % (out + 2),
                     [&](std::int64_t u, std::int64_t v) {
                       return problem.load("src", {at[1], at[2], u, v});
                     });
}

std::optional<double> winograd_input_at(ProblemReader& problem, const Coordinates& at) {
  const auto input = problem.structure<WinogradInputStructure>();
  const std::int64_t tile = at[2] + problem.size("T0");
  const std::int64_t n = tile / (problem.size("TH") * problem.size("TW"));
  const std::int64_t top = tile / problem.size("TW") % problem.size("TH") * input.out - input.top;
  const std::int64_t left = tile % problem.size("TW") * input.out - input.left;
  return transformed(winograd_matrices(input.out).input, at[0] / (input.out + 2),
                     at[0] % (input.out + 2), [&](std::int64_t p, std::int64_t q) {
                       const std::int64_t h = top + p;
                       const std::int64_t w = left + q;
                       const bool inside =
                           h >= 0 && h < problem.size("H") && w >= 0 && w < problem.size("W");
                       return inside ? problem.load("src", {n, at[1], h, w}) : 0.0;
                     });
}

std::optional<double> winograd_output_at(ProblemReader& problem, const Coordinates& at) {
  const std::int64_t out = problem.structure<WinogradStructure>().out;
  const std::int64_t row = at[0] * problem.size("TH") + at[2] / out;
  const std::int64_t t = row * problem.size("TW") + at[3] / out - problem.size("T0");
  if (t < 0 || t >= problem.size("T")) return std::nullopt;
  return transformed(winograd_matrices(out).output, at[2] % out, at[3] % out,
                     [&](std::int64_t p, std::int64_t q) {
                       return problem.load("src", {p * (out + 2) + q, at[1], t});
                     });
}

}  // namespace

ProblemFamily family_winograd_weights() {
  return {.id = families::winograd_weights,
          .operands = {{"src", {"O", "C", "U", "V"}}, OperandSchema::dst({"X", "O", "C"})},
          .structure = field_names<WinogradStructure>(),
          .flop = Expression::parse("((OUT == 2)*56 + (OUT == 4)*200)*O*C", "winograd_weights"),
          .value_at = winograd_weights_at};
}

ProblemFamily family_winograd_input() {
  return {.id = families::winograd_input,
          .operands = {{"src", {"N", "C", "H", "W"}}, OperandSchema::dst({"X", "C", "T"})},
          .structure = field_names<WinogradInputStructure>(),
          .parameters = {"T0", "TH", "TW"},
          .flop = Expression::parse("((OUT == 2)*32 + (OUT == 4)*156)*C*T", "winograd_input"),
          .value_at = winograd_input_at};
}

ProblemFamily family_winograd_output() {
  return {.id = families::winograd_output,
          .operands = {{"src", {"X", "O", "T"}}, OperandSchema::dst({"N", "O", "OH", "OW"})},
          .structure = field_names<WinogradStructure>(),
          .parameters = {"T0", "TH", "TW"},
          .flop = Expression::parse("((OUT == 2)*24 + (OUT == 4)*110)*O*T", "winograd_output"),
          .value_at = winograd_output_at};
}

}  // namespace morton::problems
