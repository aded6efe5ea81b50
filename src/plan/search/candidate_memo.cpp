// SPDX-License-Identifier: Apache-2.0
#include "plan/search/candidate_memo.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "plan/search/decided.hpp"

namespace morton::plan {
namespace {

/// The task's tensors in the order in which its problem names them, each once.
std::vector<int> tensors_of(const BoundProblem& bound) {
  std::vector<int> tensors;
  const auto add = [&](int tensor) {
    if (std::ranges::find(tensors, tensor) == tensors.end()) tensors.push_back(tensor);
  };
  for (const auto& [role, binding] : bound.operands) add(binding.tensor);
  for (const auto& side : bound.sides) add(side.tensor);
  return tensors;
}

std::string number_in(const std::vector<int>& tensors, int tensor) {
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
  const std::vector<int> tensors = tensors_of(task.bound);
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
  for (const int id : tensors) {
    const TaskTensor& tensor = tasks.tensors[static_cast<std::size_t>(id)];
    key += "\n" + std::string(name_of(tensor.dtype)) + to_string(tensor.shape) +
           std::to_string(static_cast<int>(tensor.kind));
  }
  return key;
}

/// What was listed for one task, told of another.
class Retelling {
 public:
  Retelling(const Task& from, const Task& to, const TaskList& tasks)
      : from_(from),
        to_(to),
        tasks_(tasks),
        from_tensors_(tensors_of(from.bound)),
        to_tensors_(tensors_of(to.bound)) {}

  CandidateList of(CandidateList list) const {
    std::map<const BoundProblem*, SharedProblem> problems;
    const auto retell = [&](KernelChoice& kernel) {
      rename(kernel.name);
      SharedProblem& retold = problems[kernel.bound.get()];
      if (retold == nullptr) retold = of(*kernel.bound);
      kernel.bound = retold;
    };
    KernelChoices::Changed changed;
    for (Candidate& candidate : list.candidates) {
      candidate.kernels.change_each(retell, changed);
      for (TaskTensor& tensor : candidate.temporaries) rename(tensor.name);
    }
    return list;
  }

 private:
  SharedProblem of(BoundProblem bound) const {
    for (auto& [role, binding] : bound.operands) renumber(binding.tensor);
    for (auto& side : bound.sides) renumber(side.tensor);
    return std::make_shared<const BoundProblem>(std::move(bound));
  }
  /// Names are the task's, or that of a tensor, and more behind a colon.
  void rename(std::string& name) const {
    if (rename(name, from_.name, to_.name)) return;
    for (std::size_t i = 0; i < from_tensors_.size(); ++i) {
      if (rename(name, name_of_tensor(from_tensors_[i]), name_of_tensor(to_tensors_[i]))) return;
    }
  }
  static bool rename(std::string& name, const std::string& from, const std::string& to) {
    if (!name.starts_with(from)) return false;
    const std::string rest = name.substr(from.size());
    if (!rest.empty() && rest.front() != ':') return false;
    name = to + rest;
    return true;
  }
  const std::string& name_of_tensor(int tensor) const {
    return tasks_.tensors[static_cast<std::size_t>(tensor)].name;
  }
  void renumber(int& tensor) const {
    if (tensor >= kFirstTemporary) return;
    const auto at = std::ranges::find(from_tensors_, tensor) - from_tensors_.begin();
    tensor = to_tensors_[static_cast<std::size_t>(at)];
  }

  const Task& from_;
  const Task& to_;
  const TaskList& tasks_;
  std::vector<int> from_tensors_, to_tensors_;
};

}  // namespace

std::shared_ptr<const CandidateList> CandidateMemo::find(const Task& task) {
  std::string key = key_of(task, context_.tasks);
  if (const auto& built = context_.options.built) {
    const auto decisions = built->decisions.find(task.name);
    if (decisions != built->decisions.end()) {
      for (const TaskDecision& decision : decisions->second) key += "\n" + print(decision);
    }
  }
  const auto known = known_.find(key);
  if (known != known_.end()) {
    return std::make_shared<const CandidateList>(
        Retelling(known->second.task, task, context_.tasks).of(*known->second.list));
  }
  auto list = std::make_shared<const CandidateList>(find_allowed(task, context_));
  known_.emplace(std::move(key), Known{task, list});
  return list;
}

std::shared_ptr<const CandidateList> CandidateMemo::list(const Task& task) {
  auto found = find(task);
  if (found->candidates.empty()) throw_none_allowed(task, context_, found->rejections);
  return found;
}

}  // namespace morton::plan
