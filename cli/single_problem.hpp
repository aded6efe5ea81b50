// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "morton/problems.hpp"
#include "morton/tensor.hpp"
#include "output.hpp"

namespace morton::cli {

/// What a row of dst must be: the values, in double precision, and for each the sum of the
/// magnitudes of its terms, which bounds what rounding may do.
struct ReferenceRow {
  std::vector<double> value, magnitude;
};

using Inputs = std::vector<NamedTensor>;

/// A problem of one family, for the commands that measure or compare its kernels.
struct SingleProblem {
  std::string family;  ///< "gemm", "bias", "sigmoid", ...
  std::string title;   ///< "gemm M=17 N=3 K=5 f32"
  Json facts;          ///< the same for programs
  Model model;
  std::int64_t rows = 0, columns = 0;  ///< of dst
  double flop = 0.0;                   ///< what a caller asks for, padding not counted
  double bytes = 0.0;                  ///< every operand once
  /// Roundings that lead to an element of dst, at most.
  double roundings = 0.0;
  /// Small integers as inputs give a result without any rounding.
  bool exact_on_integers = true;
  /// Operations of the reference for one row.
  double row_cost = 0.0;
  std::function<ReferenceRow(const Inputs&, std::int64_t row)> reference_row = {};
  /// For all rows the sum of dst[r,c] * weights[c], computed from the inputs alone in time that
  /// grows with the inputs, not with the product; unset where rows themselves are as cheap.
  std::function<std::vector<double>(const Inputs&, const std::vector<double>& weights)> row_sums =
      {};
};

[[nodiscard]] SingleProblem gemm_problem(const GemmShape& shape);
/// "bias", "sigmoid" or "relu".
[[nodiscard]] SingleProblem matrix_problem(const std::string& family, std::int64_t rows,
                                           std::int64_t columns);

/// Seeded integers from -3 to 3.
[[nodiscard]] Inputs integer_inputs(const SingleProblem& problem, std::uint64_t seed);

/// What a kernel's result on given inputs must be.
class Expectation {
 public:
  enum class Rule : std::uint8_t {
    exact,    ///< the reference itself: for integers
    bounded,  ///< within the error that roundings may cause
  };
  Expectation(const SingleProblem& problem, Inputs inputs, Rule rule, std::uint64_t seed);

  [[nodiscard]] const Inputs& inputs() const { return inputs_; }
  /// "all 17 rows", or "12 of 4096 rows, and a weighted sum of each row".
  [[nodiscard]] std::string coverage() const;

  struct Comparison {
    std::string complaint;  ///< the first element that is wrong; empty when all are right
    /// Greatest difference, relative to the sum of the magnitudes of an element's terms.
    double error = 0.0;
  };
  /// Compares; `unit_roundoff` is that of the coarsest type that the kernel computes with.
  [[nodiscard]] Comparison compare(const Tensor& dst, double unit_roundoff) const;

 private:
  [[nodiscard]] std::string compare_sums(const Tensor& dst) const;
  [[nodiscard]] double rounding_of(double unit_roundoff, double magnitude, double expected) const;

  Inputs inputs_;
  Rule rule_;
  std::int64_t all_rows_, columns_;
  double roundings_;
  std::vector<std::int64_t> rows_;
  std::vector<ReferenceRow> expected_;
  std::vector<double> weights_, sums_;  ///< of every row; empty where all rows are compared
};

}  // namespace morton::cli
