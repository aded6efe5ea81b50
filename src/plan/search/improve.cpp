// SPDX-License-Identifier: Apache-2.0
#include "plan/search/improve.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "plan/search/choose.hpp"
#include "plan/search/repack.hpp"
#include "plan/tasks/alias.hpp"

namespace morton::plan {
namespace {

constexpr int kMostRounds = 4;

/// What copies of one tensor (and of its aliases) cost, as the schedule would make them: reads are
/// told in the schedule's order, and a copy serves every later reader of its format.
class Copies {
 public:
  explicit Copies(const PlanContext& context) : context_(context) {}

  void store(TensorId tensor, const Arrangement& arrangement) {
    stored_[tensor].push_back(arrangement);
  }
  void read(TensorId tensor, const Demand& demand) {
    if (demand.kind == Demand::Kind::direct) return make_direct(tensor, demand.arrangement);
    if (demand.walk == Demand::Walk::result) return read_side(tensor, demand);
    make_any(tensor);
    cost_us_ += scattered_us(stored_[tensor].front(), demand, context_);
    if (demand.kind == Demand::Kind::packed) add(tensor, demand.arrangement);
  }
  void read_side(TensorId tensor, const Demand& demand) {
    make_any(tensor);
    cost_us_ += side_cost_us(stored_[tensor].front(), demand, context_);
  }
  void read_row_major(TensorId tensor) {
    const TaskTensor& facts = facts_of(tensor);
    make_direct(tensor, row_major_arrangement(facts.dtype, facts.shape));
  }
  [[nodiscard]] double cost_us() const { return cost_us_; }

 private:
  const TaskTensor& facts_of(TensorId tensor) const { return context_.tasks.tensors[tensor]; }
  void add(TensorId tensor, const Arrangement& to) {
    cost_us_ += repack_cost_us(stored_[tensor].front(), to, context_);
  }
  void make_any(TensorId tensor) {
    if (stored_[tensor].empty()) read_row_major(tensor);
  }
  void make_direct(TensorId tensor, const Arrangement& demanded) {
    auto& stored = stored_[tensor];
    const bool there = std::any_of(stored.begin(), stored.end(), [&](const Arrangement& known) {
      return satisfies(known, demanded);
    });
    if (there) return;
    if (facts_of(tensor).alias_of) return make_alias(tensor, demanded);
    // Nothing has written it yet: the copy is made from what its writer leaves, which is unknown.
    if (stored.empty()) return store(tensor, demanded);
    add(tensor, demanded);
    store(tensor, zero_padding(demanded));
  }
  void make_alias(TensorId tensor, const Arrangement& demanded) {
    const TensorId source = facts_of(tensor).alias_of;
    if (const auto seen = seen_from_source(demanded, facts_of(source).shape)) {
      make_direct(source, *seen);
      return store(tensor, demanded);
    }
    read_row_major(source);
    const Arrangement dense = row_major_arrangement(facts_of(tensor).dtype, facts_of(tensor).shape);
    store(tensor, dense);
    if (satisfies(dense, demanded)) return;
    add(tensor, demanded);
    store(tensor, zero_padding(demanded));
  }
  static Arrangement zero_padding(Arrangement arrangement) {
    arrangement.padding = PaddingContents::zero;
    return arrangement;
  }

  const PlanContext& context_;
  std::map<TensorId, std::vector<Arrangement>> stored_;
  double cost_us_ = 0.0;
};

class LocalSearch {
 public:
  LocalSearch(Selections& selections, const CandidateLists& candidates,
              const Indexed<TensorId, Formats>& wishes, const PlanContext& context,
              const LeftOut& left_out)
      : selections_(selections),
        candidates_(candidates),
        wishes_(wishes),
        context_(context),
        left_out_(left_out),
        writer_(context.tasks.tensors.size()),
        readers_(context.tasks.tensors.size()),
        is_result_(context.tasks.tensors.size(), false) {
    for (const TaskId t : candidates.ids()) {
      touched_.add(touched_by(context.tasks.tasks[t].bound));
      const TensorId dst = tensor_of(context.tasks.tasks[t].bound, "dst");
      if (!writer_[dst]) writer_[dst] = t;
      for (const TensorId root : touched_[t]) {
        if (root != dst) readers_[root].push_back(t);
      }
    }
    for (const auto& [state, tensor] : context.tasks.updates) mark_result(tensor);
    for (const auto& [name, tensor] : context.tasks.outputs) mark_result(tensor);
  }

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = false;
      for (const TaskId t : selections_.ids()) changed = improve(t) || changed;
      if (!changed) return;
    }
  }

 private:
  /// The roots of the tensors that a task writes and reads, constants left out.
  std::vector<TensorId> touched_by(const BoundProblem& bound) const {
    std::vector<TensorId> roots;
    const auto add = [&](TensorId tensor) {
      const TensorId root = root_of(context_.tasks, tensor);
      const auto& facts = context_.tasks.tensors[root];
      const bool known = std::find(roots.begin(), roots.end(), root) != roots.end();
      if (facts.kind != TaskTensor::Kind::constant && !known) roots.push_back(root);
    };
    for (const auto& [role, binding] : bound.operands) add(binding.tensor);
    for (const auto& side : bound.sides) add(side.tensor);
    return roots;
  }

  void mark_result(TensorId tensor) { is_result_[root_of(context_.tasks, tensor)] = true; }

  const Candidate& selected(TaskId t) const {
    return candidates_[t]->candidates[selections_[t].candidate];
  }

  /// Time of the copies of the tensor and its aliases under the present selections.
  double copies_us(TensorId root) const {
    Copies copies(context_);
    const TaskTensor& facts = context_.tasks.tensors[root];
    if (writer_[root]) {
      copies.store(root, selections_[writer_[root]].output);
    } else {
      copies.store(root, row_major_arrangement(facts.dtype, facts.shape));
    }
    for (const TaskId t : readers_[root]) add_reads(t, root, copies);
    if (is_result_[root]) add_results(root, copies);
    return copies.cost_us();
  }

  /// What a kernel's sides must agree with: where it leaves dst to whoever plans, what is selected.
  Demand result_of(const KernelChoice& kernel, TaskId t) const {
    Demand result = kernel.demands.at("dst");
    const TensorId dst = kernel.bound->operands.at("dst").tensor;
    if (result.kind == Demand::Kind::any && !is_temporary(dst)) {
      result.kind = Demand::Kind::direct;
      result.arrangement = selections_[t].output;
    }
    return result;
  }

  void add_reads(TaskId t, TensorId root, Copies& copies) const {
    for (const auto& kernel : selected(t).kernels) {
      for (const auto& [role, binding] : kernel.bound->operands) {
        const TensorId tensor = candidates_[t].tensor(binding.tensor);
        if (role == "dst" || !is_of(tensor, root)) continue;
        const Shape& shape = context_.tasks.tensors[tensor].shape;
        const auto along = walks_result(kernel)
                               ? demand_along_result(kernel, role, shape, result_of(kernel, t))
                               : std::nullopt;
        copies.read(tensor, along ? *along : kernel.demands.at(role));
      }
      for (const auto& side : kernel.bound->sides) {
        const TensorId tensor = candidates_[t].tensor(side.tensor);
        if (!is_of(tensor, root)) continue;
        const auto& facts = context_.tasks.tensors[tensor];
        if (facts.shape == side.shape) {
          const Demand result = result_of(kernel, t);
          copies.read_side(tensor, side_demand(result, side.shape, facts.shape));
        } else {
          copies.read_row_major(tensor);
        }
      }
    }
  }

  void add_results(TensorId root, Copies& copies) const {
    for (const auto& [state, tensor] : context_.tasks.updates) {
      if (is_of(tensor, root)) copies.read_row_major(tensor);
    }
    for (const auto& [name, tensor] : context_.tasks.outputs) {
      if (is_of(tensor, root)) copies.read_row_major(tensor);
    }
  }

  bool is_of(TensorId tensor, TensorId root) const {
    return !is_temporary(tensor) && root_of(context_.tasks, tensor) == root;
  }

  double around_us(TaskId t) const {
    double sum = selected(t).estimated_us;
    sum += order_cost_us(selected(t).kernels.back(), selections_[t].output, context_);
    for (const TensorId root : touched_[t]) sum += copies_us(root);
    return sum;
  }

  bool is_part(TaskId t) const {
    return context_.tasks.tensors[tensor_of(context_.tasks.tasks[t].bound, "dst")].parts > 1;
  }

  bool improve(TaskId t) {
    bool changed = false;
    const Formats& wishes = wishes_[tensor_of(context_.tasks.tasks[t].bound, "dst")];
    // Sums in another order differ by rounding; such a difference is no gain.
    constexpr double kGain = 1.0 - 1e-9;
    double best = around_us(t);
    for (std::size_t c = 0; c < candidates_[t]->candidates.size(); ++c) {
      const Candidate& candidate = candidates_[t]->candidates[c];
      if (candidate.estimated_us >= best * kGain || left_out_.contains(&candidate)) continue;
      for (const auto& output : outputs_of(candidate, wishes)) {
        // The writers of parts agree on a format.
        if (is_part(t) && !identical(output, selections_[t].output)) continue;
        const Selection before = selections_[t];
        selections_[t] = {c, output};
        const double cost = around_us(t);
        if (cost < best * kGain) {
          best = cost;
          changed = true;
        } else {
          selections_[t] = before;
        }
      }
    }
    return changed;
  }

  Selections& selections_;
  const CandidateLists& candidates_;
  const Indexed<TensorId, Formats>& wishes_;
  const PlanContext& context_;
  const LeftOut& left_out_;
  Indexed<TensorId, TaskId> writer_;                ///< the first task that writes it
  Indexed<TensorId, std::vector<TaskId>> readers_;  ///< by the root of what they read
  Indexed<TensorId, bool> is_result_;
  Indexed<TaskId, std::vector<TensorId>> touched_;  ///< roots
};

}  // namespace

void improve(Selections& selections, const CandidateLists& candidates,
             const Indexed<TensorId, Formats>& wishes, const PlanContext& context,
             const LeftOut& left_out) {
  LocalSearch(selections, candidates, wishes, context, left_out).run();
}

}  // namespace morton::plan
