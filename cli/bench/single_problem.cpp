// SPDX-License-Identifier: Apache-2.0
#include "bench/single_problem.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/options.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

std::span<const float> values_of(const Inputs& inputs, std::size_t index) {
  return inputs[index].tensor.as<float>();
}

/// A family of one matrix, computed element by element.
struct MatrixFamily {
  std::string name;
  Model (*model)(std::int64_t rows, std::int64_t columns);
  /// Of an element, and of the bias of its row where the family has one.
  double (*value)(double element, double bias);
  std::int64_t biases_a_row = 0;
  double flop = 1.0;       ///< of an element
  double roundings = 1.0;  ///< that lead to an element
  bool exact_on_integers = true;
};

const std::vector<MatrixFamily>& families_of_matrices() {
  using Size = std::int64_t;
  static const std::vector<MatrixFamily> kFamilies{
      {.name = "bias",
       .model = bias_model,
       .value = [](double element, double bias) { return element + bias; },
       .biases_a_row = 1},
      // OpenCL's exp may be wrong by 3 units in the last place, its division by 2.5.
      {.name = "sigmoid",
       .model = [](Size rows, Size columns) { return activation_model("sigmoid", rows, columns); },
       .value = [](double element, double) { return 1.0 / (1.0 + std::exp(-element)); },
       .flop = 4.0,
       .roundings = 16.0,
       .exact_on_integers = false},
      {.name = "relu",
       .model = [](Size rows, Size columns) { return activation_model("relu", rows, columns); },
       .value = [](double element, double) { return std::max(element, 0.0); }}};
  return kFamilies;
}

ReferenceRow matrix_row(const MatrixFamily& family, std::int64_t columns, const Inputs& inputs,
                        std::int64_t row) {
  const bool has_bias = family.biases_a_row > 0;
  const double bias =
      has_bias ? static_cast<double>(values_of(inputs, 1)[static_cast<std::size_t>(row)]) : 0.0;
  ReferenceRow result;
  for (std::int64_t c = 0; c < columns; ++c) {
    const double element = values_of(inputs, 0)[static_cast<std::size_t>(row * columns + c)];
    const double value = family.value(element, bias);
    result.value.push_back(value);
    result.magnitude.push_back(has_bias ? std::abs(element) + std::abs(bias) : value);
  }
  return result;
}

/// "1024" where all extents are alike, else all of them.
std::string size_text(const Shape& extents) {
  const bool alike =
      std::ranges::all_of(extents, [&](std::int64_t one) { return one == extents.front(); });
  return alike ? std::to_string(extents.front()) : shape_text(extents);
}

}  // namespace

void add_options(CLI::App& command, GemmOptions& options) {
  add_size(command, "--m", options.m, "Rows of lhs and of the result");
  add_size(command, "--n", options.n, "Columns of rhs and of the result");
  add_size(command, "--k", options.k, "Columns of lhs and rows of rhs: the terms of each sum");
  command.add_flag("--trans-a", options.transpose_a, "The left operand is held transposed");
  command.add_flag("--trans-b", options.transpose_b, "The right operand is held transposed");
}

void add_type_option(CLI::App& command, GemmOptions& options) {
  command
      .add_option("--type", options.type,
                  "Type of both operands: f32, or u8 or s8 (i8), whose sums have 32 bits (f32)")
      ->option_text("TYPE")
      ->check(one_of(std::vector<std::string>{"f32", "u8", "s8"}));
}

GemmShape shape_of(const GemmOptions& options) {
  using Order = GemmShape::Order;
  GemmShape shape{options.m, options.n, options.k};
  shape.lhs = options.transpose_a ? Order::transposed : Order::plain;
  shape.rhs = options.transpose_b ? Order::transposed : Order::plain;
  if (options.type != "f32") shape.type = options.type == "u8" ? DType::u8 : DType::i8;
  return shape;
}

const char* order_text(GemmShape::Order order) {
  return order == GemmShape::Order::plain ? "plain" : "transposed";
}

Json to_json(const ProblemFacts& facts) {
  Json json = Json::object();
  for (const auto& [name, fact] : facts) {
    std::visit([&, &key = name](const auto& value) { json[key] = value; }, fact);
  }
  return json;
}

SingleProblem gemm_problem(const GemmShape& shape) {
  const bool is_integer = shape.type != DType::f32;
  const std::string one = is_integer ? "integer_gemm" : "gemm";
  const std::string family = shape.batch > 0 ? "batched_" + one : one;
  const std::string type(name_of(shape.type));
  const std::string batch = shape.batch > 0 ? fmt::format(" B={}", shape.batch) : "";
  std::string title =
      fmt::format("{}{} M={} N={} K={} {}", family, batch, shape.m, shape.n, shape.k, type);
  if (shape.lhs == GemmShape::Order::transposed) title += ", lhs transposed";
  if (shape.rhs == GemmShape::Order::transposed) title += ", rhs transposed";
  SingleProblem problem{
      gemm_reference(shape), family, title, size_text({shape.m, shape.n, shape.k}), {},
      gemm_model(shape)};
  problem.facts = {{"family", family},
                   {"m", shape.m},
                   {"n", shape.n},
                   {"k", shape.k},
                   {"lhs", std::string(order_text(shape.lhs))},
                   {"rhs", std::string(order_text(shape.rhs))},
                   {"precision", type}};
  if (shape.batch > 0) {
    problem.facts.emplace_back("batch", shape.batch);
    problem.size = fmt::format("{} x {}", shape.batch, problem.size);
  }
  const auto products = static_cast<double>(std::max<std::int64_t>(shape.batch, 1));
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  problem.flop = products * 2.0 * m * n * k;
  problem.rating = SingleProblem::Rating::by_operations;
  problem.bytes = products * ((is_integer ? 1.0 : 4.0) * (m * k + k * n) + 4.0 * m * n);
  return problem;
}

std::vector<std::string> matrix_families() {
  std::vector<std::string> names;
  for (const MatrixFamily& family : families_of_matrices()) names.push_back(family.name);
  return names;
}

SingleProblem matrix_problem(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const auto family = std::ranges::find(families_of_matrices(), name, &MatrixFamily::name);
  SingleProblem problem{{},
                        name,
                        fmt::format("{} of {} x {} f32", name, rows, columns),
                        size_text({rows, columns}),
                        ProblemFacts{{"family", name},
                                     {"rows", rows},
                                     {"columns", columns},
                                     {"precision", std::string("f32")}},
                        family->model(rows, columns)};
  problem.rows = rows;
  problem.columns = columns;
  const double elements = static_cast<double>(rows) * static_cast<double>(columns);
  problem.flop = elements * family->flop;
  problem.bytes = 4.0 * (2.0 * elements + static_cast<double>(rows * family->biases_a_row));
  problem.roundings = family->roundings;
  problem.exact_on_integers = family->exact_on_integers;
  problem.row_cost = static_cast<double>(columns);
  problem.reference_row = [family, columns](const Inputs& inputs, std::int64_t row) {
    return matrix_row(*family, columns, inputs, row);
  };
  return problem;
}

Inputs integer_inputs(const SingleProblem& problem, std::uint64_t seed) {
  return morton::integer_inputs(problem.model.inputs(), seed);
}

}  // namespace morton::cli
