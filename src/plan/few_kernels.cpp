// SPDX-License-Identifier: Apache-2.0
#include "plan/few_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/text/identifiers.hpp"
#include "plan/ir/decision.hpp"
#include "plan/lower/join_parts.hpp"
#include "plan/lower/schedule.hpp"
#include "plan/policy/tunables.hpp"

namespace morton::plan {
namespace {

/// Tries that a plan may take; each is a search over the candidates that there are.
constexpr int kMostTries = 16;
/// The network's time with all that is left out may be so much of the time without.
constexpr double kMostLoss = 1.05;

bool uses(const Candidate& candidate, const Entry* entry) {
  return std::ranges::any_of(candidate.kernels,
                             [&](const KernelChoice& kernel) { return kernel.entry == entry; });
}

/// The names in an entry's text that are no arguments. Numbers of the structure are compiled in
/// where they have such a name.
class CompiledNames {
 public:
  const std::set<std::string, std::less<>>& of(const Entry& entry) {
    const auto [known, is_new] = names_.try_emplace(&entry);
    if (!is_new) return known->second;
    for (const std::string_view name : identifiers_in(entry.program.code)) {
      if (std::ranges::count(entry.launch.arguments, name) == 0) known->second.emplace(name);
    }
    return known->second;
  }

 private:
  std::map<const Entry*, std::set<std::string, std::less<>>> names_;
};

/// What a kernel's text depends on, sizes and views left out: kernels that differ here are compiled
/// apart.
std::string text_key(const ScheduledKernel& kernel, const Values& values, CompiledNames& names) {
  const KernelChoice& choice = kernel.choice;
  if (choice.entry->takes_work()) return choice.entry->name;
  const Problem& problem = choice.bound->problem;
  const auto& compiled = names.of(*choice.entry);
  std::string key =
      choice.entry->name + " " + print_tunables(*choice.tunables) + " " + problem.epilogue.print();
  for (const auto& [name, value] : problem.structure) {
    if (compiled.contains(name)) key += " " + name + "=" + std::to_string(value);
  }
  for (const auto& [role, type] : problem.types) key += "; " + role + std::string(name_of(type));
  for (const auto& [role, value] : kernel.values) {
    const OperandFormat& format = choice.entry->operands.at(role);
    if (format.is_any() && !format.is_unbound()) {
      key += "; " + role + " " + format_text(values[value].arrangement);
    }
  }
  const Shape& dst = values[kernel.values.at("dst")].arrangement.tensor_shape;
  // Runs pass over inner dimensions of one element (source/runs.hpp).
  if (problem.family == families::pack) {
    const auto inner =
        std::find_if(dst.rbegin(), dst.rend(), [](auto extent) { return extent != 1; });
    key += "; inner ones " + std::to_string(inner - dst.rbegin());
  }
  for (const ValueId side : kernel.sides) {
    const Arrangement& arrangement = values[side].arrangement;
    key += (arrangement.tensor_shape == dst ? "; side " : "; bias ") + format_text(arrangement);
  }
  return key;
}

/// Selections with what they cost.
struct Chosen {
  Selections selections;
  double us = 0.0;
  /// The tasks that need each kernel, by text_key; none of copies.
  std::map<std::string, std::set<TaskId>> kernels;
};

class Thrift {
 public:
  Thrift(const CandidateLists& candidates, const PlanContext& context)
      : candidates_(candidates), context_(context), best_(chosen({})), first_us_(best_.us) {}

  FewKernels run() {
    std::set<const Entry*> tried;
    for (int i = 0; i < kMostTries; ++i) {
      const Entry* entry = least_missed(tried);
      if (entry == nullptr) break;
      tried.insert(entry);
      leave_out(entry);
    }
    return {std::move(best_.selections), std::move(notes_)};
  }

 private:
  Chosen chosen(const LeftOut& left_out) {
    Chosen result;
    result.selections = choose(candidates_, context_, left_out);
    Schedule schedule = make_schedule(candidates_, result.selections, context_);
    join_parts(schedule, context_.device);
    result.us = schedule.estimated_us;
    for (const ScheduledKernel& kernel : schedule.kernels) {
      const bool is_compiled = kernel.choice.entry->call.library.empty();
      if (!is_compiled) continue;
      auto& tasks = result.kernels[text_key(kernel, schedule.values, names_)];
      if (kernel.task) tasks.insert(kernel.task);
    }
    return result;
  }

  const Candidate& selected(TaskId t) const {
    return candidates_[t]->candidates[best_.selections[t].candidate];
  }

  /// What a task's time rises by, at least, without the entry; copies apart.
  double loss_us(TaskId t, const Entry* entry) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate& other : candidates_[t]->candidates) {
      if (uses(other, entry) || left_out_.contains(&other)) continue;
      least = std::min(least, run_us(other));
    }
    return least - run_us(selected(t));
  }

  /// An entry, what its tasks lose without it at least, and the tasks.
  struct Loss {
    const Entry* entry = nullptr;
    double us = 0.0;
    std::set<TaskId> tasks;
  };

  /// The entry that tasks miss least, of those whose loss may be worth the kernels; null: none.
  const Entry* least_missed(const std::set<const Entry*>& tried) const {
    std::map<std::string, Loss> losses;  // by name: an order that stays
    for (const TaskId t : best_.selections.ids()) {
      for (const KernelChoice& kernel : selected(t).kernels) {
        // What was measured to be best stays.
        if (kernel.is_tuned || tried.contains(kernel.entry)) continue;
        Loss& loss = losses[kernel.entry->name];
        loss.entry = kernel.entry;
        if (loss.tasks.insert(t).second) loss.us += loss_us(t, kernel.entry);
      }
    }
    const Loss* least = nullptr;
    for (const auto& [name, loss] : losses) {
      const bool is_less = least == nullptr || loss.us < least->us;
      if (is_less && loss.us < worth_us(most_fewer(loss.tasks))) least = &loss;
    }
    return least == nullptr ? nullptr : least->entry;
  }

  /// How many kernels less there may be where these tasks go other ways: those that nothing else
  /// needs, and copies'.
  std::size_t most_fewer(const std::set<TaskId>& tasks) const {
    const auto may_go = [&](const auto& kernel) {
      return std::ranges::includes(tasks, kernel.second);
    };
    return static_cast<std::size_t>(std::ranges::count_if(best_.kernels, may_go));
  }

  /// The time that so many kernels must save.
  double worth_us(std::size_t kernels) const {
    return kShareOfKernel * static_cast<double>(kernels) * best_.us;
  }

  void leave_out(const Entry* entry) {
    LeftOut without = left_out_;
    for (const auto& list : candidates_) {
      for (const Candidate& candidate : list->candidates) {
        if (uses(candidate, entry)) without.insert(&candidate);
      }
    }
    Chosen other;
    try {
      other = chosen(without);
    } catch (const UnsupportedError&) {
      return;  // without it the parts of some tensor have no format that all can write
    }
    if (other.kernels.size() >= best_.kernels.size()) return;
    const std::size_t fewer = best_.kernels.size() - other.kernels.size();
    const double more_us = other.us - best_.us;
    if (more_us >= worth_us(fewer) || other.us > kMostLoss * first_us_) return;
    notes_.emplace_back(
        fmt::format("{} is left out: it would save {:.1f} of {:.1f} us and have {} more compiled",
                    entry->name, std::max(0.0, more_us), other.us,
                    fewer == 1 ? "1 kernel" : std::to_string(fewer) + " kernels"));
    left_out_ = std::move(without);
    best_ = std::move(other);
  }

  const CandidateLists& candidates_;
  const PlanContext& context_;
  CompiledNames names_;
  LeftOut left_out_;
  Chosen best_;
  double first_us_;  ///< with nothing left out
  std::vector<Message> notes_;
};

}  // namespace

FewKernels choose_few_kernels(const CandidateLists& candidates, const PlanContext& context) {
  // What other drivers take to compile was not measured. There is nothing to save where kernels are
  // built already, as generic ones are. Those of training's steps share launches.
  const bool is_slow = context.device.kind == DeviceInfo::Kind::cpu;
  const bool is_built = context.options.built != nullptr || context.policy.is_generic();
  if (!is_slow || is_built || !context.tasks.updates.empty()) {
    return {choose(candidates, context), {}};
  }
  return Thrift(candidates, context).run();
}

}  // namespace morton::plan
