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

/// A matrix of the caller's, read in the order of the product.
template <typename T>
struct Operand {
  std::span<const T> values;
  std::int64_t row_step, column_step;

  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * row_step + column * column_step)];
  }
};

/// Matrix `b` of a batch; 0 of one product.
template <typename T>
Operand<T> operand_of(const Inputs& inputs, std::size_t index, GemmShape::Order order,
                      std::int64_t b) {
  const Shape& extents = inputs[index].tensor.shape();
  const std::int64_t pitch = extents.back();
  const auto first = static_cast<std::size_t>(b * extents[extents.size() - 2] * pitch);
  const std::span<const T> values = inputs[index].tensor.as<T>().subspan(first);
  return order == GemmShape::Order::plain ? Operand<T>{values, pitch, 1}
                                          : Operand<T>{values, 1, pitch};
}

template <typename T>
ReferenceRow gemm_row(const GemmShape& shape, const Inputs& inputs, std::int64_t row) {
  const Operand<T> lhs = operand_of<T>(inputs, 0, shape.lhs, row / shape.m);
  const Operand<T> rhs = operand_of<T>(inputs, 1, shape.rhs, row / shape.m);
  const auto columns = static_cast<std::size_t>(shape.n);
  ReferenceRow result{std::vector<double>(columns, 0.0), std::vector<double>(columns, 0.0)};
  for (std::int64_t k = 0; k < shape.k; ++k) {
    const double factor = lhs.at(row % shape.m, k);
    for (std::size_t n = 0; n < columns; ++n) {
      const double term = factor * rhs.at(k, static_cast<std::int64_t>(n));
      result.value[n] += term;
      result.magnitude[n] += std::abs(term);
    }
  }
  return result;
}

/// Appends lhs * (rhs * weights) of matrix `b`: every row of the product, added up.
template <typename T>
void add_gemm_sums(const GemmShape& shape, const Inputs& inputs, const std::vector<double>& weights,
                   std::int64_t b, std::vector<double>& all) {
  const Operand<T> lhs = operand_of<T>(inputs, 0, shape.lhs, b);
  const Operand<T> rhs = operand_of<T>(inputs, 1, shape.rhs, b);
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
  all.insert(all.end(), sums.begin(), sums.end());
}

template <typename T>
std::vector<double> gemm_sums(const GemmShape& shape, const Inputs& inputs,
                              const std::vector<double>& weights) {
  std::vector<double> sums;
  for (std::int64_t b = 0; b < std::max<std::int64_t>(shape.batch, 1); ++b) {
    add_gemm_sums<T>(shape, inputs, weights, b, sums);
  }
  return sums;
}

template <typename T>
ProblemReference reference_of(const GemmShape& shape) {
  ProblemReference reference;
  reference.rows = std::max<std::int64_t>(shape.batch, 1) * shape.m;
  reference.columns = shape.n;
  reference.roundings = static_cast<double>(shape.k) + 4.0;
  reference.row_cost = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  reference.reference_row = [shape](const Inputs& inputs, std::int64_t row) {
    return gemm_row<T>(shape, inputs, row);
  };
  reference.row_sums = [shape](const Inputs& inputs, const std::vector<double>& weights) {
    return gemm_sums<T>(shape, inputs, weights);
  };
  return reference;
}

}  // namespace

ProblemReference gemm_reference(const GemmShape& shape) {
  if (shape.type == DType::u8) return reference_of<std::uint8_t>(shape);
  if (shape.type == DType::i8) return reference_of<std::int8_t>(shape);
  return reference_of<float>(shape);
}

std::vector<NamedTensor> integer_inputs(const std::vector<PortInfo>& ports, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Inputs inputs;
  for (const PortInfo& port : ports) {
    Tensor tensor = Tensor::allocate(port.dtype, port.shape);
    const bool is_byte = port.dtype != DType::f32;
    const int least = !is_byte ? -3 : port.dtype == DType::i8 ? -128 : 0;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      tensor.set(i, static_cast<int>(generator() % (is_byte ? 256 : 7)) + least);
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
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::int64_t c = 0; c < columns_; ++c) {
      const double expected = expected_[i].value[static_cast<std::size_t>(c)];
      const double magnitude = expected_[i].magnitude[static_cast<std::size_t>(c)];
      const double got = dst.at(rows_[i] * columns_ + c);
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
  for (std::size_t row = 0; row < sums_.size(); ++row) {
    double sum = 0.0;
    for (std::size_t c = 0; c < weights_.size(); ++c) {
      sum += weights_[c] * dst.at(static_cast<std::int64_t>(row * weights_.size() + c));
    }
    if (sum == sums_[row]) continue;
    return fmt::format("row {} of dst is wrong: its weighted sum is {:.17g}, expected {:.17g}", row,
                       sum, sums_[row]);
  }
  return "";
}

}  // namespace morton
