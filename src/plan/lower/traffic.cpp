// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/traffic.hpp"

#include <algorithm>
#include <map>

#include "base/shape.hpp"

namespace morton::plan {
namespace {

/// True for the dimensions of problems of any rank: D0, D1, ...
bool is_numbered(const std::string& name) {
  return name.size() > 1 && name[0] == 'D' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

/// Elements of an operand as its problem states its extents.
std::int64_t elements_of(const OperandSchema& schema, const Problem& problem) {
  const Environment sizes = environment_of(problem);
  std::int64_t elements = 1;
  for (const std::string_view dimension : schema.dimensions) {
    elements *= sizes.at(std::string(dimension));
  }
  if (!schema.dimensions.empty()) return elements;
  for (const auto& [name, extent] : problem.extents) {
    if (is_numbered(name)) elements *= extent;
  }
  return elements;
}

}  // namespace

Traffic traffic_of(const ScheduledKernel& kernel, const std::vector<Value>& values) {
  Traffic traffic;
  std::map<int, std::int64_t> touched;  // by the value that has the memory
  const auto add = [&](int index, std::int64_t elements) {
    const Arrangement& arrangement = values[static_cast<std::size_t>(index)].arrangement;
    const std::int64_t there = element_count(arrangement.tensor_shape);
    const std::int64_t bytes = std::min(elements, there) * size_of(arrangement.dtype);
    traffic.bytes += bytes;
    std::int64_t& most = touched[memory_root(values, index)];
    most = std::max(most, bytes);
  };
  const BoundProblem& bound = kernel.choice.bound;
  for (const OperandSchema& schema : find_problem_family(bound.problem.family)->operands) {
    add(kernel.values.at(std::string(schema.name)), elements_of(schema, bound.problem));
  }
  for (std::size_t i = 0; i < kernel.sides.size(); ++i) {
    add(kernel.sides[i], element_count(bound.sides[i].shape));
  }
  for (const auto& [root, bytes] : touched) traffic.footprint_bytes += bytes;
  return traffic;
}

}  // namespace morton::plan
