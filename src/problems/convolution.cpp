// SPDX-License-Identifier: Apache-2.0
#include "problems/convolution.hpp"

#include "problems/solver.hpp"

namespace morton::problems {
namespace {

std::optional<double> conv2d_at(ProblemReader& problem, const Coordinates& at) {
  return convolution_at(problem, problem.structure<Conv2dStructure>(), at);
}

std::optional<double> integer_conv2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto conv = problem.structure<Conv2dStructure>();
  const SlidingWindow& window = conv.window;
  const std::int64_t first = at[1] / (problem.size("O") / conv.groups) * conv.channels;
  double sum = 0.0;
  for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
    for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
      const std::int64_t h = window.at(0, at[2], kh);
      const std::int64_t w = window.at(1, at[3], kw);
      const bool inside = h >= 0 && h < problem.size("H") && w >= 0 && w < problem.size("W");
      for (std::int64_t i = 0; i < conv.channels; ++i) {
        const double code = inside ? problem.load("src", {at[0], first + i, h, w})
                                   : problem.load("border", {first + i});
        sum += code * problem.load("weights", {at[1], i, kh, kw});
      }
    }
  }
  return sum;
}

/// Calls `visit(kh, kw, h, w)` where the element of src at row h and column w adds to dst at `at`:
/// by scattering, as the families are defined.
template <typename Visit>
void for_scattered(ProblemReader& problem, const SlidingWindow& window, const Coordinates& at,
                   Visit visit) {
  for (std::int64_t h = 0; h < problem.size("H"); ++h) {
    for (std::int64_t w = 0; w < problem.size("W"); ++w) {
      for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
        if (window.at(0, h, kh) != at[2]) continue;
        for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
          if (window.at(1, w, kw) == at[3]) visit(kh, kw, h, w);
        }
      }
    }
  }
}

std::optional<double> conv_transpose2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto conv = problem.structure<ConvTranspose2dStructure>();
  const std::int64_t depth = problem.size("C") / conv.groups;
  const std::int64_t first = at[1] / conv.outputs * depth;
  double sum = 0.0;
  for_scattered(problem, conv.window, at,
                [&](std::int64_t kh, std::int64_t kw, std::int64_t h, std::int64_t w) {
                  for (std::int64_t c = first; c < first + depth; ++c) {
                    sum += problem.load("src", {at[0], c, h, w}) *
                           problem.load("weights", {c, at[1] % conv.outputs, kh, kw});
                  }
                });
  return sum;
}

std::optional<double> unfold2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto window = problem.structure<SlidingWindow>();
  const std::int64_t kw = at[1] % window.kernel[1];
  const std::int64_t kh = at[1] / window.kernel[1] % window.kernel[0];
  const std::int64_t c = at[1] / (window.kernel[0] * window.kernel[1]);
  const std::int64_t h = window.at(0, at[2] / problem.size("OW"), kh);
  const std::int64_t w = window.at(1, at[2] % problem.size("OW"), kw);
  const bool inside = h >= 0 && h < problem.size("H") && w >= 0 && w < problem.size("W");
  return inside ? problem.load("src", {at[0], c, h, w}) : 0.0;
}

std::optional<double> fold2d_at(ProblemReader& problem, const Coordinates& at) {
  const auto window = problem.structure<SlidingWindow>();
  double sum = 0.0;
  for_scattered(problem, window, at,
                [&](std::int64_t kh, std::int64_t kw, std::int64_t h, std::int64_t w) {
                  const std::int64_t k = (at[1] * window.kernel[0] + kh) * window.kernel[1] + kw;
                  sum += problem.load("src", {at[0], k, h * problem.size("W") + w});
                });
  return sum;
}

}  // namespace

double convolution_at(ProblemReader& problem, const Conv2dStructure& conv, const Coordinates& at) {
  const std::int64_t first = at[1] / (problem.size("O") / conv.groups) * conv.channels;
  double sum = 0.0;
  conv.window.for_inside({at[2], at[3]}, {problem.size("H"), problem.size("W")},
                         [&](std::int64_t kh, std::int64_t kw, std::int64_t h, std::int64_t w) {
                           for (std::int64_t i = 0; i < conv.channels; ++i) {
                             sum += problem.load("src", {at[0], first + i, h, w}) *
                                    problem.load("weights", {at[1], i, kh, kw});
                           }
                         });
  return sum;
}

ProblemFamily family_conv2d() {
  return {.id = families::conv2d,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"weights", {"O", "I", "KH", "KW"}},
                       OperandSchema::dst({"N", "O", "OH", "OW"})},
          .structure = field_names<Conv2dStructure>(),
          .flop = Expression::parse("2*N*O*OH*OW*I*KH*KW", "conv2d"),
          .value_at = conv2d_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_integer_conv2d() {
  return {.id = families::integer_conv2d,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"weights", {"O", "I", "KH", "KW"}},
                       {"border", {"C"}},
                       OperandSchema::dst({"N", "O", "OH", "OW"})},
          .structure = field_names<Conv2dStructure>(),
          .flop = Expression::parse("2*N*O*OH*OW*I*KH*KW", "integer_conv2d"),
          .value_at = integer_conv2d_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_conv_transpose2d() {
  return {.id = families::conv_transpose2d,
          .operands = {{"src", {"N", "C", "H", "W"}},
                       {"weights", {"C", "J", "KH", "KW"}},
                       OperandSchema::dst({"N", "O", "OH", "OW"})},
          .structure = field_names<ConvTranspose2dStructure>(),
          .flop = Expression::parse("2*N*C*H*W*J*KH*KW", "conv_transpose2d"),
          .value_at = conv_transpose2d_at,
          .mixes = Dimensions{}};
}

ProblemFamily family_unfold2d() {
  return {.id = families::unfold2d,
          .operands = {{"src", {"N", "C", "H", "W"}}, OperandSchema::dst({"N", "K", "P"})},
          .structure = field_names<SlidingWindow>(),
          .parameters = {"OH", "OW"},
          .value_at = unfold2d_at};
}

ProblemFamily family_fold2d() {
  return {.id = families::fold2d,
          .operands = {{"src", {"N", "K", "P"}}, OperandSchema::dst({"N", "O", "OH", "OW"})},
          .structure = field_names<SlidingWindow>(),
          .parameters = {"H", "W"},
          .flop = Expression::parse("N*K*P", "fold2d"),
          .value_at = fold2d_at};
}

}  // namespace morton::problems
