// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/name_map.hpp"
#include "base/rooms.hpp"
#include "plan/cost/cost.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/rejection.hpp"
#include "plan/search/asked_problem.hpp"
#include "plan/search/plan_context.hpp"
#include "plan/search/shared_list.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// What a kernel asks of an operand's memory.
struct Demand {
  enum class Kind : std::uint8_t {
    any,     ///< generated accessors: whatever arrangement the tensor has
    direct,  ///< this arrangement of the tensor
    packed,  ///< a copy, packed through the operand's view into this arrangement
  } kind = Kind::any;
  Arrangement arrangement;
  /// Of kind `any`: neighbouring work-items go along the memory, or along the tensor's rows.
  enum class Walk : std::uint8_t { memory, rows } walk = Walk::memory;
};

/// One kernel with the operands it would run on.
struct KernelChoice {
  std::string name;  ///< of the task, with the recipe's step
  const Entry* entry = nullptr;
  std::shared_ptr<const Environment> tunables;
  std::string tunables_from;  ///< ChosenTunables::from
  bool is_tuned = false;      ///< its tunables take values that were measured
  /// Tensor ids are the task list's, or kFirstTemporary + index into the candidate's temporaries.
  SharedProblem bound;
  NameMap<Demand> demands;    ///< by operand, dst included
  double efficiency = 0.0;    ///< share of the device's peak that it is expected to reach
  double estimated_us = 0.0;  ///< of each run
  bool once = false;          ///< computes a derived tensor, when the plan is loaded
};

inline constexpr int kFirstTemporary = 1 << 24;

using KernelChoices = SharedList<KernelChoice>;

/// One way to compute a task: a kernel, or the kernels of a recipe, and the elementwise step that
/// carries an epilogue which its kernel does not.
struct Candidate {
  std::string name;       ///< entry or recipe
  std::string way;        ///< entry or recipes on the way to the kernels, the same at all extents
  KernelChoices kernels;  ///< in the order in which they run
  Temporaries temporaries;
  double estimated_us = 0.0;
};

struct CandidateList {
  std::vector<Candidate> candidates;  ///< cheapest first
  std::vector<Rejection> rejections;
};

/// All ways to compute the task; without any, why each cannot be. Throws UsageError where the one
/// that is asked for cannot.
[[nodiscard]] CandidateList find_candidates(const Task& task, const PlanContext& context);

/// That nothing computes the task, for these reasons.
[[nodiscard]] Reason no_candidate(const Task& task, std::vector<Rejection> rejections);

/// As find_candidates. Throws UnsupportedError, with the reasons, where there are none.
[[nodiscard]] MORTON_FOR_TOOLS CandidateList list_candidates(const Task& task,
                                                             const PlanContext& context);

}  // namespace morton::plan
