// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/traffic.hpp"

#include <algorithm>
#include <map>

#include "base/shape.hpp"

namespace morton::plan {
Traffic traffic_of(const ScheduledKernel& kernel, const Values& values) {
  Traffic traffic;
  std::map<ValueId, std::int64_t> touched;  // by the value that has the memory
  const auto add = [&](ValueId id, std::int64_t elements) {
    const Arrangement& arrangement = values[id].arrangement;
    const std::int64_t there = element_count(arrangement.tensor_shape);
    const std::int64_t bytes = std::min(elements, there) * size_of(arrangement.dtype);
    traffic.bytes += bytes;
    std::int64_t& most = touched[memory_root(values, id)];
    most = std::max(most, bytes);
  };
  const BoundProblem& bound = *kernel.choice.bound;
  for (const OperandSchema& schema : bound.problem.family->operands) {
    add(kernel.values.at(std::string(schema.name)), elements_of(schema, bound.problem));
  }
  for (std::size_t i = 0; i < kernel.sides.size(); ++i) {
    add(kernel.sides[i], element_count(bound.sides[i].shape));
  }
  for (const auto& [root, bytes] : touched) traffic.footprint_bytes += bytes;
  return traffic;
}

}  // namespace morton::plan
