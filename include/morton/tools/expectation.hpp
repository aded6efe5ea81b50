// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "morton/export.hpp"
#include "morton/session.hpp"
#include "morton/tensor.hpp"
#include "morton/tools/problems.hpp"

namespace morton {

/// The right values of a row of dst, in double precision, and for each the sum of the
/// magnitudes of its terms, which bounds what rounding may do.
struct ReferenceRow {
  std::vector<double> value, magnitude;
};

/// What the unit roundoff of operands counts as where kernels may add up products in `sums`
/// (CompileOptions::Precision): rounding two operands takes twice as much, sums in f16 four times
/// as much beside that (docs/numerics.md).
[[nodiscard]] constexpr double unit_roundoff_with(double unit_roundoff, DType sums) {
  return sums == DType::f16 ? 3.0 * unit_roundoff : unit_roundoff;
}

/// A reference for the matrix that a problem's kernels compute.
struct ProblemReference {
  std::int64_t rows = 0, columns = 0;  ///< of dst
  /// Roundings that lead to an element of dst, at most.
  double roundings = 0.0;
  /// Small integers as inputs give a result without any rounding.
  bool exact_on_integers = true;
  /// Operations of the reference for one row.
  double row_cost = 0.0;
  std::function<ReferenceRow(const std::vector<NamedTensor>&, std::int64_t row)> reference_row = {};
  /// For all rows the sum of dst[r,c] * weights[c], computed from the inputs alone in time that
  /// grows with the inputs, not with the product; unset where rows themselves are as cheap.
  std::function<std::vector<double>(const std::vector<NamedTensor>&,
                                    const std::vector<double>& weights)>
      row_sums = {};
};

/// Of `gemm_model(shape)`; the inputs are "lhs" and "rhs" in this order.
[[nodiscard]] MORTON_API ProblemReference gemm_reference(const GemmShape& shape);

/// The right result of a kernel on given inputs.
class MORTON_API Expectation {
 public:
  enum class Rule : std::uint8_t {
    exact,    ///< the reference itself: for integers
    bounded,  ///< within the error that roundings may cause
  };
  /// Computes the reference of as many rows as a second or so allows; of the others, by the rule
  /// `exact`, a weighted sum. `seed` draws the rows and the weights.
  Expectation(const ProblemReference& problem, std::vector<NamedTensor> inputs, Rule rule,
              std::uint64_t seed);

  [[nodiscard]] const std::vector<NamedTensor>& inputs() const { return inputs_; }
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

  std::vector<NamedTensor> inputs_;
  Rule rule_;
  std::int64_t all_rows_, columns_;
  double roundings_;
  std::vector<std::int64_t> rows_;
  std::vector<ReferenceRow> expected_;
  std::vector<double> weights_, sums_;  ///< of every row; empty where all rows are compared
};

/// Seeded integers for inputs of these shapes: from -3 to 3 for f32, any byte for u8 and i8.
[[nodiscard]] MORTON_API std::vector<NamedTensor> integer_inputs(const std::vector<PortInfo>& ports,
                                                                 std::uint64_t seed);

}  // namespace morton
