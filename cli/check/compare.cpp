// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/kernel_contender.hpp"
#include "bench/single_problem.hpp"
#include "check/compare_model.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/unused_options.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kCompareFooter =
    R"(The numbers are normal with mean 0 and standard deviation 5, as in C18's test. The product is compared
with Eigen's in f32: mean and greatest absolute difference, results of the wrong sign, and results
more than 1 apart. `outside` counts results that lie further from the exact product than rounding can
explain. Any of these makes the status 1. With --type u8 or s8 the operands are random bytes, and every
result must be exact.

Examples:
  morton compare gemm --m 1000 --n 1000 --k 1000 --all-transpositions
  morton compare gemm --m 17 --n 63 --k 100 --trans-b --use gemm=gemm.morton_4_2
  morton compare gemm --m 17 --n 63 --k 100 --type u8)";

struct CompareArguments {
  GemmOptions gemm;
  bool every = false;
  std::uint64_t seed = 1;
  DeviceOptions device;
  KernelOptions kernels;
  ResultOptions result;
};

template <typename Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The operands, and what their product must be.
struct Reference {
  RowMajor<float> lhs, rhs;
  RowMajor<double> eigen;      ///< Eigen's product in f32; of bytes the exact one
  RowMajor<double> exact;      ///< in f64
  RowMajor<double> magnitude;  ///< sums of the terms' magnitudes
};

RowMajor<float> normal_matrix(std::int64_t rows, std::int64_t columns, std::mt19937_64& generator) {
  std::normal_distribution<float> normal(0.0F, 5.0F);
  RowMajor<float> matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(generator);
  return matrix;
}

RowMajor<float> random_bytes(DType type, std::int64_t rows, std::int64_t columns,
                             std::mt19937_64& generator) {
  const int least = type == DType::i8 ? -128 : 0;
  RowMajor<float> matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) {
    matrix.data()[i] = static_cast<float>(static_cast<int>(generator() % 256) + least);
  }
  return matrix;
}

Reference make_reference(const GemmShape& shape, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const bool has_bytes = shape.type != DType::f32;
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return has_bytes ? random_bytes(shape.type, rows, columns, generator)
                     : normal_matrix(rows, columns, generator);
  };
  Reference reference;
  reference.lhs = matrix(shape.m, shape.k);
  reference.rhs = matrix(shape.k, shape.n);
  const RowMajor<double> lhs = reference.lhs.cast<double>();
  const RowMajor<double> rhs = reference.rhs.cast<double>();
  reference.exact = lhs * rhs;
  reference.eigen = reference.exact;
  if (!has_bytes) {
    const RowMajor<float> product = reference.lhs * reference.rhs;
    reference.eigen = product.cast<double>();
  }
  reference.magnitude = lhs.cwiseAbs() * rhs.cwiseAbs();
  return reference;
}

/// The matrix as the caller of the product holds it.
Tensor held(const RowMajor<float>& matrix, GemmShape::Order order, DType type) {
  const RowMajor<float> lying =
      order == GemmShape::Order::plain ? matrix : RowMajor<float>(matrix.transpose());
  Tensor tensor = Tensor::allocate(DType::f32, {lying.rows(), lying.cols()});
  std::copy_n(lying.data(), lying.size(), tensor.as_mutable<float>().begin());
  return type == DType::f32 ? tensor : tensor.converted(type);
}

/// How one way of holding the operands came out.
struct Comparison {
  GemmShape shape;
  std::string kernels;
  double mean_error = 0.0, max_error = 0.0;
  std::int64_t sign_errors = 0, above_one = 0, outside = 0;
};

void compare(const Tensor& dst, const Reference& reference, double unit_roundoff,
             Comparison& outcome) {
  const double roundings = static_cast<double>(reference.lhs.cols()) + 4.0;
  double sum = 0.0;
  for (std::int64_t at = 0; at < dst.size(); ++at) {
    const double value = dst.at(at);
    const double eigen = reference.eigen.data()[at];
    const double difference = std::abs(value - eigen);
    sum += difference;
    // Written so that NaN counts everywhere.
    if (!(difference <= outcome.max_error)) outcome.max_error = difference;
    const auto sign = [](double number) { return (number > 0.0) - (number < 0.0); };
    if (sign(value) != sign(eigen) || std::isnan(value)) ++outcome.sign_errors;
    if (!(difference <= 1.0)) ++outcome.above_one;
    // Each operand may be rounded to what is kept in memory; sums are rounded in f32, whole numbers
    // not at all.
    const double rounding =
        dst.dtype() == DType::f32 ? 2.0 * unit_roundoff + roundings * 0x1p-24 : 0;
    const double allowed = rounding * reference.magnitude.data()[at];
    if (!(std::abs(value - reference.exact.data()[at]) <= allowed)) ++outcome.outside;
  }
  outcome.mean_error = sum / static_cast<double>(dst.size());
}

/// One way of holding the operands, and the product that is to be tried.
struct Way {
  GemmShape shape;
  CompiledModel model;
};

Comparison run_one(const Way& way, const Reference& reference, const CompileOptions& compile) {
  const auto& [shape, model] = way;
  Session session(model);
  const Inputs inputs{{"lhs", held(reference.lhs, shape.lhs, shape.type)},
                      {"rhs", held(reference.rhs, shape.rhs, shape.type)}};
  const std::vector<NamedTensor> outputs = session.run(inputs);
  Comparison outcome;
  outcome.shape = shape;
  outcome.kernels = computing_kernels(model.steps());
  compare(outputs.front().tensor, reference,
          unit_roundoff_with(unit_roundoff_of(model.steps()), compile.precision.sums), outcome);
  return outcome;
}

Json json_of(const CompareArguments& options, const Device& device,
             const std::vector<Comparison>& outcomes) {
  Json list = Json::array();
  for (const Comparison& outcome : outcomes) {
    list.push_back({{"lhs", order_text(outcome.shape.lhs)},
                    {"rhs", order_text(outcome.shape.rhs)},
                    {"kernel", outcome.kernels},
                    {"mean_error", outcome.mean_error},
                    {"max_error", outcome.max_error},
                    {"sign_errors", outcome.sign_errors},
                    {"errors_above_1", outcome.above_one},
                    {"outside_bound", outcome.outside}});
  }
  return {{"problem",
           {{"family", "gemm"},
            {"m", options.gemm.m},
            {"n", options.gemm.n},
            {"k", options.gemm.k},
            {"type", name_of(shape_of(options.gemm).type)}}},
          {"seed", options.seed},
          {"device", {{"id", device.id()}, {"name", device.name()}}},
          {"elements", options.gemm.m * options.gemm.n},
          {"outcomes", list}};
}

std::string text_of(const CompareArguments& options, const Device& device,
                    const std::vector<Comparison>& outcomes) {
  using enum Table::Align;
  Table table;
  table.columns = {{"lhs"},
                   {"rhs"},
                   {"kernel"},
                   {"mean error", right},
                   {"max error", right},
                   {"sign errors", right},
                   {"errors above 1", right},
                   {"outside", right}};
  for (const Comparison& outcome : outcomes) {
    table.rows.push_back({order_text(outcome.shape.lhs), order_text(outcome.shape.rhs),
                          outcome.kernels, fmt::format("{:.3g}", outcome.mean_error),
                          fmt::format("{:.3g}", outcome.max_error),
                          std::to_string(outcome.sign_errors), std::to_string(outcome.above_one),
                          std::to_string(outcome.outside)});
  }
  const GemmOptions& gemm = options.gemm;
  return fmt::format("gemm M={} N={} K={} {}, {}, against Eigen, on {}\n\n", gemm.m, gemm.n, gemm.k,
                     name_of(shape_of(gemm).type),
                     gemm.type == "f32" ? "normal(0, 5)" : "random bytes", device.description()) +
         to_text(table, options.result.format);
}

/// Those that are asked for: one, or all four.
std::vector<Way> ways_of(const CompareArguments& options, const GemmShape& asked,
                         const Device& device, const CompileOptions& compile) {
  using Order = GemmShape::Order;
  std::vector<Way> ways;
  for (const Order lhs : {Order::plain, Order::transposed}) {
    for (const Order rhs : {Order::plain, Order::transposed}) {
      if (!options.every && (lhs != asked.lhs || rhs != asked.rhs)) continue;
      GemmShape shape = asked;
      shape.lhs = lhs;
      shape.rhs = rhs;
      ways.push_back({shape, compile_model(gemm_model(shape), device, compile)});
    }
  }
  return ways;
}

UsedChoices choices_of(const std::vector<Way>& ways) {
  UsedChoices used;
  std::vector<StepInfo> steps;
  for (const Way& way : ways) std::ranges::copy(way.model.steps(), std::back_inserter(steps));
  for (const StepInfo& step : steps) {
    used.work_groups.push_back(work_group_of(step));
    used.stored.push_back(stored_type_of({step}));
    used.kernels.push_back(step.kernel);
  }
  return used;
}

int compare_gemm(const CompareArguments& options) {
  const CompileOptions compile = compile_options(options.kernels);
  const GemmShape shape = shape_of(options.gemm);
  static_cast<void>(gemm_model(shape));  // refuses bad extents before anything is made of them
  const Device device = open_device(options.device);
  const std::vector<Way> ways = ways_of(options, shape, device, compile);
  const UsedChoices used = choices_of(ways);
  // What nothing reads is refused before the host multiplies.
  refuse_foreign(options.kernels, shape.type == DType::f32 ? "gemm" : "integer_gemm", used.kernels);
  const Reference reference = make_reference(shape, options.seed);
  std::vector<Comparison> outcomes;
  for (const Way& way : ways) outcomes.push_back(run_one(way, reference, compile));
  for (const std::string& line : unused_of(options.kernels, used)) log::warn("{}", line);
  const Json json = json_of(options, device, outcomes);
  const Format format = options.result.format;
  emit(for_people(format) ? text_of(options, device, outcomes)
                          : to_text(format == Format::csv ? json["outcomes"] : json, format),
       options.result.path);
  std::int64_t outside = 0;
  for (const Comparison& outcome : outcomes) outside += outcome.outside;
  if (outside == 0) return 0;
  log::error("{} results lie further from the exact product than rounding explains", outside);
  return kCheckFailed;
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  CLI::App* compare_command =
      app.add_subcommand("compare", "Compare results with those of another implementation");
  compare_command->require_subcommand(0, 1);
  add_compare_model(*compare_command, chosen);
  CLI::App* command = compare_command->add_subcommand("gemm", "Products against Eigen's");
  command->footer(kCompareFooter);
  auto options = std::make_shared<CompareArguments>();
  add_options(*command, options->gemm);
  add_type_option(*command, options->gemm);
  command->add_flag("--all-transpositions", options->every, "All four ways, one after the other");
  command->add_option("--seed", options->seed, "Seed of the numbers (1)")
      ->option_text("N")
      ->check(whole_number(0));
  add_options(*command, options->kernels);
  add_options(*command, options->device);
  add_options(
      *command, options->result,
      {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}, {"csv", Format::csv}});
  command->callback([options, &chosen] { chosen = [options] { return compare_gemm(*options); }; });
}

}  // namespace morton::cli
