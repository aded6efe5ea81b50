// SPDX-License-Identifier: Apache-2.0
//
// What the integers are that an instance's text asks for.
#include <numeric>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "source/accessor.hpp"
#include "source/instance.hpp"

namespace morton::source {
namespace {

void add_memory_sizes(const InstanceOperand& operand, Environment& values) {
  for (std::size_t d = 0; d < operand.arrangement.padded.size(); ++d) {
    values[padded_name(operand.name, d).print()] = operand.arrangement.padded[d];
  }
  for (std::size_t t = 0; t < operand.arrangement.tensor_shape.size(); ++t) {
    values[tensor_extent_name(operand.name, t).print()] = operand.arrangement.tensor_shape[t];
  }
  values[pitch_name(operand.name).print()] = operand.arrangement.pitch;
  if (const auto batch = values.find("B"); batch != values.end() && batch->second > 0) {
    // What all products share lies there once.
    const auto& groups = operand.view.grouping;
    const bool shared = groups && !groups->empty() && groups->front().empty() &&
                        operand.direction == InstanceOperand::Direction::read;
    values[batch_stride_name(operand.name).print()] =
        shared ? 0 : elements_of(operand.arrangement) / batch->second;
  }
}

}  // namespace

Environment padded_extents(const Entry& entry, const Problem& problem,
                           const Environment& tunables) {
  Environment padded;
  for (const auto& [name, extent] : problem.extents) {
    std::int64_t step = 1;
    if (const auto align = entry.padding.align.find(name); align != entry.padding.align.end()) {
      step = align->second.evaluate(tunables);
    }
    for (const auto& schema : entry.family->operands) {
      const auto format = entry.operands.find(std::string(schema.name));
      if (format == entry.operands.end()) continue;
      std::vector<std::string> dimensions(schema.dimensions.begin(), schema.dimensions.end());
      if (format->second.is_any()) continue;
      const Layout layout = layout_of(format->second, dimensions, tunables);
      for (std::size_t d = 0; d < dimensions.size(); ++d) {
        if (dimensions[d] == name) step = std::lcm(step, layout.tile(static_cast<int>(d)));
      }
    }
    padded[name + "_pad"] = round_up(extent, step);
  }
  return padded;
}

void add_part_sizes(const Problem& problem, Environment& values) {
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  for (std::size_t d = 0;; ++d) {
    const auto extent = problem.extents.find("D" + std::to_string(d));
    if (extent == problem.extents.end()) break;
    if (columns > 0) rows = checked_mul(rows, columns, "part_rows");
    columns = extent->second;
  }
  if (columns == 0) return;
  values["part_rows"] = rows;
  values["part_columns"] = columns;
}

Environment argument_values(const InstanceSpec& spec) {
  Environment values = spec.problem.extents;
  values.insert(spec.problem.structure.begin(), spec.problem.structure.end());
  values.merge(padded_extents(*spec.entry, spec.problem, spec.tunables));
  for (const auto& operand : spec.operands) {
    add_memory_sizes(operand, values);
    if (operand.name == "dst") values["elements_dst"] = elements_of(operand.arrangement);
  }
  for (const auto& side : spec.sides) add_memory_sizes(side, values);
  add_part_sizes(spec.problem, values);
  return values;
}

}  // namespace morton::source
