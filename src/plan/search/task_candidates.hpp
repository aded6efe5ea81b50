// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// The ways to compute one task. Tasks that pose the same problem share a list, which speaks of the
/// first of them: of its name and its tensors.
class TaskCandidates {
 public:
  using Shared = std::shared_ptr<const CandidateList>;

  /// The list was made for the task itself.
  explicit TaskCandidates(Shared list) : list_(std::move(list)) {}
  /// It was made for `listed`.
  TaskCandidates(Shared list, const Task& listed, const Task& task, const TaskList& tasks);

  /// The list as it was made.
  const CandidateList& operator*() const { return *list_; }
  const CandidateList* operator->() const { return list_.get(); }
  /// The task's tensor where the list says `listed`. A candidate's temporaries are themselves.
  [[nodiscard]] TensorId tensor(TensorId listed) const;
  /// A candidate of the list, told of the task.
  [[nodiscard]] Candidate told(std::size_t index) const;

 private:
  [[nodiscard]] SharedProblem told(BoundProblem bound) const;
  void rename(std::string& name) const;

  Shared list_;
  std::vector<std::pair<TensorId, TensorId>>
      tensors_;  ///< the list's, and the task's; none where they agree
  /// Of the two tasks, and of their tensors.
  std::vector<std::pair<std::string, std::string>> names_;
};

/// Of each task.
using CandidateLists = Indexed<TaskId, TaskCandidates>;

/// The tensors of a problem in the order in which it names them, each once.
[[nodiscard]] std::vector<TensorId> tensors_of(const BoundProblem& bound);

}  // namespace morton::plan
