// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/join_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "plan/cost/cost.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/lower/in_place.hpp"
#include "source/joined.hpp"

namespace morton::plan {
namespace {

/// A kernel joins others if its work takes no more than so many launches. On a CPU it may take so
/// many microseconds: there a launch also waits for the slowest thread, and cores are idle at its
/// end.
constexpr double kMostWork = 4.0, kMostWorkOnCpuUs = 90.0;
/// A kernel moves over so many launches at most, and holds so much of what it writes until its
/// reader's turn.
constexpr std::size_t kMostMoved = 8;
constexpr std::int64_t kMostHeldBytes = std::int64_t{1} << 20;
/// Different kernels in one: a compiler takes as long as for all of them, at one time.
constexpr std::size_t kMostTexts = 6;

/// What OpenCL 1.2 promises for all arguments of a kernel together (CL_DEVICE_MAX_PARAMETER_SIZE).
std::int64_t most_argument_bytes(const DeviceInfo& device) {
  constexpr std::int64_t kFullProfile = 1024, kEmbeddedProfile = 256;
  return device.driver.profile == "EMBEDDED_PROFILE" ? kEmbeddedProfile : kFullProfile;
}

std::int64_t argument_bytes(const Step& step) {
  constexpr std::int64_t kPointer = 8, kInteger = 4;
  std::int64_t bytes = 3 * kInteger;  // kEndArgument, kGroupsArguments
  for (const StepArgument& argument : step.arguments) {
    bytes += argument.value() != nullptr ? kPointer : kInteger;
  }
  return bytes;
}

std::int64_t groups_of(const KernelLaunch& launch, std::size_t dimension) {
  return launch.global[dimension] / launch.local[dimension];
}

std::int64_t work_items_of(const KernelLaunch& launch) {
  return launch.global[0] * launch.global[1];
}

bool is_image(const StepArgument& argument) {
  const PassedValue* passed = argument.value();
  return passed != nullptr && passed->image.source != PlannedImage::Source::none;
}

/// Steps that run at one time, by their numbers before.
struct Launch {
  std::vector<std::size_t> members;
  bool open = false;
  std::int64_t bytes = 0;  ///< of arguments
  std::int64_t work_items = 0;
  std::set<std::string> texts;
};

class LaunchBatcher {
 public:
  LaunchBatcher(std::vector<EmittedStep> steps, const Values& values, const DeviceInfo& device)
      : steps_(std::move(steps)),
        values_(values),
        launch_us_(launch_peak_us(device)),
        most_work_us_(std::max(kMostWork * launch_us_,
                               device.kind == DeviceInfo::Kind::cpu ? kMostWorkOnCpuUs : 0.0)),
        most_bytes_(most_argument_bytes(device)),
        most_items_(largest_dimension(0, device)) {}

  std::vector<EmittedStep> run() {
    for (std::size_t s = 0; s < steps_.size(); ++s) place(s);
    std::vector<EmittedStep> joined;
    for (Launch& launch : launches_) {
      joined.push_back(launch.members.size() == 1 ? std::move(steps_[launch.members.front()])
                                                  : join(launch.members));
    }
    return joined;
  }

 private:
  const Value& value_at(ValueId id) const { return values_[id]; }

  void place(std::size_t s) {
    const Step& step = steps_[s].step;
    const std::size_t earliest = first_launch_after(step);
    const std::size_t begin =
        std::max(earliest, launches_.size() - std::min(launches_.size(), kMostMoved));
    const bool joins = is_small(s);
    std::size_t at = launches_.size();
    for (std::size_t l = begin; joins && l < launches_.size(); ++l) {
      if (!takes(launches_[l], s)) continue;
      at = l;
      break;
    }
    if (at == launches_.size()) launches_.push_back({{}, joins, 0, 0, {}});
    Launch& launch = launches_[at];
    launch.members.push_back(s);
    launch.bytes += argument_bytes(step);
    launch.work_items += work_items_of(launch_of(step));
    launch.texts.insert(steps_[s].source.key);
    note_accesses(step, at);
  }

  /// Behind every launch that writes what the step reads or writes, or reads what it writes.
  std::size_t first_launch_after(const Step& step) const {
    std::size_t first = 0;
    const auto wait_for = [&](ValueId value, bool writes) {
      const MemoryRange range = range_of(values_, value);
      const auto known = accesses_.find(range.root);
      if (known == accesses_.end()) return;
      for (const Access& access : known->second) {
        if ((writes || access.writes) && overlap(access.range, range)) {
          first = std::max(first, access.launch + 1);
        }
      }
    };
    for (const ValueId value : step.reads) wait_for(value, false);
    for (const ValueId value : step.writes) wait_for(value, true);
    return first;
  }

  void note_accesses(const Step& step, std::size_t launch) {
    const auto note = [&](ValueId value, bool writes) {
      const MemoryRange range = range_of(values_, value);
      accesses_[range.root].push_back({range, launch, writes});
    };
    for (const ValueId value : step.reads) note(value, false);
    for (const ValueId value : step.writes) note(value, true);
  }

  bool is_small(std::size_t s) const {
    const EmittedStep& emitted = steps_[s];
    const Step& step = emitted.step;
    if (!emitted.spec || !can_join(*emitted.spec->entry)) return false;
    const KernelLaunch launch = launch_of(step);
    if (launch.global[2] != 1 || launch.local[1] != 1) return false;
    const bool images = std::ranges::any_of(step.arguments, is_image);
    if (images || step.cost.estimated_us > launch_us_ + most_work_us_) return false;
    std::int64_t held = 0;
    for (const ValueId value : step.writes) {
      const Value& root = value_at(memory_root(values_, value));
      if (is_between_steps(root)) held += bytes_of(value_at(value).arrangement);
    }
    return held <= kMostHeldBytes;
  }

  bool takes(const Launch& launch, std::size_t s) const {
    const Step& first = steps_[launch.members.front()].step;
    const Step& step = steps_[s].step;
    const bool same_groups =
        launch_of(first).local == launch_of(step).local && first.device == step.device;
    const bool has_room =
        launch.bytes + argument_bytes(step) <= most_bytes_ &&
        launch.work_items + work_items_of(launch_of(step)) <= most_items_ &&
        (launch.texts.size() < kMostTexts || launch.texts.contains(steps_[s].source.key));
    return launch.open && same_groups && has_room;
  }

  EmittedStep join(std::vector<std::size_t> members) const {
    // Equal kernels stand together, so that they share their text.
    std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) {
      return steps_[a].source.key < steps_[b].source.key;
    });
    EmittedStep joined;
    std::vector<InstanceSpec> specs;
    for (const std::size_t s : members) specs.push_back(*steps_[s].spec);
    joined.source = generate_joined(specs);
    describe(members, joined.step);
    bind(members, joined.source, joined.step);
    return joined;
  }

  void describe(const std::vector<std::size_t>& members, Step& joined) const {
    const Step& first = steps_[*std::ranges::min_element(members)].step;
    joined.name = fmt::format("{} and {} more", first.name, members.size() - 1);
    joined.kernel = fmt::format("{} kernels", members.size());
    joined.device = first.device;
    joined.role = Step::Role::repack;
    KernelLaunch launch{{}, {0, 1, 1}, launch_of(first).local};
    joined.reason = fmt::format(
        "small and independent of each other: one launch in place of {}, each of which takes "
        "{:.1f} us",
        members.size(), launch_us_);
    joined.cost.estimated_us = launch_us_;
    for (const std::size_t s : members) {
      const Step& step = steps_[s].step;
      launch.global[0] += work_items_of(launch_of(step));
      joined.reads.insert(joined.reads.end(), step.reads.begin(), step.reads.end());
      joined.writes.insert(joined.writes.end(), step.writes.begin(), step.writes.end());
      joined.in_place = joined.in_place || step.in_place;
      joined.cost.flop += step.cost.flop;
      joined.cost.work += step.cost.work;
      joined.cost.bytes += step.cost.bytes;
      joined.cost.logical_bytes += step.cost.logical_bytes;
      joined.cost.footprint_bytes += step.cost.footprint_bytes;
      joined.cost.estimated_us += std::max(0.0, step.cost.estimated_us - launch_us_);
      if (step.role == Step::Role::compute) joined.role = Step::Role::compute;
      joined.problem += fmt::format("{}{}: {}, {}", joined.problem.empty() ? "" : "\n      ",
                                    step.name, step.kernel, step.problem);
    }
    joined.action = launch;
  }

  void bind(const std::vector<std::size_t>& members, const InstanceSource& source,
            Step& joined) const {
    std::vector<std::int64_t> ends;
    for (const std::size_t s : members) {
      const KernelLaunch launch = launch_of(steps_[s].step);
      ends.push_back((ends.empty() ? 0 : ends.back()) +
                     groups_of(launch, 0) * groups_of(launch, 1));
    }
    for (const InstanceArgument& wanted : source.arguments) {
      const auto member = static_cast<std::size_t>(wanted.member);
      const Step& step = steps_[members[member]].step;
      if (wanted.name == kEndArgument) {
        joined.arguments.push_back({wanted.name, ends[member]});
      } else if (wanted.name == kGroupsArguments[0] || wanted.name == kGroupsArguments[1]) {
        const std::size_t dimension = wanted.name == kGroupsArguments[0] ? 0 : 1;
        joined.arguments.push_back({wanted.name, groups_of(launch_of(step), dimension)});
      } else {
        joined.arguments.push_back(
            *std::ranges::find(step.arguments, wanted.name, &StepArgument::name));
      }
    }
  }

  struct Access {
    MemoryRange range;
    std::size_t launch = 0;
    bool writes = false;
  };

  std::vector<EmittedStep> steps_;
  const Values& values_;
  double launch_us_, most_work_us_;
  std::int64_t most_bytes_, most_items_;
  std::vector<Launch> launches_;
  std::map<ValueId, std::vector<Access>> accesses_;  ///< by the value at the root of the memory
};

}  // namespace

std::vector<EmittedStep> join_launches(std::vector<EmittedStep> steps, const Values& values,
                                       const DeviceInfo& device) {
  return LaunchBatcher(std::move(steps), values, device).run();
}

}  // namespace morton::plan
