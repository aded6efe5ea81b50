// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/entry_values.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"
#include "source/instance.hpp"

namespace morton::plan {

EntryValues::EntryValues(const PreparedKernel& kernel, const AskedProblem& asked,
                         const DeviceInfo& device, std::int64_t elements_dst)
    : kernel_(kernel),
      asked_(asked),
      problem_(asked.problem()),
      device_(device),
      elements_dst_(elements_dst),
      values_(kernel.names.size()) {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value_of(i);
}

std::int64_t EntryValues::value_of(std::size_t place) {
  using Source = EntryName::Source;
  const EntryName& name = kernel_.sources[place];
  if (name.source == Source::device) return *name.value;
  if (name.source == Source::elements_dst) return elements_dst_;
  if (name.source == Source::products) {
    return kernel_.entry->origin.batch_of.empty() ? 1 : problem_.extents.at("B");
  }
  if (name.source != Source::problem) {
    Environment parts;
    add_part_sizes(problem_, parts);
    const auto part = parts.find(kernel_.names[place]);
    if (part != parts.end()) return part->second;
  }
  if (const auto value = asked_.value(name.number)) return *value;
  if (name.padded_of) {
    if (const auto extent = asked_.extent(*name.padded_of)) {
      return round_up(*extent, name.padded_step);
    }
  }
  is_complete_ = is_complete_ && name.value.has_value();
  return name.value.value_or(0);
}

std::int64_t EntryValues::size(const std::string& name) const {
  const auto extent = problem_.extents.find(name);
  return extent != problem_.extents.end() ? extent->second : problem_.structure.at(name);
}

std::optional<std::int64_t> EntryValues::padded(const std::string& dimension) const {
  const auto extent = problem_.extents.find(dimension);
  if (extent == problem_.extents.end()) return std::nullopt;
  const auto step = kernel_.steps.find(dimension);
  return round_up(extent->second, step == kernel_.steps.end() ? 1 : step->second);
}

const Expression* EntryValues::unmet() const {
  const auto& conditions = kernel_.entry->require;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (evaluate(kernel_.require[i], conditions[i]) == 0) return &conditions[i];
  }
  return nullptr;
}

LaunchNumbers EntryValues::launch() const {
  const Entry& entry = *kernel_.entry;
  LaunchNumbers launch;
  launch.dimensions = entry.launch.local.size();
  for (std::size_t i = 0; i < entry.launch.local.size(); ++i) {
    launch.size.local[i] = evaluate(kernel_.local[i], entry.launch.local[i]);
    launch.size.global[i] = evaluate(kernel_.global[i], entry.launch.global[i]);
  }
  launch.local_memory_bytes = evaluate(kernel_.local_memory_bytes, entry.launch.local_memory_bytes);
  return launch;
}

std::int64_t EntryValues::operations(Operations which) const {
  const bool flop = which == Operations::flop;
  const CompiledExpression& compiled = flop ? kernel_.cost.flop : kernel_.cost.work;
  const Expression& expression = flop ? kernel_.entry->cost.flop : kernel_.entry->cost.work;
  return kernel_.entry->padding.edges == Entry::Edges::pad ? on_padded(compiled, expression)
                                                           : evaluate(compiled, expression);
}

std::int64_t EntryValues::piece() const {
  return evaluate(kernel_.cost.piece, kernel_.entry->cost.piece);
}

std::int64_t EntryValues::bytes() const {
  return evaluate(kernel_.cost.bytes, kernel_.entry->cost.bytes);
}

Layout EntryValues::layout(const std::string& operand,
                           const std::vector<std::string>& dimensions) const {
  const auto known = kernel_.layouts.find(operand);
  // A recipe's name comes before a tunable of the same name, which a layout may be written in.
  const auto is_hidden = [&](std::size_t name) { return asked_.value(name).has_value(); };
  const auto names = kernel_.layout_names.find(operand);
  const bool differs =
      names != kernel_.layout_names.end() && std::ranges::any_of(names->second, is_hidden);
  if (!differs && known != kernel_.layouts.end()) return known->second;
  return layout_of(kernel_.entry->operands.at(operand), dimensions, environment());
}

std::int64_t EntryValues::evaluate(const CompiledExpression& compiled,
                                   const Expression& expression) const {
  const auto value = is_complete_ ? compiled.evaluate(values_) : std::nullopt;
  return value ? *value : expression.evaluate(environment());
}

std::int64_t EntryValues::on_padded(const CompiledExpression& compiled,
                                    const Expression& expression) const {
  if (is_complete_) {
    std::vector<std::int64_t> values = values_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const EntryName& name = kernel_.sources[i];
      if (const auto extent = asked_.extent(name.number)) values[i] = round_up(*extent, name.step);
    }
    if (const auto value = compiled.evaluate(values)) return *value;
  }
  const Environment names = environment();
  Environment padded_names = names;
  for (const auto& [extent, value] : problem_.extents) {
    padded_names[extent] = names.find(extent + "_pad")->second;
  }
  return expression.evaluate(padded_names);
}

Environment EntryValues::environment() const {
  return entry_environment(*kernel_.entry, problem_, *kernel_.tunables, device_, elements_dst_);
}

}  // namespace morton::plan
