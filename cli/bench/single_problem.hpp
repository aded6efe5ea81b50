// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/tensor.hpp"
#include "morton/tools/expectation.hpp"
#include "morton/tools/problems.hpp"

namespace morton::cli {

using Inputs = std::vector<NamedTensor>;

/// What a problem is, for programs: "m" is 17, "precision" is "f32".
using ProblemFacts = std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>>;
[[nodiscard]] Json to_json(const ProblemFacts& facts);

/// A problem of one family, for the commands that measure or compare its kernels.
struct SingleProblem : ProblemReference {
  std::string family;  ///< "gemm", "bias", "sigmoid", ...
  std::string title;   ///< "gemm M=17 N=3 K=5 f32"
  std::string size;    ///< "17x3x5", "1024" where extents are alike; a batch "4 x 1024"
  ProblemFacts facts;  ///< the same for programs
  Model model;
  double flop = 0.0;   ///< what a caller asks for, padding not counted
  double bytes = 0.0;  ///< every operand once
  /// What a kernel's time is held against.
  enum class Rating : std::uint8_t { by_bytes, by_operations } rating = Rating::by_bytes;
  /// By which problems of the family are compared: operations, or bytes.
  [[nodiscard]] double work() const { return rating == Rating::by_operations ? flop : bytes; }
};

/// A product, as commands are told of it.
struct GemmOptions {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::string type = "f32";  ///< or u8 or s8: of 8-bit operands, whose sums have 32 bits
};

/// --m, --n, --k, which must be given, --trans-a and --trans-b.
void add_options(CLI::App& command, GemmOptions& options);
/// --type.
void add_type_option(CLI::App& command, GemmOptions& options);
[[nodiscard]] GemmShape shape_of(const GemmOptions& options);
/// "plain" or "transposed".
[[nodiscard]] const char* order_text(GemmShape::Order order);

[[nodiscard]] SingleProblem gemm_problem(const GemmShape& shape);
/// Names of the families of one matrix: bias, sigmoid, relu.
[[nodiscard]] std::vector<std::string> matrix_families();
/// A problem of one of them.
[[nodiscard]] SingleProblem matrix_problem(const std::string& name, std::int64_t rows,
                                           std::int64_t columns);

/// Seeded integers: from -3 to 3 for f32, any byte for u8 and i8.
[[nodiscard]] Inputs integer_inputs(const SingleProblem& problem, std::uint64_t seed);

}  // namespace morton::cli
