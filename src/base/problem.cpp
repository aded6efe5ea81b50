// SPDX-License-Identifier: Apache-2.0
#include "base/problem.hpp"

#include "base/error.hpp"

namespace morton {
namespace {

using Role = OperandSchema::Role;

OperandSchema input(std::string_view name, std::vector<std::string_view> dimensions) {
  return {Role::input, name, std::move(dimensions)};
}

OperandSchema output(std::vector<std::string_view> dimensions) {
  return {Role::output, "dst", std::move(dimensions)};
}

}  // namespace

const std::vector<ProblemFamily>& problem_families() {
  static const std::vector<ProblemFamily> kFamilies{
      {"gemm", {input("lhs", {"M", "K"}), input("rhs", {"K", "N"}), output({"M", "N"})}},
      {"batched_gemm",
       {input("lhs", {"B", "M", "K"}), input("rhs", {"B", "K", "N"}), output({"B", "M", "N"})}},
      {"filter_gemm",
       {input("lhs", {"M", "K"}), input("rhs", {"B", "K", "N"}), output({"B", "M", "N"})}},
      {"integer_gemm",
       {input("lhs", {"M", "K"}), input("rhs", {"K", "N"}), output({"M", "N"})},
       {"ZL", "ZR"}},
      {"conv2d",
       {input("src", {"N", "C", "H", "W"}), input("weights", {"O", "I", "KH", "KW"}),
        output({"N", "O", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL", "G", "I"}},
      {"max_pool2d",
       {input("src", {"N", "C", "H", "W"}), output({"N", "C", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL"}},
      {"average_pool2d",
       {input("src", {"N", "C", "H", "W"}), output({"N", "C", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL", "PB", "PR", "COUNT_PAD"}},
      {"conv2d_pool",
       {input("src", {"N", "C", "H", "W"}), input("weights", {"O", "I", "KH", "KW"}),
        input("bias", {"O"}), output({"N", "O", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL", "G",       "I",        "MAP",
        "QH", "QW", "UH", "UW", "QT", "QL", "QB", "QR", "COMBINE", "COUNT_PAD"},
       {"RH", "RW"}},
      {"lp_pool2d",
       {input("src", {"N", "C", "H", "W"}), output({"N", "C", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL", "P"}},
      {"max_pool2d_indices",
       {input("src", {"N", "C", "H", "W"}), output({"N", "C", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL", "COLUMNS"}},
      {"max_pool2d_gradient",
       {input("src", {"N", "C", "H", "W"}), input("above", {"N", "C", "OH", "OW"}),
        output({"N", "C", "H", "W"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL"}},
      {"conv_transpose2d",
       {input("src", {"N", "C", "H", "W"}), input("weights", {"C", "J", "KH", "KW"}),
        output({"N", "O", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL", "G", "J"}},
      {"resize2d",
       {input("src", {"C", "H", "W"}), output({"C", "OH", "OW"})},
       {"TAPS", "EXCLUDE", "CUBIC"},
       {"HN", "HA", "HD", "WN", "WA", "WD"}},
      {"elementwise", {input("src0", {}), output({})}},
      {"bias", {input("src", {"M", "N"}), input("bias", {"M"}), output({"M", "N"})}},
      {"sigmoid", {input("src", {"M", "N"}), output({"M", "N"})}},
      {"relu", {input("src", {"M", "N"}), output({"M", "N"})}},
      {"sum", {input("src", {"B", "M", "N"}), output({"M", "N"})}},
      {"reduce",
       {input("src", {"M", "L", "N"}), output({"P", "M", "N"})},
       {"MAP", "COMBINE", "MEAN"},
       {"DEPTH", "COUNT"}},
      {"log_sum_exp", {input("src", {"M", "L", "N"}), output({"M", "N"})}},
      {"inverse_deviation", {input("src", {"M", "L", "N"}), output({"M", "N"})}, {"EPSILON"}},
      {"arg_max", {input("src", {"M", "L", "N"}), output({"M", "N"})}, {"SMALLEST", "LAST"}},
      {"softmax", {input("src", {"M", "L", "N"}), output({"M", "L", "N"})}, {"LOG"}},
      {"hardmax", {input("src", {"M", "L", "N"}), output({"M", "L", "N"})}},
      {"normalize", {input("src", {"M", "L", "N"}), output({"M", "L", "N"})}, {"KIND", "EPSILON"}},
      {"top_k", {input("src", {"M", "L", "N"}), output({"M", "K", "N"})}, {"SMALLEST", "INDICES"}},
      {"cumulative_sum",
       {input("src", {"M", "L", "N"}), output({"M", "L", "N"})},
       {"EXCLUSIVE", "REVERSE"}},
      {"local_response",
       {input("src", {"N", "C", "S"}), output({"N", "C", "S"})},
       {"SIZE", "ALPHA", "BETA", "BIAS"}},
      {"unfold2d",
       {input("src", {"N", "C", "H", "W"}), output({"N", "K", "P"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL"},
       {"OH", "OW"}},
      {"fold2d",
       {input("src", {"N", "K", "P"}), output({"N", "O", "OH", "OW"})},
       {"KH", "KW", "SH", "SW", "DH", "DW", "PT", "PL"},
       {"H", "W"}},
      {"pack", {input("src", {}), output({})}},
      {"gather",
       {input("src", {}), input("index", {}), output({})},
       {"L"},
       {"I0", "I1", "I2", "I3"}},
      {"winograd_weights", {input("src", {"O", "C", "U", "V"}), output({"X", "O", "C"})}, {"OUT"}},
      {"winograd_input",
       {input("src", {"N", "C", "H", "W"}), output({"X", "C", "T"})},
       {"OUT", "PT", "PL"},
       {"T0", "TH", "TW"}},
      {"winograd_output",
       {input("src", {"X", "O", "T"}), output({"N", "O", "OH", "OW"})},
       {"OUT"},
       {"T0", "TH", "TW"}},
  };
  return kFamilies;
}

const ProblemFamily* find_problem_family(std::string_view name) {
  for (const auto& family : problem_families()) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

Environment environment_of(const Problem& problem) {
  Environment environment = problem.extents;
  for (const auto& [name, value] : problem.structure) {
    if (!environment.emplace(name, value).second) {
      throw InternalError("problem " + problem.family + ": '" + name +
                          "' is both an extent and structure");
    }
  }
  return environment;
}

std::string print(const Problem& problem) {
  std::string text = problem.family;
  for (const auto& [name, value] : problem.extents)
    text += " " + name + "=" + std::to_string(value);
  for (const auto& [name, value] : problem.structure) {
    text += " " + name + "=" + std::to_string(value);
  }
  if (const auto type = problem.types.find("dst"); type != problem.types.end()) {
    text += " " + std::string(name_of(type->second));
  }
  if (!problem.epilogue.is_identity()) text += ", " + problem.epilogue.print();
  return text;
}

}  // namespace morton
