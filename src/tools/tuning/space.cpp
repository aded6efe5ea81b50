// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/space.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "plan/cost/cost.hpp"
#include "plan/policy/tunables.hpp"

namespace morton::tools {
namespace {

/// Elements of dst, whose dimensions the family names.
std::int64_t elements_dst(const Problem& problem) {
  return elements_of(problem.family->operands.back(), problem);
}

Environment names_for(const Entry& entry, const Problem& problem, const Environment& tunables,
                      const DeviceInfo& device) {
  return entry_environment(entry, problem, tunables, device, elements_dst(problem));
}

/// Whether the entry can be launched with these values.
bool can_be(const Entry& entry, const Problem& problem, const Environment& tunables,
            const DeviceInfo& device) {
  try {
    const Environment names = names_for(entry, problem, tunables, device);
    for (const auto& condition : entry.require) {
      if (condition.evaluate(names) == 0) return false;
    }
    static_cast<void>(launch_size(entry, names, device));
    return true;
  } catch (const UnsupportedError&) {
    return false;
  }
}

/// `operations` on the padded extents, over the share of the compute units that have work.
double occupied(const Expression& operations, const Entry& entry, const Problem& problem,
                const Environment& tunables, const DeviceInfo& device) {
  const Environment names = names_for(entry, problem, tunables, device);
  return static_cast<double>(operations_of(operations, entry, problem, names)) /
         busy_share(launch_size(entry, names, device), device);
}

/// Every combination of values.
std::vector<Environment> combinations(const Entry& entry) {
  std::vector<Environment> all{Environment{}};
  for (const auto& [name, tunable] : entry.tunables) {
    std::vector<Environment> longer;
    for (const Environment& values : all) {
      for (const std::int64_t value : tunable.values) {
        longer.push_back(values);
        longer.back()[name] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// How many steps apart two values are in the list of a tunable.
std::ptrdiff_t steps_apart(const Tunable& tunable, std::int64_t a, std::int64_t b) {
  std::vector<std::int64_t> sorted = tunable.values;
  std::ranges::sort(sorted);
  return std::abs(std::ranges::find(sorted, a) - std::ranges::find(sorted, b));
}

}  // namespace

double occupied_flop(const Entry& entry, const Problem& problem, const Environment& tunables,
                     const DeviceInfo& device) {
  return occupied(entry.cost.flop, entry, problem, tunables, device);
}

SearchSpace search_space(const Entry& entry, const Problem& problem, const DeviceInfo& device,
                         std::uint64_t seed) {
  SearchSpace space;
  const Environment device_names = environment_of(device);
  space.standard = standard_tunables(entry, device_names);
  std::vector<std::pair<double, Environment>> costed;
  for (Environment& values : combinations(entry)) {
    const bool is_tried = values == space.standard || are_tried(entry, values, device_names);
    if (!is_tried || !can_be(entry, problem, values, device)) {
      ++space.left_out;
      continue;
    }
    const double cost = occupied(entry.cost.work, entry, problem, values, device);
    costed.emplace_back(cost, std::move(values));
  }
  std::mt19937_64 generator(seed);
  std::ranges::shuffle(costed, generator);
  const Environment& standard = space.standard;
  std::ranges::stable_sort(costed, [&](const auto& a, const auto& b) {
    const bool a_first = a.second == standard;
    const bool b_first = b.second == standard;
    return a_first != b_first ? a_first : !a_first && a.first < b.first;
  });
  for (auto& [cost, values] : costed) space.candidates.push_back(std::move(values));
  return space;
}

std::vector<std::size_t> neighbours(const Entry& entry, const SearchSpace& space,
                                    const Environment& centre) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < space.candidates.size(); ++i) {
    std::ptrdiff_t steps = 0;
    for (const auto& [name, tunable] : entry.tunables) {
      const std::int64_t value = space.candidates[i].find(name)->second;
      steps += steps_apart(tunable, value, centre.find(name)->second);
    }
    if (steps == 1) found.push_back(i);
  }
  return found;
}

}  // namespace morton::tools
