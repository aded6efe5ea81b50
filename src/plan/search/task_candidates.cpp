// SPDX-License-Identifier: Apache-2.0
#include "plan/search/task_candidates.hpp"

#include <algorithm>
#include <map>

namespace morton::plan {
namespace {

/// Where `name` is `from`, or that and more behind a colon, it starts with `to` now.
bool replace_start(std::string& name, const std::string& from, const std::string& to) {
  if (!name.starts_with(from)) return false;
  const std::string rest = name.substr(from.size());
  if (!rest.empty() && rest.front() != ':') return false;
  name = to + rest;
  return true;
}

}  // namespace

std::vector<TensorId> tensors_of(const BoundProblem& bound) {
  std::vector<TensorId> tensors;
  const auto add = [&](TensorId tensor) {
    if (std::ranges::find(tensors, tensor) == tensors.end()) tensors.push_back(tensor);
  };
  for (const auto& [role, binding] : bound.operands) add(binding.tensor);
  for (const auto& side : bound.sides) add(side.tensor);
  return tensors;
}

TaskCandidates::TaskCandidates(Shared list, const Task& listed, const Task& task,
                               const TaskList& tasks)
    : list_(std::move(list)), names_{{listed.name, task.name}} {
  const std::vector<TensorId> from = tensors_of(listed.bound);
  const std::vector<TensorId> to = tensors_of(task.bound);
  const auto name_of_tensor = [&](TensorId tensor) { return tasks.tensors[tensor].name; };
  for (std::size_t i = 0; i < from.size(); ++i) {
    tensors_.emplace_back(from[i], to[i]);
    names_.emplace_back(name_of_tensor(from[i]), name_of_tensor(to[i]));
  }
}

TensorId TaskCandidates::tensor(TensorId listed) const {
  const auto known = std::ranges::find(tensors_, listed, &std::pair<TensorId, TensorId>::first);
  return known == tensors_.end() ? listed : known->second;
}

Candidate TaskCandidates::told(std::size_t index) const {
  Candidate candidate = list_->candidates[index];
  if (names_.empty()) return candidate;
  std::map<const BoundProblem*, SharedProblem> problems;
  candidate.kernels.change_each([&](KernelChoice& kernel) {
    rename(kernel.name);
    SharedProblem& own = problems[kernel.bound.get()];
    if (own == nullptr) own = told(*kernel.bound);
    kernel.bound = own;
  });
  candidate.temporaries.change_each([&](TaskTensor& temporary) { rename(temporary.name); });
  return candidate;
}

SharedProblem TaskCandidates::told(BoundProblem bound) const {
  for (auto& [role, binding] : bound.operands) binding.tensor = tensor(binding.tensor);
  for (auto& side : bound.sides) side.tensor = tensor(side.tensor);
  return std::make_shared<const BoundProblem>(std::move(bound));
}

void TaskCandidates::rename(std::string& name) const {
  for (const auto& [from, to] : names_) {
    if (replace_start(name, from, to)) return;
  }
}

}  // namespace morton::plan
