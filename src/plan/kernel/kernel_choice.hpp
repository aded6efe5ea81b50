// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/name_map.hpp"
#include "base/rooms.hpp"
#include "plan/cost/cost.hpp"
#include "plan/ir/plan.hpp"
#include "plan/kernel/asked_problem.hpp"
#include "plan/kernel/plan_context.hpp"
#include "plan/policy/rejection.hpp"
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
  /// Of kind `any`: neighbouring work-items go along the memory, or along the tensor's rows; or
  /// the operand is read in the order of the result's memory, which `arrangement` is.
  enum class Walk : std::uint8_t { memory, rows, result } walk = Walk::memory;
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
  double estimated_us = 0.0;  ///< of each run, and `building_us`
  double building_us = 0.0;   ///< that building it counts in a plan that is to answer at once
  bool once = false;          ///< computes a derived tensor, when the plan is loaded
};

inline constexpr TensorId kFirstTemporary{1 << 24};

[[nodiscard]] constexpr bool is_temporary(TensorId id) { return id >= kFirstTemporary; }
/// Of a temporary: its index among the candidate's.
[[nodiscard]] constexpr std::size_t temporary_index(TensorId id) {
  return static_cast<std::size_t>(id.index() - kFirstTemporary.index());
}
[[nodiscard]] constexpr TensorId temporary_id(std::size_t index) {
  return kFirstTemporary.moved(index);
}

/// The tensor with this id: one of the tasks', or a temporary of the candidate.
[[nodiscard]] const TaskTensor& tensor_at(TensorId id, const TaskList& tasks,
                                          const Temporaries& temporaries);

/// Whether an entry of a family of any rank walks the rows of its problem, whose result may be a
/// part of dst: one of several that are joined. Others walk the memory of dst, all of it.
[[nodiscard]] bool writes_parts(const Entry& entry);

/// One kernel on the problem as it is, with what it demands of its operands and what it would cost;
/// or why it cannot be.
[[nodiscard]] OrReason<KernelChoice> choose_entry(const Entry& entry, const SharedProblem& bound,
                                                  const std::string& name,
                                                  const PlanContext& context,
                                                  const Temporaries& temporaries);

}  // namespace morton::plan
