// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidate_memo.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// What was found of tasks that could be one.
struct JoinNotes {
  std::vector<Message> considered;                  ///< as Plan::considered
  std::vector<std::string> left_out_by_self_tests;  ///< as in Plan
};

/// Time that the kernels' own costs lack, in microseconds.
struct JoinExtras {
  /// What the one task computes that the cost of no kernel of those apart counts: a measured kernel
  /// of the one has it.
  double measured_us = 0.0;
  double copies_us = 0.0;  ///< of operands that do not lie as the one task's kernel demands
};

/// Decides whether several tasks become one. `memo` is of the context; `notes` gets a line for each
/// decision.
class TaskJoiner {
 public:
  TaskJoiner(const PlanContext& context, CandidateMemo& memo, JoinNotes& notes)
      : context_(context), memo_(memo), notes_(notes) {}

  /// True where a kernel that computes `one` takes less time than the best kernels of `apart`, or
  /// PlanOptions::use asks for it, or nothing else is built. `what` names the tasks in the note.
  bool pays(std::span<const Task* const> apart, const Task& one, const std::string& what,
            const JoinExtras& extras);

 private:
  const PlanContext& context_;
  CandidateMemo& memo_;
  JoinNotes& notes_;
};

/// Whether kernels are named for one of `parts`, and none for `joined`, which would leave them out.
[[nodiscard]] bool is_asked_apart(const KernelPolicy& policy, Family joined,
                                  std::initializer_list<Family> parts);

/// The tasks that read the tensor as an operand; no value where it is read otherwise: as a side
/// operand, under another shape, as a state's next value or a result of the model; or where several
/// tasks write it.
[[nodiscard]] std::optional<std::set<TaskId>> readers_of(TensorId tensor, const TaskList& tasks);

/// The one task that reads the tensor, as one operand, and nothing else does; or none.
[[nodiscard]] TaskId sole_reader(TensorId tensor, const TaskList& tasks);

/// Whether all tensors of the problem are f32.
[[nodiscard]] bool is_f32(const BoundProblem& bound, const TaskList& tasks);

/// Whether the operand is a whole tensor of as many dimensions, each where it is expected.
[[nodiscard]] bool is_plain(const BoundProblem& bound, const std::string& role);

/// The list without these tasks.
[[nodiscard]] TaskList without(TaskList list, const std::set<TaskId>& dropped);

}  // namespace morton::plan
