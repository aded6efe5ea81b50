// SPDX-License-Identifier: Apache-2.0
#include "plan/search/join_tasks.hpp"

#include <algorithm>
#include <array>

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
                      double measured_more_us) {
  if (!may_be_decided(one.name, context_.options)) return false;
  const bool is_wanted = context_.options.use.contains(one.bound.problem.family);
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
  double apart_us = is_measured(best) ? measured_more_us : 0.0;
  std::string words;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const auto list = memo_.list(*apart[i]);
    const Candidate& first = list->candidates.front();
    apart_us += first.estimated_us;
    words += (i == 0                  ? ""
              : i + 1 == apart.size() ? " and "
                                      : ", ") +
             first.name + " in " + us_text(run_us(first));
  }
  const bool is_better = best.estimated_us < apart_us;
  notes_.considered.push_back(what + (is_better ? "one step, " : steps + ", not ") + text +
                              "; apart " + words +
                              (is_measured(best) && measured_more_us > 0.0
                                   ? ", and the map, which was measured with the former"
                                   : ""));
  return is_better;
}

bool is_asked_apart(const PlanOptions& options, Family joined,
                    std::initializer_list<Family> parts) {
  return !options.use.contains(joined) &&
         std::ranges::any_of(parts, [&](Family part) { return options.use.contains(part); });
}

TaskId sole_reader(TensorId tensor, TaskId after, const TaskList& tasks) {
  const TaskTensor& read = tasks.tensors[tensor];
  if (read.is_output || read.parts > 1) return {};
  for (const TaskTensor& other : tasks.tensors) {
    if (other.alias_of == tensor) return {};
  }
  for (const auto& [state, value] : tasks.updates) {
    if (value == tensor) return {};
  }
  TaskId reader;
  for (const TaskId t : tasks.tasks.ids_from(after.moved(1))) {
    const BoundProblem& bound = tasks.tasks[t].bound;
    const auto reads_side = [&](const Side& side) { return side.tensor == tensor; };
    if (std::ranges::any_of(bound.sides, reads_side)) return {};
    for (const auto& [role, binding] : bound.operands) {
      if (role == "dst" || binding.tensor != tensor) continue;
      if (reader) return {};
      reader = t;
    }
  }
  return reader;
}

bool is_f32(const BoundProblem& bound, const TaskList& tasks) {
  const auto is_float = [&](TensorId tensor) { return tasks.tensors[tensor].dtype == DType::f32; };
  return std::ranges::all_of(bound.operands,
                             [&](const auto& one) { return is_float(one.second.tensor); }) &&
         std::ranges::all_of(bound.sides, [&](const Side& side) { return is_float(side.tensor); });
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
