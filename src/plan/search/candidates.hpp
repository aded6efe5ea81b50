// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/rooms.hpp"
#include "plan/ir/plan.hpp"
#include "plan/policy/kernel_policy.hpp"
#include "plan/search/cost.hpp"
#include "plan/search/kernel_choices.hpp"
#include "plan/search/tasks.hpp"

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
  Environment tunables;
  std::string tunables_from;  ///< ChosenTunables::from
  /// Tensor ids are the task list's, or kFirstTemporary + index into the candidate's temporaries.
  BoundProblem bound;
  std::map<std::string, Demand> demands;  ///< by operand, dst included
  double efficiency = 0.0;    ///< share of the device's peak that it is expected to reach
  double estimated_us = 0.0;  ///< of each run
  bool once = false;          ///< computes a derived tensor, when the plan is loaded
};

inline constexpr int kFirstTemporary = 1 << 24;

/// One way to compute a task: a kernel, or the kernels of a recipe, and the elementwise step that
/// carries an epilogue which its kernel does not.
struct Candidate {
  std::string name;  ///< entry or recipe
  std::string way;   ///< entry or recipes on the way to the kernels, the same at all extents
  KernelChoices kernels;
  std::vector<TaskTensor> temporaries;
  std::vector<Arrangement> temporary_arrangements;
  double estimated_us = 0.0;
};

/// A candidate that cannot be, and why.
struct Rejection {
  std::string name;
  std::string why;
};

struct CandidateList {
  std::vector<Candidate> candidates;  ///< cheapest first
  std::vector<Rejection> rejections;
};

/// What candidates are made from.
struct PlanContext {
  PlanContext(const KernelPolicy& considered, const DeviceInfo& on, const TaskList& of)
      : policy(considered),
        catalogue(policy.catalogue()),
        device(on),
        options(policy.options()),
        tasks(of),
        pack_efficiency(best_pack_efficiency(catalogue, on)),
        workspace_limit_bytes(options.workspace_limit_bytes.value_or(usual_workspace_bytes(on))) {}

  const KernelPolicy& policy;
  const Catalogue& catalogue;
  const DeviceInfo& device;
  const PlanOptions& options;
  const TaskList& tasks;
  double pack_efficiency;
  std::int64_t workspace_limit_bytes;
  /// What the candidates that are listed must be; null: anything (plan/policy/decided.hpp).
  const TaskDecision* decision = nullptr;
};

/// All ways to compute the task.
[[nodiscard]] CandidateList list_candidates(const Task& task, const PlanContext& context);

/// Where a pack's operands lie.
struct PackEnds {
  const Arrangement& from;
  const Arrangement& to;
};

/// The cheapest entry that packs from and to these arrangements. Throws UnsupportedError.
[[nodiscard]] KernelChoice choose_pack(const BoundProblem& bound, const std::string& name,
                                       const PlanContext& context,
                                       const std::vector<TaskTensor>& temporaries, PackEnds ends);

/// The cheapest entry that computes a problem of a family of any rank. Throws UnsupportedError.
[[nodiscard]] KernelChoice choose_elementary(const BoundProblem& bound, const std::string& name,
                                             const PlanContext& context,
                                             const std::vector<TaskTensor>& temporaries);

}  // namespace morton::plan
