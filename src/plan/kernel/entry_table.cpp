// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/entry_table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/device/fatal_kernels.hpp"
#include "plan/cost/cost.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/measured/static_costs.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/work_group.hpp"
#include "source/work_program.hpp"

namespace morton::plan {
namespace {

constexpr std::string_view kPadded = "_pad";

std::vector<CompiledExpression> compiled(const std::vector<Expression>& expressions,
                                         ValueNames& names) {
  std::vector<CompiledExpression> all;
  for (const Expression& expression : expressions) all.emplace_back(expression, names);
  return all;
}

EntryName source_of(const std::string& name, const PreparedKernel& kernel,
                    const Environment& device, NameNumbers& numbers) {
  using Source = EntryName::Source;
  const auto step_of = [&](std::string_view dimension) {
    const auto step = kernel.steps.find(dimension);
    return step == kernel.steps.end() ? 1 : step->second;
  };
  EntryName result;
  result.number = numbers.of(name);
  result.step = step_of(name);
  if (name == "elements_dst") result.source = Source::elements_dst;
  if (name == "products") result.source = Source::products;
  if (name == "part_rows") result.source = Source::part_rows;
  if (name == "part_columns") result.source = Source::part_columns;
  if (name.ends_with(kPadded)) {
    const std::string dimension = name.substr(0, name.size() - kPadded.size());
    result.padded_of = numbers.of(dimension);
    result.padded_step = step_of(dimension);
  }
  const Environment& tunables = *kernel.tunables;
  if (const auto tunable = tunables.find(name); tunable != tunables.end()) {
    result.value = tunable->second;
  } else if (const auto fact = device.find(name); fact != device.end()) {
    result.source = Source::device;
    result.value = fact->second;
  }
  return result;
}

/// The layouts that the operands must have, by operand.
NameMap<Layout> layouts_of(const Entry& entry, const Environment& tunables) {
  NameMap<Layout> layouts;
  for (const auto& schema : entry.family->operands) {
    const auto format = entry.operands.find(std::string(schema.name));
    const bool states_one = format != entry.operands.end() && !format->second.is_any();
    // What packs into one layout is chosen where that is already settled.
    if (!states_one || schema.dimensions.empty()) continue;
    const std::vector<std::string> names(schema.dimensions.begin(), schema.dimensions.end());
    layouts.emplace(schema.name, layout_of(format->second, names, tunables));
  }
  return layouts;
}

/// By operand, the numbers of the names in the braces of its layout.
NameMap<std::vector<std::size_t>> layout_names_of(const Entry& entry, NameNumbers& numbers) {
  NameMap<std::vector<std::size_t>> names;
  for (const auto& [operand, format] : entry.operands) {
    const std::string& text = format.layout_text;
    for (std::size_t i = text.find('{'); i != std::string::npos; i = text.find('{', i + 1)) {
      const std::string braces = text.substr(i + 1, text.find('}', i) - i - 1);
      for (const auto& name : Expression::parse(braces, entry.origin.file).variables()) {
        names[operand].push_back(numbers.of(name));
      }
    }
  }
  return names;
}

/// As padded_extents pads.
NameMap<std::int64_t> steps_of(const Entry& entry, const Environment& tunables,
                               const NameMap<Layout>& layouts) {
  NameMap<std::int64_t> steps;
  for (const auto& [name, align] : entry.padding.align) steps[name] = align.evaluate(tunables);
  for (const auto& schema : entry.family->operands) {
    const auto layout = layouts.find(schema.name);
    if (layout == layouts.end()) continue;
    for (std::size_t d = 0; d < schema.dimensions.size(); ++d) {
      std::int64_t& step = steps.try_emplace(schema.dimensions[d], 1).first->second;
      step = std::lcm(step, layout->second.tile(static_cast<int>(d)));
    }
  }
  return steps;
}

bool has_verdicts_on(const Entry& entry, const TunedData& tuned) {
  return std::ranges::any_of(tuned.verdicts(), [&](const Verdict& verdict) {
    return verdict.kernel == entry.name || verdict.kernel == entry.origin.batch_of;
  });
}

/// Of this version of the kernel; of equal values the later ones.
std::vector<const StaticCost*> costs_of(const Entry& entry, const std::vector<StaticCost>& costs) {
  std::vector<const StaticCost*> own;
  for (const StaticCost& cost : costs) {
    const bool same_kernel = cost.kernel == entry.name || cost.kernel == entry.origin.batch_of;
    if (!same_kernel || !entry.program.digest.is(cost.hash)) continue;
    if (!are_listed(entry, cost.tunables)) continue;
    std::erase_if(own, [&](const StaticCost* other) { return other->tunables == cost.tunables; });
    own.push_back(&cost);
  }
  return own;
}

}  // namespace

PreparedKernel::PreparedKernel(const Entry& of, const Environment& values,
                               const Environment& device, NameNumbers& numbers)
    : entry(&of),
      tunables(std::make_shared<const Environment>(values)),
      require(compiled(of.require, names)),
      global(compiled(of.launch.global, names)),
      local(compiled(of.launch.local, names)),
      local_memory_bytes(of.launch.local_memory_bytes, names),
      cost{CompiledExpression(of.cost.flop, names), CompiledExpression(of.cost.work, names),
           CompiledExpression(of.cost.bytes, names), CompiledExpression(of.cost.piece, names)},
      layouts(layouts_of(of, values)),
      layout_names(layout_names_of(of, numbers)),
      steps(steps_of(of, values, layouts)) {
  for (const std::string& name : names) {
    sources.push_back(source_of(name, *this, device, numbers));
  }
}

PreparedEntry::PreparedEntry(const Entry& of, const DeviceInfo& device,
                             const Environment& device_names, const PlanOptions& options,
                             const std::vector<StaticCost>& costs)
    : entry(&of),
      chosen(choose_tunables(of, device_names, options)),
      efficiency(efficiency_of(of, device)),
      walks_memory(of.uses("COORDINATES_OF_dst") ||
                   (of.takes_work() && !writes_part_by_program(of))),
      writes_parts(plan::writes_parts(of)),
      fatal_quirk(morton::fatal_quirk(device, of.name)),
      static_costs(costs_of(of, costs)) {
  if (options.tuned == nullptr) return;
  has_records = options.tuned->knows(of);
  has_verdicts = has_verdicts_on(of, *options.tuned);
}

const StaticCost* PreparedEntry::static_cost_of(const Environment& tunables) const {
  if (static_costs.empty()) return nullptr;
  const std::vector<std::string> sizes = work_group_tunables(*entry);
  const auto found = std::ranges::find_if(static_costs, [&](const StaticCost* cost) {
    return std::ranges::all_of(cost->tunables, [&](const auto& value) {
      const bool is_size = std::ranges::find(sizes, value.first) != sizes.end();
      const auto own = tunables.find(value.first);
      return is_size || (own != tunables.end() && own->second == value.second);
    });
  });
  return found == static_costs.end() ? nullptr : *found;
}

EntryTable::EntryTable(const DeviceInfo& device, const PlanOptions& options)
    : device_(device),
      options_(options),
      device_names_(environment_of(device)),
      tuned_device_(TunedDevice::of(device)),
      board_(board_like(gpu_model(device))),
      static_costs_(static_costs_for(device, options.tuned.get())) {}

const PreparedEntry& EntryTable::of(const Entry& entry) {
  const auto known = entries_.find(&entry);
  if (known != entries_.end()) return known->second;
  return entries_.try_emplace(&entry, entry, device_, device_names_, options_, static_costs_)
      .first->second;
}

const PreparedKernel& EntryTable::with(const Environment& tunables, const Entry& entry) {
  auto& kernels = kernels_[&entry];
  const auto known = std::ranges::find_if(
      kernels, [&](const auto& kernel) { return *kernel->tunables == tunables; });
  if (known != kernels.end()) return **known;
  kernels.push_back(
      std::make_unique<const PreparedKernel>(entry, tunables, device_names_, numbers_));
  return *kernels.back();
}

const AskedProblem& EntryTable::asked(const SharedProblem& bound) {
  auto known = std::ranges::find_if(
      asked_, [&](const AskedProblem& asked) { return asked.is_about(bound); });
  if (known == asked_.end()) {
    known = asked_.begin() + static_cast<std::ptrdiff_t>(next_asked_);
    next_asked_ = (next_asked_ + 1) % asked_.size();
    known->ask(bound);
  }
  known->number(numbers_);
  return *known;
}

}  // namespace morton::plan
