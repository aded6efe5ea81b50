// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/joined_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "source/joined.hpp"

namespace morton::plan {
namespace {

using Members = std::vector<const EmittedStep*>;

void describe(const Members& members, const Step& first, double launch_us, Step& joined) {
  joined.name = fmt::format("{} and {} more", first.name, members.size() - 1);
  joined.device = first.device;
  joined.role = Step::Role::repack;
  joined.cost.estimated_us = launch_us;
  for (const EmittedStep* member : members) {
    const Step& step = member->step;
    joined.reads.insert(joined.reads.end(), step.reads.begin(), step.reads.end());
    joined.writes.insert(joined.writes.end(), step.writes.begin(), step.writes.end());
    joined.in_place = joined.in_place || step.in_place;
    joined.cost.flop += step.cost.flop;
    joined.cost.work += step.cost.work;
    joined.cost.bytes += step.cost.bytes;
    joined.cost.logical_bytes += step.cost.logical_bytes;
    joined.cost.footprint_bytes += step.cost.footprint_bytes;
    joined.cost.estimated_us += std::max(0.0, step.cost.estimated_us - launch_us);
    if (step.role == Step::Role::compute) joined.role = Step::Role::compute;
    joined.problem += fmt::format("{}{}: {}, {}", joined.problem.empty() ? "" : "\n      ",
                                  step.name, step.kernel, step.problem);
  }
}

const StepArgument& argument_of(const Step& step, const std::string& name) {
  return *std::ranges::find(step.arguments, name, &StepArgument::name);
}

void bind_members(const Members& members, const InstanceSource& source, Step& joined) {
  std::vector<std::int64_t> ends;
  for (const EmittedStep* member : members) {
    const KernelLaunch launch = launch_of(member->step);
    ends.push_back((ends.empty() ? 0 : ends.back()) + groups_of(launch, 0) * groups_of(launch, 1));
  }
  for (const InstanceArgument& wanted : source.arguments) {
    const auto member = static_cast<std::size_t>(wanted.member);
    const Step& step = members[member]->step;
    if (wanted.name == kEndArgument) {
      joined.arguments.push_back({wanted.name, ends[member]});
    } else if (wanted.name == kGroupsArguments[0] || wanted.name == kGroupsArguments[1]) {
      const std::size_t dimension = wanted.name == kGroupsArguments[0] ? 0 : 1;
      joined.arguments.push_back({wanted.name, groups_of(launch_of(step), dimension)});
    } else {
      joined.arguments.push_back(argument_of(step, wanted.name));
    }
  }
}

}  // namespace

std::int64_t groups_of(const KernelLaunch& launch, std::size_t dimension) {
  return launch.global[dimension] / launch.local[dimension];
}

std::int64_t work_items_of(const KernelLaunch& launch) {
  return launch.global[0] * launch.global[1];
}

EmittedStep joined_step(std::vector<const EmittedStep*> members, double launch_us) {
  const Step& first = members.front()->step;
  EmittedStep joined;
  joined.step.kernel = fmt::format("{} kernels", members.size());
  joined.step.reason = fmt::format(
      "small and independent of each other: one launch in place of {}, each of which takes "
      "{:.1f} us",
      members.size(), launch_us);
  KernelLaunch launch{{}, {0, 1, 1}, launch_of(first).local};
  // Equal kernels stand together, so that they share their text.
  std::ranges::stable_sort(members, {},
                           [](const EmittedStep* member) { return member->source.key; });
  std::vector<InstanceSpec> specs;
  for (const EmittedStep* member : members) {
    launch.global[0] += work_items_of(launch_of(member->step));
    specs.push_back(*member->spec);
  }
  describe(members, first, launch_us, joined.step);
  joined.step.action = launch;
  joined.source = generate_joined(specs);
  bind_members(members, joined.source, joined.step);
  return joined;
}

EmittedStep stacked_step(const std::vector<const EmittedStep*>& members, double launch_us) {
  const EmittedStep& first = *members.front();
  EmittedStep stacked;
  describe(members, first.step, launch_us, stacked.step);
  stacked.step.kernel = first.step.kernel;
  stacked.step.reason = fmt::format(
      "equal, independent of each other, and each of too few work-groups for the device: one "
      "launch in place of {}",
      members.size());
  KernelLaunch launch = launch_of(first.step);
  launch.global[2] = static_cast<std::int64_t>(members.size());
  stacked.step.action = launch;
  stacked.step.tunables = first.step.tunables;
  stacked.step.tuned_as = first.step.tuned_as;
  stacked.source = generate_stacked(*first.spec, static_cast<int>(members.size()));
  for (const InstanceArgument& wanted : stacked.source.arguments) {
    const Step& step = members[static_cast<std::size_t>(wanted.member)]->step;
    stacked.step.arguments.push_back(argument_of(step, wanted.name));
  }
  return stacked;
}

}  // namespace morton::plan
