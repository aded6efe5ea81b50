// SPDX-License-Identifier: Apache-2.0
#include "single_problem.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

std::span<const float> values_of(const Inputs& inputs, std::size_t index) {
  return inputs[index].tensor.as<float>();
}

/// A matrix of the caller's, read in the order of the product.
struct Operand {
  std::span<const float> values;
  std::int64_t row_step, column_step;

  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * row_step + column * column_step)];
  }
};

Operand operand_of(const Inputs& inputs, std::size_t index, GemmShape::Order order) {
  const std::int64_t pitch = inputs[index].tensor.shape()[1];
  const std::span<const float> values = values_of(inputs, index);
  return order == GemmShape::Order::plain ? Operand{values, pitch, 1} : Operand{values, 1, pitch};
}

ReferenceRow gemm_row(const GemmShape& shape, const Inputs& inputs, std::int64_t row) {
  const Operand lhs = operand_of(inputs, 0, shape.lhs);
  const Operand rhs = operand_of(inputs, 1, shape.rhs);
  const auto columns = static_cast<std::size_t>(shape.n);
  ReferenceRow result{std::vector<double>(columns, 0.0), std::vector<double>(columns, 0.0)};
  for (std::int64_t k = 0; k < shape.k; ++k) {
    const double factor = lhs.at(row, k);
    for (std::size_t n = 0; n < columns; ++n) {
      const double term = factor * rhs.at(k, static_cast<std::int64_t>(n));
      result.value[n] += term;
      result.magnitude[n] += std::abs(term);
    }
  }
  return result;
}

/// lhs * (rhs * weights): every row of the product, added up.
std::vector<double> gemm_sums(const GemmShape& shape, const Inputs& inputs,
                              const std::vector<double>& weights) {
  const Operand lhs = operand_of(inputs, 0, shape.lhs);
  const Operand rhs = operand_of(inputs, 1, shape.rhs);
  std::vector<double> inner(static_cast<std::size_t>(shape.k), 0.0);
  for (std::int64_t k = 0; k < shape.k; ++k) {
    for (std::int64_t n = 0; n < shape.n; ++n) {
      inner[static_cast<std::size_t>(k)] += rhs.at(k, n) * weights[static_cast<std::size_t>(n)];
    }
  }
  std::vector<double> sums(static_cast<std::size_t>(shape.m), 0.0);
  for (std::int64_t m = 0; m < shape.m; ++m) {
    for (std::int64_t k = 0; k < shape.k; ++k) {
      sums[static_cast<std::size_t>(m)] += lhs.at(m, k) * inner[static_cast<std::size_t>(k)];
    }
  }
  return sums;
}

ReferenceRow matrix_row(const std::string& family, std::int64_t columns, const Inputs& inputs,
                        std::int64_t row) {
  ReferenceRow result;
  for (std::int64_t c = 0; c < columns; ++c) {
    const double value = values_of(inputs, 0)[static_cast<std::size_t>(row * columns + c)];
    if (family == "bias") {
      const double bias = values_of(inputs, 1)[static_cast<std::size_t>(row)];
      result.value.push_back(value + bias);
      result.magnitude.push_back(std::abs(value) + std::abs(bias));
      continue;
    }
    result.value.push_back(family == "relu" ? std::max(value, 0.0)
                                            : 1.0 / (1.0 + std::exp(-value)));
    result.magnitude.push_back(result.value.back());
  }
  return result;
}

const char* order_text(GemmShape::Order order) {
  return order == GemmShape::Order::plain ? "plain" : "transposed";
}

}  // namespace

SingleProblem gemm_problem(const GemmShape& shape) {
  std::string title = fmt::format("gemm M={} N={} K={} f32", shape.m, shape.n, shape.k);
  if (shape.lhs == GemmShape::Order::transposed) title += ", lhs transposed";
  if (shape.rhs == GemmShape::Order::transposed) title += ", rhs transposed";
  SingleProblem problem{"gemm", title, {}, gemm_model(shape)};
  problem.facts = {{"family", "gemm"},
                   {"m", shape.m},
                   {"n", shape.n},
                   {"k", shape.k},
                   {"lhs", order_text(shape.lhs)},
                   {"rhs", order_text(shape.rhs)},
                   {"precision", "f32"}};
  problem.rows = shape.m;
  problem.columns = shape.n;
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  problem.flop = 2.0 * m * n * k;
  problem.bytes = 4.0 * (m * k + k * n + m * n);
  problem.roundings = k + 4.0;
  problem.row_cost = n * k;
  problem.reference_row = [shape](const Inputs& inputs, std::int64_t row) {
    return gemm_row(shape, inputs, row);
  };
  problem.row_sums = [shape](const Inputs& inputs, const std::vector<double>& weights) {
    return gemm_sums(shape, inputs, weights);
  };
  return problem;
}

SingleProblem matrix_problem(const std::string& family, std::int64_t rows, std::int64_t columns) {
  const bool bias = family == "bias";
  SingleProblem problem{
      family,
      fmt::format("{} of {} x {} f32", family, rows, columns),
      {{"family", family}, {"rows", rows}, {"columns", columns}, {"precision", "f32"}},
      bias ? bias_model(rows, columns) : activation_model(family, rows, columns)};
  problem.rows = rows;
  problem.columns = columns;
  const double elements = static_cast<double>(rows) * static_cast<double>(columns);
  problem.flop = elements * (family == "sigmoid" ? 4.0 : 1.0);
  problem.bytes = 4.0 * (2.0 * elements + (bias ? static_cast<double>(rows) : 0.0));
  // OpenCL's exp may be wrong by 3 units in the last place, its division by 2.5.
  problem.roundings = family == "sigmoid" ? 16.0 : 1.0;
  problem.exact_on_integers = family != "sigmoid";
  problem.row_cost = static_cast<double>(columns);
  problem.reference_row = [family, columns](const Inputs& inputs, std::int64_t row) {
    return matrix_row(family, columns, inputs, row);
  };
  return problem;
}

Inputs integer_inputs(const SingleProblem& problem, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Inputs inputs;
  for (const PortInfo& port : problem.model.inputs()) {
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    for (float& value : tensor.as_mutable<float>()) {
      value = static_cast<float>(static_cast<int>(generator() % 7) - 3);
    }
    inputs.push_back({port.name, std::move(tensor)});
  }
  return inputs;
}

Expectation::Expectation(const SingleProblem& problem, Inputs inputs, Rule rule, std::uint64_t seed)
    : inputs_(std::move(inputs)),
      rule_(rule),
      all_rows_(problem.rows),
      columns_(problem.columns),
      roundings_(problem.roundings) {
  // A second or so of the reference's time.
  constexpr double kMostOperations = 2e8;
  std::mt19937_64 generator(seed);
  const auto most = static_cast<std::int64_t>(kMostOperations / problem.row_cost);
  if (!problem.row_sums || all_rows_ <= std::max<std::int64_t>(most, 4)) {
    for (std::int64_t row = 0; row < all_rows_; ++row) rows_.push_back(row);
  } else {
    // The corners of tiles and of the matrix, and chance for the rest.
    rows_ = {0, all_rows_ - 1};
    while (static_cast<std::int64_t>(rows_.size()) < std::max<std::int64_t>(most, 4)) {
      rows_.push_back(
          static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(all_rows_)));
    }
    std::ranges::sort(rows_);
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    if (rule_ == Rule::exact) {
      for (std::int64_t c = 0; c < columns_; ++c) {
        const auto sign = (generator() & 1U) == 0 ? 1.0 : -1.0;
        weights_.push_back(sign * static_cast<double>(1 + generator() % 1000));
      }
      sums_ = problem.row_sums(inputs_, weights_);
    }
  }
  for (const std::int64_t row : rows_) expected_.push_back(problem.reference_row(inputs_, row));
}

std::string Expectation::coverage() const {
  if (static_cast<std::int64_t>(rows_.size()) == all_rows_) return "all elements";
  std::string text = fmt::format("all elements of {} of {} rows", rows_.size(), all_rows_);
  if (!sums_.empty()) text += ", and a weighted sum of every row";
  return text;
}

/// Operands and result may be rounded to what is kept in memory; what lies between is f32's.
double Expectation::rounding_of(double unit_roundoff, double magnitude, double expected) const {
  return (2.0 * unit_roundoff + roundings_ * 0x1p-24) * magnitude +
         unit_roundoff * std::abs(expected);
}

Expectation::Comparison Expectation::compare(const Tensor& dst, double unit_roundoff) const {
  Comparison result;
  const std::span<const float> values = dst.as<float>();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::int64_t c = 0; c < columns_; ++c) {
      const double expected = expected_[i].value[static_cast<std::size_t>(c)];
      const double magnitude = expected_[i].magnitude[static_cast<std::size_t>(c)];
      const double got = values[static_cast<std::size_t>(rows_[i] * columns_ + c)];
      const double difference = std::abs(got - expected);
      const double allowed =
          rule_ == Rule::exact ? 0.0 : rounding_of(unit_roundoff, magnitude, expected);
      if (!(difference <= allowed)) {
        result.complaint =
            fmt::format("dst[{},{}] is {:.9g}, expected {:.9g}", rows_[i], c, got, expected);
        if (allowed > 0.0) result.complaint += fmt::format(" within {:.3g}", allowed);
        return result;
      }
      if (magnitude > 0.0) result.error = std::max(result.error, difference / magnitude);
    }
  }
  result.complaint = compare_sums(dst);
  return result;
}

std::string Expectation::compare_sums(const Tensor& dst) const {
  const std::span<const float> values = dst.as<float>();
  for (std::size_t row = 0; row < sums_.size(); ++row) {
    double sum = 0.0;
    for (std::size_t c = 0; c < weights_.size(); ++c) {
      sum += weights_[c] * values[row * weights_.size() + c];
    }
    if (sum == sums_[row]) continue;
    return fmt::format("row {} of dst is wrong: its weighted sum is {:.17g}, expected {:.17g}", row,
                       sum, sums_[row]);
  }
  return "";
}

}  // namespace morton::cli
