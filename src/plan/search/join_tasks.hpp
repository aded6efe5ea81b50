// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
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

/// Decides whether several tasks become one. `memo` is of the context; `notes` gets a line for each
/// decision.
class TaskJoiner {
 public:
  TaskJoiner(const PlanContext& context, CandidateMemo& memo, JoinNotes& notes)
      : context_(context), memo_(memo), notes_(notes) {}

  /// True where a kernel that computes `one` takes less time than the best kernels of `apart`, or
  /// PlanOptions::use asks for it, or nothing else is built. `what` names the tasks in the note.
  /// `measured_more_us` is what `one` computes that the cost of no kernel of `apart` counts:
  /// a measured kernel of `one` has it.
  bool pays(std::span<const Task* const> apart, const Task& one, const std::string& what,
            double measured_more_us = 0.0);

 private:
  const PlanContext& context_;
  CandidateMemo& memo_;
  JoinNotes& notes_;
};

/// Whether PlanOptions::use names kernels for one of `parts`, and none for `joined`, which would
/// leave them out.
[[nodiscard]] bool is_asked_apart(const PlanOptions& options, Family joined,
                                  std::initializer_list<Family> parts);

/// The one task behind `after` that alone reads the tensor, as an operand, or none: nothing else
/// reads it under whatever shape, and it is no result of the model.
[[nodiscard]] TaskId sole_reader(TensorId tensor, TaskId after, const TaskList& tasks);

/// Whether all tensors of the problem are f32.
[[nodiscard]] bool is_f32(const BoundProblem& bound, const TaskList& tasks);

/// The list without these tasks.
[[nodiscard]] TaskList without(TaskList list, const std::set<TaskId>& dropped);

}  // namespace morton::plan
