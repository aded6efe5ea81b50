// SPDX-License-Identifier: Apache-2.0
#include "plan/search/candidate_memo.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "plan/search/decided.hpp"

namespace morton::plan {
namespace {

std::string number_in(const std::vector<TensorId>& tensors, TensorId tensor) {
  return "#" + std::to_string(std::ranges::find(tensors, tensor) - tensors.begin());
}

std::string text_of(const Environment& values) {
  std::string text;
  for (const auto& [name, value] : values) text += name + "=" + std::to_string(value) + ",";
  return text + ";";
}

std::string text_of(const View& view) {
  std::string text = view.print() + " of";
  for (const auto& extent : view.extents) text += " " + extent.print();
  if (view.bounded) text += " outside " + exact_text(view.outside);
  return text + ";";
}

/// All that list_candidates looks at, but the names.
std::string key_of(const Task& task, const TaskList& tasks) {
  const Problem& problem = task.bound.problem;
  const std::vector<TensorId> tensors = tensors_of(task.bound);
  std::string key = problem.family.name() + ";" + text_of(problem.extents) +
                    text_of(problem.structure) + problem.epilogue.print() + ";";
  for (const auto& [role, type] : problem.types) {
    key += role + ":" + std::string(name_of(type)) + ",";
  }
  for (const auto& [role, binding] : task.bound.operands) {
    key += "\n" + role + number_in(tensors, binding.tensor) + " " + text_of(binding.view);
  }
  for (const auto& side : task.bound.sides) {
    key += "\nside" + number_in(tensors, side.tensor) + " " + to_string(side.shape);
  }
  for (const TensorId id : tensors) {
    const TaskTensor& tensor = tasks.tensors[id];
    key += "\n" + std::string(name_of(tensor.dtype)) + to_string(tensor.shape) +
           std::to_string(static_cast<int>(tensor.kind));
  }
  return key;
}

}  // namespace

TaskCandidates CandidateMemo::find(const Task& task) {
  std::string key = key_of(task, context_.tasks);
  if (const auto& built = context_.options.built) {
    const auto decisions = built->decisions.find(task.name);
    if (decisions != built->decisions.end()) {
      for (const TaskDecision& decision : decisions->second) key += "\n" + print(decision);
    }
  }
  const auto known = known_.find(key);
  if (known != known_.end()) {
    return TaskCandidates(known->second.list, known->second.task, task, context_.tasks);
  }
  auto list = std::make_shared<const CandidateList>(find_allowed(task, context_));
  known_.emplace(std::move(key), Known{task, list});
  return TaskCandidates(std::move(list));
}

TaskCandidates CandidateMemo::list(const Task& task) {
  TaskCandidates found = find(task);
  if (found->candidates.empty()) throw_none_allowed(task, context_, found->rejections);
  return found;
}

}  // namespace morton::plan
