// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

namespace morton {

using Inputs = std::vector<NamedTensor>;

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

}  // namespace

ProblemReference gemm_reference(const GemmShape& shape) {
  ProblemReference reference;
  reference.rows = shape.m;
  reference.columns = shape.n;
  reference.roundings = static_cast<double>(shape.k) + 4.0;
  reference.row_cost = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  reference.reference_row = [shape](const Inputs& inputs, std::int64_t row) {
    return gemm_row(shape, inputs, row);
  };
  reference.row_sums = [shape](const Inputs& inputs, const std::vector<double>& weights) {
    return gemm_sums(shape, inputs, weights);
  };
  return reference;
}

std::vector<NamedTensor> integer_inputs(const std::vector<PortInfo>& ports, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Inputs inputs;
  for (const PortInfo& port : ports) {
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    for (float& value : tensor.as_mutable<float>()) {
      value = static_cast<float>(static_cast<int>(generator() % 7) - 3);
    }
    inputs.push_back({port.name, std::move(tensor)});
  }
  return inputs;
}

Expectation::Expectation(const ProblemReference& problem, Inputs inputs, Rule rule,
                         std::uint64_t seed)
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

}  // namespace morton
