// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/join_launches.hpp"

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
/// Equal kernels share a launch if each has fewer work-groups than so many for each compute unit:
/// with as many, an eighth of the last round is idle at most.
constexpr std::int64_t kFewGroups = 8;
/// So many equal kernels share a launch at most.
constexpr std::size_t kMostCopies = 8;

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

bool is_image(const StepArgument& argument) {
  const PassedValue* passed = argument.value();
  return passed != nullptr && passed->image.source != PlannedImage::Source::none;
}

bool same_integers(const Step& a, const Step& b) {
  return std::ranges::equal(a.arguments, b.arguments, [](const auto& one, const auto& other) {
    if (one.integer() == nullptr || other.integer() == nullptr) {
      return one.integer() == other.integer();
    }
    return *one.integer() == *other.integer();
  });
}

/// Whether both launch one text with one size, on different data.
bool are_equal(const EmittedStep& a, const EmittedStep& b) {
  if (!a.spec || !b.spec || a.source.key != b.source.key || a.step.device != b.step.device) {
    return false;
  }
  const KernelLaunch one = launch_of(a.step), other = launch_of(b.step);
  return one.global == other.global && one.local == other.local && one.global[2] == 1 &&
         same_integers(a.step, b.step);
}

/// Steps that run at one time, by their numbers before.
struct Launch {
  enum class Kind : std::uint8_t { closed, join, stack };
  std::vector<std::size_t> members;
  Kind kind = Kind::closed;
  std::int64_t bytes = 0;  ///< of arguments
  std::int64_t work_items = 0;
  std::set<std::string> texts;
};

class LaunchBatcher {
 public:
  LaunchBatcher(std::vector<EmittedStep> steps, const Values& values, const DeviceInfo& device,
                const SharedLaunches& shared)
      : steps_(std::move(steps)),
        values_(values),
        shared_(shared),
        few_groups_(kFewGroups * device.compute.units),
        launch_us_(launch_peak_us(device)),
        most_work_us_(std::max(kMostWork * launch_us_,
                               device.kind == DeviceInfo::Kind::cpu ? kMostWorkOnCpuUs : 0.0)),
        most_bytes_(most_argument_bytes(device)),
        most_items_(largest_dimension(0, device)) {}

  std::vector<EmittedStep> run() {
    for (std::size_t s = 0; s < steps_.size(); ++s) place(s);
    std::vector<EmittedStep> joined;
    for (const Launch& launch : launches_) add(launch, joined);
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
    if (!joins && stacks(s, earliest)) {
      --at;
      launches_[at].kind = Launch::Kind::stack;
    }
    for (std::size_t l = begin; joins && l < launches_.size(); ++l) {
      if (!takes(launches_[l], s)) continue;
      at = l;
      break;
    }
    if (at == launches_.size()) {
      launches_.push_back({{}, joins ? Launch::Kind::join : Launch::Kind::closed, 0, 0, {}});
    }
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
    if (!shared_.small || !emitted.spec || !can_join(*emitted.spec->entry)) return false;
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
    return launch.kind == Launch::Kind::join && same_groups && has_room;
  }

  void add(const Launch& launch, std::vector<EmittedStep>& joined) {
    std::vector<const EmittedStep*> members;
    for (const std::size_t s : launch.members) members.push_back(&steps_[s]);
    if (launch.kind == Launch::Kind::join && members.size() > 1) {
      joined.push_back(joined_step(members, launch_us_));
      return;
    }
    for (std::size_t at = 0; at < members.size();) {
      // All of them; of kernels that are built the largest stack among those.
      std::size_t count = members.size() - at;
      for (; count > 1; --count) {
        const auto first = members.begin() + static_cast<std::ptrdiff_t>(at);
        EmittedStep stacked =
            stacked_step({first, first + static_cast<std::ptrdiff_t>(count)}, launch_us_);
        if (!may_launch(stacked, **first)) continue;
        joined.push_back(std::move(stacked));
        break;
      }
      if (count == 1) joined.push_back(std::move(steps_[launch.members[at]]));
      at += count;
    }
  }

  /// Among kernels that are built: the stack is one of them, and each by itself is none or has few
  /// work-groups. Else the members have few, or there were no stack.
  bool may_launch(const EmittedStep& stacked, const EmittedStep& member) const {
    if (shared_.built == nullptr) return true;
    const std::set<std::string>& built = shared_.built->instances;
    return built.contains(stacked.source.key) &&
           (has_few_groups(member.step) || !built.contains(member.source.key));
  }

  bool has_few_groups(const Step& step) const {
    return groups_of(launch_of(step), 0) * groups_of(launch_of(step), 1) < few_groups_;
  }

  /// Whether the step can stand with the last launch, which is alone or a stack of such.
  bool stacks(std::size_t s, std::size_t earliest) const {
    if (!shared_.equal || launches_.empty() || earliest >= launches_.size()) return false;
    const Launch& last = launches_.back();
    const EmittedStep& emitted = steps_[s];
    const EmittedStep& first = steps_[last.members.front()];
    // A copy may have to be what is built already, which is known by its own text.
    return emitted.step.role == Step::Role::compute && last.kind != Launch::Kind::join &&
           last.members.size() < kMostCopies && are_equal(first, emitted) &&
           can_stack(*emitted.spec->entry) &&
           (has_few_groups(emitted.step) || shared_.built != nullptr) &&
           !std::ranges::any_of(emitted.step.arguments, is_image) &&
           last.bytes + argument_bytes(emitted.step) <= most_bytes_;
  }

  struct Access {
    MemoryRange range;
    std::size_t launch = 0;
    bool writes = false;
  };

  std::vector<EmittedStep> steps_;
  const Values& values_;
  SharedLaunches shared_;
  std::int64_t few_groups_;
  double launch_us_, most_work_us_;
  std::int64_t most_bytes_, most_items_;
  std::vector<Launch> launches_;
  std::map<ValueId, std::vector<Access>> accesses_;  ///< by the value at the root of the memory
};

}  // namespace

std::vector<EmittedStep> join_launches(std::vector<EmittedStep> steps, const Values& values,
                                       const DeviceInfo& device, const SharedLaunches& shared) {
  return LaunchBatcher(std::move(steps), values, device, shared).run();
}

}  // namespace morton::plan
