// SPDX-License-Identifier: Apache-2.0
#include "plan/search/choose.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "plan/search/decided.hpp"
#include "plan/search/formats.hpp"
#include "plan/search/improve.hpp"
#include "plan/search/repack.hpp"
#include "plan/search/tensor_states.hpp"

namespace morton::plan {
namespace {

/// Viterbi over the tasks in order. A tensor that several tasks read is counted in each of its
/// paths, so the result is exact for chains and a start for `improve` elsewhere.
class Chooser {
 public:
  Chooser(const CandidateLists& candidates, const Indexed<TensorId, Formats>& wishes,
          const PlanContext& context, const LeftOut& left_out)
      : candidates_(candidates),
        wishes_(wishes),
        context_(context),
        left_out_(left_out),
        states_(context),
        writers_(context.tasks.tensors.size()),
        parts_(candidates.size()) {
    for (const TaskId t : candidates.ids()) writers_[result_of(t)].push_back(t);
  }

  Selections run() {
    for (const TaskId t : candidates_.ids()) visit(t);
    Selections selections(candidates_.size());
    Indexed<TaskId, bool> decided(candidates_.size(), false);
    for (TaskId t = candidates_.next_id().moved(-1); t; t = t.moved(-1)) {
      if (decided[t]) continue;
      const TensorId dst = result_of(t);
      follow(dst, states_.cheapest(dst), selections, decided);
    }
    return selections;
  }

 private:
  TensorId result_of(TaskId t) const { return tensor_of(context_.tasks.tasks[t].bound, "dst"); }

  void visit(TaskId t) {
    const TensorId dst = result_of(t);
    Formats formats = wishes_[dst];
    for (std::size_t c = 0; c < candidates_[t]->candidates.size(); ++c) {
      const Candidate& candidate = candidates_[t]->candidates[c];
      if (left_out_.contains(&candidate)) continue;
      // As outputs_of, of which few are kept.
      const Demand& result = candidate.kernels.back().demands.at("dst");
      if (result.kind == Demand::Kind::direct) {
        TensorState state = before(candidates_[t], candidate, result);
        state.cost_us += order_cost_us(candidate.kernels.back(), result.arrangement, context_);
        state.candidate = c;
        state.format = formats.number_of(result.arrangement);
        keep(t, state, result.arrangement, result.arrangement.padding);
        continue;
      }
      const PaddingContents padding = candidate.kernels.back().entry->operands.at("dst").padding;
      const std::vector<Arrangement>& all = wishes_[dst].all();
      // What the sources cost depends on the result's order where the kernel follows it.
      const bool follows = walks_result(candidate.kernels.back());
      std::optional<TensorState> state;
      double before_us = 0.0;
      for (std::size_t format = 0; format < all.size(); ++format) {
        if (!state || follows) {
          const Demand left{Demand::Kind::direct, all[format]};
          state = before(candidates_[t], candidate, follows ? left : result);
          state->candidate = c;
          before_us = state->cost_us;
        }
        state->format = format;
        state->cost_us = before_us + order_cost_us(candidate.kernels.back(), all[format], context_);
        keep(t, *state, all[format], padding);
      }
    }
    if (is_part(dst) && t == writers_[dst].back()) join_parts(dst);
  }

  /// The cost of the candidate and of all before it, and where from, if the task's result is left
  /// as `result` says.
  TensorState before(const TaskCandidates& list, const Candidate& candidate,
                     const Demand& task_result) {
    TensorState state;
    state.cost_us = candidate.estimated_us;
    read_.clear();
    for (const auto& kernel : candidate.kernels) {
      const bool is_last = &kernel == &candidate.kernels.back();
      const Demand& result = is_last ? task_result : kernel.demands.at("dst");
      for (const auto& [role, binding] : kernel.bound->operands) {
        if (role == "dst" || is_temporary(binding.tensor)) continue;
        const TensorId tensor = list.tensor(binding.tensor);
        const Shape& shape = context_.tasks.tensors[tensor].shape;
        const auto along = demand_along_result(kernel, role, shape, result);
        add_source(tensor, along ? *along : kernel.demands.at(role), state);
      }
      for (const auto& side : kernel.bound->sides) {
        if (is_temporary(side.tensor)) continue;
        const TensorId tensor = list.tensor(side.tensor);
        const Shape& shape = context_.tasks.tensors[tensor].shape;
        add_source(tensor, side_demand(result, side.shape, shape), state);
      }
    }
    return state;
  }

  /// Adds the cheapest way to meet the demand to `state`.
  void add_source(TensorId tensor, const Demand& demand, TensorState& state) {
    const TensorId source = root_of(context_.tasks, tensor);
    const auto& options = states_.of(source);
    if (options.empty()) return;
    const auto known =
        std::ranges::find(state.sources, source, &std::pair<TensorId, std::size_t>::first);
    if (known != state.sources.end()) {
      // Slabs read a tensor again and again: all before it, and a copy that stays, cost once.
      if (!is_met_again(tensor, demand))
        state.cost_us += states_.fit_us(tensor, options[known->second], demand);
      return;
    }
    is_met_again(tensor, demand);
    const Met& met = states_.meet(tensor, demand);
    state.cost_us += met.cost_us;
    state.sources.emplace_back(source, met.state);
  }

  /// Whether a copy that the candidate has already serves this demand too; remembers it.
  bool is_met_again(TensorId tensor, const Demand& demand) {
    if (demand.kind == Demand::Kind::packed) return false;
    const bool known = std::ranges::any_of(read_, [&](const auto& read) {
      return read.first == tensor && read.second.kind == demand.kind &&
             identical(read.second.arrangement, demand.arrangement);
    });
    if (!known) read_.emplace_back(tensor, demand);
    return known;
  }

  /// Whether several tasks write the tensor, each its part.
  bool is_part(TensorId tensor) const { return writers_[tensor].size() > 1; }

  /// Keeps the way to have the result of a task in this arrangement with this padding, if it is the
  /// cheapest to have it so.
  void keep(TaskId t, const TensorState& way, const Arrangement& arrangement,
            PaddingContents padding) {
    const TensorId dst = result_of(t);
    if (!is_part(dst)) return states_.keep(dst, way, arrangement, padding);
    // The formats that all writers number alike.
    if (way.format >= std::max<std::size_t>(wishes_[dst].all().size(), 1)) return;
    auto known = std::ranges::find(parts_[t], way.format, &TensorState::format);
    if (known == parts_[t].end()) {
      known = parts_[t].insert(known, way);
    } else if (way.cost_us < known->cost_us) {
      *known = way;
    } else {
      return;
    }
    known->arrangement = arrangement;
    known->arrangement.padding = padding;
  }

  /// The ways to have a tensor that is written in parts: in each format, each part the cheapest
  /// way.
  void join_parts(TensorId tensor) {
    for (const TensorState& first : parts_[writers_[tensor].front()]) {
      TensorState whole = first;
      whole.cost_us = 0.0;
      whole.sources.clear();
      bool is_complete = true;
      for (const TaskId t : writers_[tensor]) {
        const TensorState* part = part_in(t, first.format);
        is_complete = is_complete && part != nullptr;
        if (part == nullptr) break;
        whole.cost_us += part->cost_us;
        whole.sources.insert(whole.sources.end(), part->sources.begin(), part->sources.end());
      }
      if (is_complete) states_.add(tensor, std::move(whole));
    }
  }

  /// How a task leaves its part in a format, or null.
  const TensorState* part_in(TaskId t, std::size_t format) const {
    const auto known = std::ranges::find(parts_[t], format, &TensorState::format);
    return known == parts_[t].end() ? nullptr : &*known;
  }

  void follow(TensorId tensor, std::size_t index, Selections& selections,
              Indexed<TaskId, bool>& decided) const {
    const auto& writers = writers_[tensor];
    if (writers.empty() || decided[writers.front()]) return;
    if (states_.of(tensor).empty()) {
      throw UnsupportedError("plan: the tasks that write parts of '" +
                             context_.tasks.tensors[tensor].name + "' agree on no format");
    }
    const TensorState& state = states_.of(tensor)[index];
    for (const TaskId task : writers) {
      decided[task] = true;
      const TensorState& own = writers.size() > 1 ? *part_in(task, state.format) : state;
      selections[task] = {own.candidate, own.arrangement};
    }
    for (const auto& [source, chosen] : state.sources) follow(source, chosen, selections, decided);
  }

  const CandidateLists& candidates_;
  const Indexed<TensorId, Formats>& wishes_;
  const PlanContext& context_;
  const LeftOut& left_out_;
  TensorStates states_;
  Indexed<TensorId, std::vector<TaskId>> writers_;   ///< the tasks that write it
  Indexed<TaskId, std::vector<TensorState>> parts_;  ///< of those that write a part, by format
  std::vector<std::pair<TensorId, Demand>> read_;    ///< by the candidate that is visited
};

/// True when some tensor is read by several tasks, so that the paths of the search were not apart.
bool has_joins(const TaskList& tasks) {
  Indexed<TensorId, int> readers(tasks.tensors.size(), 0);
  for (const auto& task : tasks.tasks) {
    for (const auto& [role, binding] : task.bound.operands) {
      const bool activation = tasks.tensors[binding.tensor].kind == TaskTensor::Kind::activation;
      if (role != "dst" && activation && ++readers[binding.tensor] > 1) return true;
    }
    for (const auto& side : task.bound.sides) {
      if (tasks.tensors[side.tensor].kind == TaskTensor::Kind::activation) return true;
    }
  }
  return false;
}

/// Whether a kernel moves elements as they lie in memory and does not know the type in which one
/// of its operands is wished (a product's operands in f16, under a reduced precision).
bool is_unfit(const KernelChoice& kernel, const TaskCandidates& list, const TaskList& tasks,
              const Indexed<TensorId, Formats>& wishes) {
  if (kernel.entry->family != families::pack) return false;
  for (const auto& [role, binding] : kernel.bound->operands) {
    if (is_temporary(binding.tensor)) continue;
    const auto& types = kernel.entry->operands.at(role).types;
    const TensorId root = root_of(tasks, list.tensor(binding.tensor));
    const auto is_known = [&](const Arrangement& wish) {
      return std::ranges::find(types, wish.dtype) != types.end();
    };
    if (!std::ranges::all_of(wishes[root].all(), is_known)) return true;
  }
  return false;
}

/// Leaves out candidates that are unfit for what is wished of their tensors. Where a task would
/// keep none, its tensors are not wished in other types.
void leave_out_unfit(const CandidateLists& candidates, const TaskList& tasks,
                     Indexed<TensorId, Formats>& wishes, LeftOut& left_out) {
  for (const TaskId t : candidates.ids()) {
    const TaskCandidates& list = candidates[t];
    std::vector<const Candidate*> unfit;
    bool keeps_any = false;
    for (const Candidate& candidate : list->candidates) {
      const bool fits = std::ranges::none_of(candidate.kernels, [&](const KernelChoice& kernel) {
        return is_unfit(kernel, list, tasks, wishes);
      });
      if (!fits) unfit.push_back(&candidate);
      keeps_any = keeps_any || (fits && !left_out.contains(&candidate));
    }
    if (keeps_any) left_out.insert(unfit.begin(), unfit.end());
    if (keeps_any || unfit.empty()) continue;
    for (const auto& [role, binding] : tasks.tasks[t].bound.operands) {
      const TensorId root = root_of(tasks, binding.tensor);
      const DType own = tasks.tensors[root].dtype;
      wishes[root].keep([&](const Arrangement& wish) { return wish.dtype == own; });
    }
  }
}

}  // namespace

Selections choose(const CandidateLists& candidates, const PlanContext& context,
                  const LeftOut& not_allowed) {
  Indexed<TensorId, Formats> wishes = wished_formats(candidates, context.tasks);
  keep_decided_formats(wishes, context);
  LeftOut left_out = not_allowed;
  if (context.options.precision != DType::f32) {
    leave_out_unfit(candidates, context.tasks, wishes, left_out);
  }
  Selections selections = Chooser(candidates, wishes, context, left_out).run();
  if (has_joins(context.tasks)) improve(selections, candidates, wishes, context, left_out);
  return selections;
}

}  // namespace morton::plan
