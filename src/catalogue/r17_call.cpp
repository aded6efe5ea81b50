// SPDX-License-Identifier: Apache-2.0
#include "catalogue/r17_call.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text/bare_code.hpp"
#include "catalogue/reader.hpp"
#include "layout/layout.hpp"

namespace morton::catalogue {
namespace {

/// What stands between the parentheses behind a function's name, cut at its commas.
std::vector<std::string> parameters_of(const std::string& code, const std::string& function) {
  const std::optional<std::size_t> start = find_parameters(code, function);
  if (!start) return {};
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  std::vector<std::string> parameters(1);
  int depth = 0;
  for (std::size_t at = *start; at < code.size(); ++at) {
    const char c = is_space(code[at]) ? ' ' : code[at];
    if (c == ')' && --depth == 0) break;
    if (c == ',' && depth == 1) {
      parameters.emplace_back();
    } else if (depth > 0 && (c != ' ' || !parameters.back().empty())) {
      parameters.back() += c;
    }
    if (c == '(') ++depth;
  }
  const bool none =
      parameters.back().find_first_not_of(' ') == std::string::npos || parameters.back() == "void";
  return parameters.size() == 1 && none ? std::vector<std::string>() : parameters;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool is_matrix(const std::string& parameter) {
  return parameter == "a" || parameter == "b" || parameter == "r";
}

/// An argument here for each of R17's.
std::string argument_of(const std::string& parameter, const R17Call& call, Family family) {
  if (parameter == "l") return "K_pad";
  if (parameter == "w") return "N_pad";
  if (parameter == "h") return "M_pad";
  if (parameter == "r" || (parameter == "a" && call.in_place)) return "dst";
  if (family == families::gemm) return parameter == "a" ? "lhs" : "rhs";
  return parameter == "a" ? "src" : "bias";
}

/// The call of R17's kernel. Its own types of pointers may be vectors', and none is const.
std::string call_text(const R17Call& call, const std::string& function, Family family) {
  std::vector<std::string> arguments;
  for (const std::string& parameter : call.parameters) {
    const std::string name = argument_of(parameter, call, family);
    arguments.push_back(is_matrix(parameter) ? "(__global void*)" + name : name);
  }
  return "  " + function + "(" + listed(arguments) + ");\n";
}

/// A work-item computes `elements` neighbours; those of the last work-group may be too many.
std::string body_over_elements(const R17Call& call) {
  const std::string each = std::to_string(call.elements);
  std::string text = "  const int item = get_global_id(0);\n";
  text += "  if (item >= elements_dst / " + each + ") return;\n";
  if (!call.in_place) return text;
  text += "  for (int i = " + each + " * item; i < " + each + " * item + " + each + "; ++i)\n";
  return text + "    dst[i] = src[i];\n";
}

/// A work-item computes a patch of rows and columns, which lie where the layout has them.
std::string body_over_matrix(const R17Call& call, const Entry& entry) {
  if (!call.in_place) return "";
  const std::array coordinates{Expression::variable("m"), Expression::variable("n")};
  const std::array padded{Expression::variable("M_pad"), Expression::variable("N_pad")};
  const Expression offset =
      offset_expression(*entry.operands.at("dst").layout, coordinates, padded);
  const std::string rows = std::to_string(call.rows), cols = std::to_string(call.cols);
  return "  for (int i = 0; i < " + rows + "; ++i) {\n    for (int j = 0; j < " + cols +
         "; ++j) {\n      const int m = get_global_id(0) * " + rows +
         " + i;\n      const int n = get_global_id(1) * " + cols +
         " + j;\n      const int e = " + offset.to_opencl() +
         ";\n      dst[e] = src[e];\n    }\n  }\n";
}

}  // namespace

void check_r17_parameters(const R17Call& call, const JsonReader& function, const Entry& entry) {
  const std::vector<std::string> found = parameters_of(entry.program.code, function.text());
  bool fits = found.size() == call.parameters.size();
  for (std::size_t p = 0; fits && p < found.size(); ++p) {
    fits = is_matrix(call.parameters[p]) == (found[p].find('*') != std::string::npos);
  }
  if (fits) return;
  function.fail(entry.program.source_file + " declares (" + listed(found) +
                "), but R17's kernel of " + entry.family.name() + " takes (" +
                listed(call.parameters) + "): l, w and h are sizes, a, b and r are matrices");
}

void adopt_r17_kernel(const R17Call& call, Entry& entry) {
  Entry::Program& program = entry.program;
  if (entry.family == families::gemm) {
    for (const std::string& parameter : call.parameters) {
      entry.launch.arguments.push_back(argument_of(parameter, call, entry.family));
    }
    return;
  }
  const std::string inner = program.function;
  program.function += "_apart";
  while (program.code.find(program.function) != std::string::npos) program.function += "_";
  const bool over_elements = call.elements > 0;
  entry.launch.arguments = over_elements ? std::vector<std::string>{"elements_dst", "src", "dst"}
                                         : std::vector<std::string>{"M_pad", "N_pad", "src", "dst"};
  if (entry.operands.contains("bias")) entry.launch.arguments.emplace_back("bias");
  program.source += "__kernel ATTRIBUTES void " + program.function + "(ARGUMENTS) {\n" +
                    (over_elements ? body_over_elements(call) : body_over_matrix(call, entry)) +
                    call_text(call, inner, entry.family) + "}\n";
  program.code = bare_code(program.source);
}

}  // namespace morton::catalogue
