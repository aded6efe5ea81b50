// SPDX-License-Identifier: Apache-2.0
#include "problems/problem.hpp"

#include "base/error.hpp"

namespace morton::problems {
namespace {

/// True for the dimensions of problems of any rank: D0, D1, ...
bool is_numbered_dimension(const std::string& name) {
  return name.size() > 1 && name[0] == 'D' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

Environment environment_of(const Problem& problem) {
  Environment environment = problem.extents;
  for (const auto& [name, value] : problem.structure) {
    if (!environment.emplace(name, value).second) {
      throw InternalError("problem " + problem.family.name() + ": '" + name +
                          "' is both an extent and structure");
    }
  }
  return environment;
}

std::int64_t elements_of(const OperandSchema& schema, const Problem& problem) {
  const Environment sizes = environment_of(problem);
  std::int64_t elements = 1;
  for (const std::string_view dimension : schema.dimensions) {
    elements *= sizes.at(std::string(dimension));
  }
  if (!schema.dimensions.empty()) return elements;
  for (const auto& [name, extent] : problem.extents) {
    if (is_numbered_dimension(name)) elements *= extent;
  }
  return elements;
}

double flop_of(const Problem& problem) {
  return static_cast<double>(problem.family->flop.evaluate(environment_of(problem)));
}

double bytes_of(const Problem& problem) {
  double bytes = 0.0;
  for (const OperandSchema& schema : problem.family->operands) {
    const DType type = problem.types.at(std::string(schema.name));
    bytes += static_cast<double>(elements_of(schema, problem) * size_of(type));
  }
  return bytes;
}

std::string print(const Problem& problem) {
  std::string text = problem.family.name();
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

}  // namespace morton::problems
