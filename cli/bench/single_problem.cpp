// SPDX-License-Identifier: Apache-2.0
#include "bench/single_problem.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

std::span<const float> values_of(const Inputs& inputs, std::size_t index) {
  return inputs[index].tensor.as<float>();
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

}  // namespace

void add_options(CLI::App& command, GemmOptions& options) {
  add_size(command, "--m", options.m, "Rows of lhs and of the result");
  add_size(command, "--n", options.n, "Columns of rhs and of the result");
  add_size(command, "--k", options.k, "Columns of lhs and rows of rhs: the terms of each sum");
  command.add_flag("--trans-a", options.transpose_a, "The left operand is held transposed");
  command.add_flag("--trans-b", options.transpose_b, "The right operand is held transposed");
}

GemmShape shape_of(const GemmOptions& options) {
  using Order = GemmShape::Order;
  GemmShape shape{options.m, options.n, options.k};
  shape.lhs = options.transpose_a ? Order::transposed : Order::plain;
  shape.rhs = options.transpose_b ? Order::transposed : Order::plain;
  return shape;
}

const char* order_text(GemmShape::Order order) {
  return order == GemmShape::Order::plain ? "plain" : "transposed";
}

SingleProblem gemm_problem(const GemmShape& shape) {
  std::string title = fmt::format("gemm M={} N={} K={} f32", shape.m, shape.n, shape.k);
  if (shape.lhs == GemmShape::Order::transposed) title += ", lhs transposed";
  if (shape.rhs == GemmShape::Order::transposed) title += ", rhs transposed";
  SingleProblem problem{gemm_reference(shape), "gemm", title, {}, gemm_model(shape)};
  problem.facts = {{"family", "gemm"},
                   {"m", shape.m},
                   {"n", shape.n},
                   {"k", shape.k},
                   {"lhs", order_text(shape.lhs)},
                   {"rhs", order_text(shape.rhs)},
                   {"precision", "f32"}};
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  problem.flop = 2.0 * m * n * k;
  problem.bytes = 4.0 * (m * k + k * n + m * n);
  return problem;
}

SingleProblem matrix_problem(const std::string& family, std::int64_t rows, std::int64_t columns) {
  const bool bias = family == "bias";
  SingleProblem problem{
      {},
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
  return morton::integer_inputs(problem.model.inputs(), seed);
}

}  // namespace morton::cli
