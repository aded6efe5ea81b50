// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/schedule.hpp"

#include <utility>

#include "plan/lower/operand_values.hpp"
#include "plan/lower/ports.hpp"
#include "plan/lower/repacking.hpp"
#include "plan/lower/state_updates.hpp"
#include "plan/lower/stored_values.hpp"
#include "plan/search/repack.hpp"

namespace morton::plan {
namespace {

/// Lays out the chosen kernels one after the other.
class Scheduler {
 public:
  Scheduler(const CandidateLists& candidates, const Selections& selections,
            const PlanContext& context)
      : candidates_(candidates),
        selections_(selections),
        context_(context),
        tasks_(context.tasks),
        values_(context.tasks, schedule_.values),
        repacking_(schedule_, values_, context),
        operands_(values_, repacking_) {}

  Schedule run() {
    Ports ports(schedule_, values_, tasks_);
    ports.add_inputs();
    ports.add_states();
    for (const TaskId t : selections_.ids()) run_task(t);
    values_.leave();
    StateUpdates updates(schedule_, values_, operands_, repacking_);
    for (const auto& [state, tensor] : tasks_.updates) updates.update(state, tensor);
    ports.add_outputs(operands_, updates);
    return std::move(schedule_);
  }

 private:
  void run_task(TaskId t) {
    const Candidate candidate = candidates_[t].told(selections_[t].candidate);
    values_.enter(candidate);
    for (const auto& choice : candidate.kernels) {
      ScheduledKernel kernel;
      kernel.choice = choice;
      kernel.task = t;
      kernel.once = choice.once;
      for (const auto& [role, binding] : choice.bound->operands) {
        if (role != "dst") kernel.values[role] = read(choice, role, selections_[t].output);
      }
      for (const auto& side : choice.bound->sides) kernel.sides.push_back(operands_.side(side));
      kernel.values["dst"] = write(choice, selections_[t].output);
      if (!kernel.once) kernel.choice.estimated_us += inside_us(kernel);
      schedule_.estimated_us += kernel.choice.estimated_us;
      schedule_.kernels.push_back(std::move(kernel));
    }
  }

  /// What the orders of its operands and of its result cost the kernel, which the search counted
  /// with the tensors.
  double inside_us(const ScheduledKernel& kernel) const {
    const KernelChoice& choice = kernel.choice;
    const Arrangement& dst = values_.at(kernel.values.at("dst")).arrangement;
    const Demand result{Demand::Kind::direct, dst};
    double us = order_cost_us(choice, dst, context_);
    for (const auto& [role, value] : kernel.values) {
      if (role == "dst" || is_fixed(values_.at(value))) continue;
      const Arrangement& stored = values_.at(value).arrangement;
      us += lanes_us(choice, role, stored, context_);
      const auto along = demand_along_result(choice, role, stored.tensor_shape, result);
      if (along) us += side_cost_us(stored, *along, context_);
    }
    for (const ValueId side : kernel.sides) {
      if (is_fixed(values_.at(side))) continue;
      const Arrangement& stored = values_.at(side).arrangement;
      us += side_cost_us(stored, side_demand(result, stored.tensor_shape, dst.tensor_shape),
                         context_);
    }
    return us;
  }

  /// An unbound operand lies as its kernel's result will.
  ValueId read(const KernelChoice& choice, const std::string& role, const Arrangement& output) {
    if (!choice.entry->operands.at(role).is_unbound()) return operands_.operand(choice, role);
    const Binding& binding = choice.bound->operands.at(role);
    const auto along =
        demand_along_result(choice, role, output.tensor_shape, {Demand::Kind::direct, output});
    if (!along) return operands_.operand(choice, role);
    return operands_.direct(binding.tensor, along->arrangement);
  }

  ValueId write(const KernelChoice& choice, const Arrangement& open_output) {
    const TensorId tensor = tensor_of(*choice.bound, "dst");
    if (is_temporary(tensor)) return values_.add_temporary(tensor);
    // The slabs of a recipe write parts of one value.
    if (!values_.of(tensor).empty()) return values_.of(tensor).front();
    const Demand& demand = choice.demands.at("dst");
    Arrangement arrangement =
        demand.kind == Demand::Kind::direct ? demand.arrangement : open_output;
    // Kernels with generated accessors for any rank write zeros around the tensor; others write
    // nothing there.
    if (demand.kind == Demand::Kind::any) {
      arrangement.padding = choice.entry->operands.at("dst").padding;
    }
    const ValueId value =
        values_.add(values_.tensor(tensor).name, Value::Kind::activation, arrangement);
    values_.of(tensor).push_back(value);
    return value;
  }

  const CandidateLists& candidates_;
  const Selections& selections_;
  const PlanContext& context_;
  const TaskList& tasks_;
  Schedule schedule_;
  StoredValues values_;
  Repacking repacking_;
  OperandValues operands_;
};

}  // namespace

Schedule make_schedule(const CandidateLists& candidates, const Selections& selections,
                       const PlanContext& context) {
  return Scheduler(candidates, selections, context).run();
}

}  // namespace morton::plan
