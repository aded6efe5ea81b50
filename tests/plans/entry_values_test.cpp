// SPDX-License-Identifier: Apache-2.0
//
// What planning reckons for an entry on compiled expressions is what their names say one by one.
#include "plan/kernel/entry_values.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/policy/tunables.hpp"
#include "plan/single/example_problem.hpp"
#include "plan/single/example_sizes.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// What `reckon` returns, or the error that it throws, as text.
template <typename Reckon>
std::string outcome_of(const Reckon& reckon) {
  try {
    return reckon();
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

std::string text_of(const LaunchNumbers& launch) {
  std::string text = std::to_string(launch.dimensions) + " dimensions";
  for (const std::int64_t size : launch.size.global) text += " " + std::to_string(size);
  for (const std::int64_t size : launch.size.local) text += " / " + std::to_string(size);
  return text + ", " + std::to_string(launch.local_memory_bytes) + " bytes";
}

std::string text_of(const Expression* unmet) { return unmet == nullptr ? "none" : unmet->print(); }

const Expression* unmet_condition(const Entry& entry, const Environment& names) {
  for (const Expression& condition : entry.require) {
    if (condition.evaluate(names) == 0) return &condition;
  }
  return nullptr;
}

/// The names as a kernel sees them that computes its padding.
Environment on_padding(const Entry& entry, const Problem& problem, Environment names) {
  if (entry.padding.edges != Entry::Edges::pad) return names;
  for (const auto& [name, extent] : problem.extents)
    names[name] = names.find(name + "_pad")->second;
  return names;
}

void expect_same_numbers(const Entry& entry, const EntryValues& values, const Environment& names,
                         const Problem& problem) {
  using Operations = EntryValues::Operations;
  const Environment worked = on_padding(entry, problem, names);
  const auto number = [](const auto& reckon) {
    return outcome_of([&] { return std::to_string(reckon()); });
  };
  EXPECT_EQ(outcome_of([&] { return text_of(values.launch()); }),
            outcome_of([&] { return text_of(launch_numbers(entry, names)); }));
  EXPECT_EQ(outcome_of([&] { return text_of(values.unmet()); }),
            outcome_of([&] { return text_of(unmet_condition(entry, names)); }));
  EXPECT_EQ(number([&] { return values.bytes(); }),
            number([&] { return entry.cost.bytes.evaluate(names); }));
  EXPECT_EQ(number([&] { return values.operations(Operations::flop); }),
            number([&] { return entry.cost.flop.evaluate(worked); }));
  EXPECT_EQ(number([&] { return values.operations(Operations::work); }),
            number([&] { return entry.cost.work.evaluate(worked); }));
  for (const auto& [name, extent] : problem.extents) {
    EXPECT_EQ(values.size(name), names.find(name)->second) << name;
    EXPECT_EQ(values.padded(name), names.find(name + "_pad")->second) << name;
  }
}

void expect_same_layouts(const Entry& entry, const EntryValues& values, const Environment& names,
                         const BoundProblem& bound) {
  for (const auto& [role, format] : entry.operands) {
    if (format.is_any() || !bound.operands.contains(role)) continue;
    const auto dimensions = dimensions_of(bound, role);
    EXPECT_EQ(outcome_of([&] { return values.layout(role, dimensions).print(dimensions); }),
              outcome_of([&] { return layout_of(format, dimensions, names).print(dimensions); }))
        << role;
  }
}

TEST(EntryValues, AreThoseOfTheEntrysEnvironment) {
  const Catalogue catalogue = Catalogue::standard();
  for (const std::string& name : saved_devices()) {
    const DeviceInfo device = saved_device(name);
    const PlanOptions options;
    EntryTable table(device, options);
    for (const Entry& entry : catalogue.entries()) {
      for (const Environment& sizes : example_sizes(entry.family->name(), {})) {
        SCOPED_TRACE(entry.name + " on " + name);
        const PosedProblem posed = posed_problem(entry, sizes);
        const auto bound = std::make_shared<const BoundProblem>(posed.bound);
        const Environment tunables = standard_tunables(entry);
        const PreparedKernel& kernel = table.with(tunables, entry);
        const TensorId dst = tensor_of(*bound, "dst");
        const std::int64_t elements = element_count(posed.tasks.tensors[dst].shape);
        const EntryValues values(kernel, table.asked(bound), device, elements);
        const Environment names =
            entry_environment(entry, bound->problem, tunables, device, elements);
        expect_same_numbers(entry, values, names, bound->problem);
        expect_same_layouts(entry, values, names, *bound);
      }
    }
  }
}

}  // namespace
}  // namespace morton::test
