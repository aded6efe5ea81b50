// SPDX-License-Identifier: Apache-2.0
#include "plan/search/join_tasks.hpp"

#include <algorithm>
#include <array>

#include "plan/policy/kernel_policy.hpp"
#include "plan/policy/plan_options.hpp"

namespace morton::plan {
namespace {

bool may_be_decided(const std::string& task, const PlanOptions& options) {
  return options.built == nullptr || options.built->decisions.contains(task);
}

bool is_measured(const Candidate& candidate) { return (*candidate.kernels.begin()).is_tuned; }

std::string us_text(double us) {
  std::string text = std::to_string(us);
  return text.substr(0, text.find('.') + 2) + " us";
}

/// "two steps".
std::string steps_text(std::size_t count) {
  constexpr std::array kNames{"no", "one", "two", "three", "four", "five", "six", "seven"};
  return (count < kNames.size() ? kNames.at(count) : std::to_string(count)) + std::string(" steps");
}

}  // namespace

bool TaskJoiner::pays(std::span<const Task* const> apart, const Task& one, const std::string& what,
                      const JoinExtras& extras) {
  if (!may_be_decided(one.name, context_.options)) return false;
  const bool is_wanted = !context_.policy.wanted_for(one.bound.problem.family).empty();
  const auto joined = memo_.find(one);
  const std::string steps = steps_text(apart.size());
  if (joined->candidates.empty()) {
    notes_.considered.push_back(what + steps + "; no kernel does " +
                                (apart.size() == 2 ? "both" : "all") +
                                lines_of(joined->rejections));
    add_left_out_by_self_tests(joined->rejections, notes_.left_out_by_self_tests);
    return false;
  }
  const Candidate& best = joined->candidates.front();
  const std::string text = best.name + " in " + us_text(run_us(best));
  const bool only_built =
      context_.options.built != nullptr && !may_be_decided(apart.front()->name, context_.options);
  if (is_wanted || only_built) {
    notes_.considered.push_back(what + "one step, " + text +
                                (is_wanted ? ", as asked" : ", as it is built"));
    return true;
  }
  double apart_us = is_measured(best) ? extras.measured_us : 0.0;
  std::string words;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const auto list = memo_.find(*apart[i]);
    if (list->candidates.empty()) {
      notes_.considered.push_back(what + "one step, " + text + "; no kernel does " +
                                  apart[i]->name + " alone");
      return true;
    }
    const Candidate& first = list->candidates.front();
    apart_us += first.estimated_us;
    if (i > 0) words += i + 1 == apart.size() ? " and " : ", ";
    words += first.name + " in " + us_text(run_us(first));
  }
  if (is_measured(best) && extras.measured_us > 0.0) {
    words += ", and the map, which was measured with the former";
  }
  const std::string copies =
      extras.copies_us > 0.0 ? " and copies in " + us_text(extras.copies_us) : "";
  const bool is_better = best.estimated_us + extras.copies_us < apart_us;
  notes_.considered.push_back(what + (is_better ? "one step, " : steps + ", not ") + text + copies +
                              "; apart " + words);
  return is_better;
}

bool is_asked_apart(const KernelPolicy& policy, Family joined,
                    std::initializer_list<Family> parts) {
  const auto is_named = [&](Family family) { return !policy.wanted_for(family).empty(); };
  return !is_named(joined) && std::ranges::any_of(parts, is_named);
}

std::optional<std::set<TaskId>> readers_of(TensorId tensor, const TaskList& tasks) {
  const TaskTensor& read = tasks.tensors[tensor];
  if (read.is_output || read.parts > 1) return std::nullopt;
  for (const TaskTensor& other : tasks.tensors) {
    if (other.alias_of == tensor) return std::nullopt;
  }
  for (const auto& [state, value] : tasks.updates) {
    if (value == tensor) return std::nullopt;
  }
  std::set<TaskId> readers;
  for (const TaskId t : tasks.tasks.ids()) {
    const BoundProblem& bound = tasks.tasks[t].bound;
    const auto reads_side = [&](const Side& side) { return side.tensor == tensor; };
    if (std::ranges::any_of(bound.sides, reads_side)) return std::nullopt;
    for (const auto& [role, binding] : bound.operands) {
      if (role != "dst" && binding.tensor == tensor) readers.insert(t);
    }
  }
  return readers;
}

TaskId sole_reader(TensorId tensor, const TaskList& tasks) {
  const auto readers = readers_of(tensor, tasks);
  if (!readers || readers->size() != 1) return {};
  const TaskId reader = *readers->begin();
  const auto reads = [&](const auto& one) {
    return one.first != "dst" && one.second.tensor == tensor;
  };
  const auto& operands = tasks.tasks[reader].bound.operands;
  return std::count_if(operands.begin(), operands.end(), reads) == 1 ? reader : TaskId();
}

bool is_f32(const BoundProblem& bound, const TaskList& tasks) {
  const auto is_float = [&](TensorId tensor) {
    return number_type(tasks.tensors[tensor]) == DType::f32;
  };
  return std::ranges::all_of(bound.operands,
                             [&](const auto& one) { return is_float(one.second.tensor); }) &&
         std::ranges::all_of(bound.sides, [&](const Side& side) { return is_float(side.tensor); });
}

bool is_plain(const BoundProblem& bound, const std::string& role) {
  const View& view = bound.operands.at(role).view;
  return !view.bounded && view.print() == View::identity(view.dimensions).print();
}

TaskList without(TaskList list, const std::set<TaskId>& dropped) {
  Indexed<TaskId, Task> kept;
  for (const TaskId t : list.tasks.ids()) {
    if (!dropped.contains(t)) kept.add(std::move(list.tasks[t]));
  }
  list.tasks = std::move(kept);
  return list;
}

}  // namespace morton::plan
