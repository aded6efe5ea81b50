// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "plan/alias.hpp"
#include "plan/repack.hpp"
#include "plan/schedule.hpp"

namespace morton {
namespace {

/// Formats of one tensor that are worth storing it in; more bring nothing but time.
constexpr std::size_t kMostFormats = 8;
constexpr int kMostRounds = 4;

/// A way to have a tensor: in this arrangement, at this cost of everything before it.
struct State {
  Arrangement arrangement;
  double cost_us = 0.0;
  std::size_t candidate = 0;
  std::vector<std::pair<int, std::size_t>> sources;  ///< tensor read, and its state
};

/// Viterbi over the tasks in order. A tensor that several tasks read is counted in each of its
/// paths, so the result is exact for chains and a start for `improve` elsewhere.
class Chooser {
 public:
  Chooser(const std::vector<CandidateList>& candidates, const PlanContext& context)
      : candidates_(candidates),
        context_(context),
        states_(context.tasks.tensors.size()),
        writer_(context.tasks.tensors.size(), -1) {
    for (std::size_t t = 0; t < candidates.size(); ++t) {
      writer_[static_cast<std::size_t>(tensor_of(context.tasks.tasks[t].bound, "dst"))] =
          static_cast<int>(t);
    }
    // What the caller or the last run left lies row-major; another format costs a copy each run.
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const TaskTensor& tensor = context.tasks.tensors[i];
      if (tensor.kind != TaskTensor::Kind::input && tensor.kind != TaskTensor::Kind::state)
        continue;
      State given;
      given.arrangement = row_major_arrangement(tensor.dtype, tensor.shape);
      states_[i].push_back(std::move(given));
    }
  }

  std::vector<Selection> run() {
    for (std::size_t t = 0; t < candidates_.size(); ++t) visit(t);
    std::vector<Selection> selections(candidates_.size());
    std::vector<char> decided(candidates_.size(), 0);
    for (std::size_t t = candidates_.size(); t-- > 0;) {
      if (decided[t] != 0) continue;
      const int dst = tensor_of(context_.tasks.tasks[t].bound, "dst");
      follow(dst, cheapest(dst), selections, decided);
    }
    return selections;
  }

 private:
  /// The tensor whose memory an alias shares, and whether there was one.
  int root(int tensor) const {
    while (context_.tasks.tensors[static_cast<std::size_t>(tensor)].alias_of >= 0) {
      tensor = context_.tasks.tensors[static_cast<std::size_t>(tensor)].alias_of;
    }
    return tensor;
  }

  /// Cost of using `state`, of the tensor at the root of `tensor`'s aliases, where `demand` is made
  /// of `tensor`.
  double fit_us(int tensor, const State& state, const Demand& demand) const {
    if (demand.kind == Demand::Kind::direct) {
      const auto seen = at_root(tensor, demand.arrangement);
      if (seen && satisfies(state.arrangement, *seen)) return 0.0;
      if (seen) return repack_cost_us(state.arrangement, *seen, context_);
    }
    double cost = 0.0;
    if (root(tensor) != tensor) {
      // Only row-major memory can be named by both shapes.
      const TaskTensor& source = context_.tasks.tensors[static_cast<std::size_t>(root(tensor))];
      const Arrangement dense = row_major_arrangement(source.dtype, source.shape);
      if (!satisfies(state.arrangement, dense)) {
        cost += repack_cost_us(state.arrangement, dense, context_);
      }
    }
    if (demand.kind == Demand::Kind::any) return cost;
    return cost + repack_cost_us(state.arrangement, demand.arrangement, context_);
  }

  /// The demand in the terms of the tensor at the root of `tensor`'s aliases, if it has such terms.
  std::optional<Arrangement> at_root(int tensor, const Arrangement& demanded) const {
    std::optional<Arrangement> seen = demanded;
    while (seen) {
      const int next = context_.tasks.tensors[static_cast<std::size_t>(tensor)].alias_of;
      if (next < 0) break;
      seen = seen_from_source(*seen, context_.tasks.tensors[static_cast<std::size_t>(next)].shape);
      tensor = next;
    }
    return seen;
  }

  /// Adds the cheapest way to meet the demand to `state`.
  void add_source(int tensor, const Demand& demand, State& state) const {
    const int source = root(tensor);
    const auto& options = states_[static_cast<std::size_t>(source)];
    if (options.empty()) return;  // a constant: packed once, when the plan is loaded
    double best = std::numeric_limits<double>::infinity();
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < options.size(); ++i) {
      const double cost = options[i].cost_us + fit_us(tensor, options[i], demand);
      if (cost < best) {
        best = cost;
        chosen = i;
      }
    }
    state.cost_us += best;
    state.sources.emplace_back(source, chosen);
  }

  void visit(std::size_t t) {
    const int dst = tensor_of(context_.tasks.tasks[t].bound, "dst");
    auto& states = states_[static_cast<std::size_t>(dst)];
    for (std::size_t c = 0; c < candidates_[t].candidates.size(); ++c) {
      const Candidate& candidate = candidates_[t].candidates[c];
      State state;
      state.candidate = c;
      state.cost_us = candidate.estimated_us;
      for (const auto& kernel : candidate.kernels) {
        for (const auto& [role, binding] : kernel.bound.operands) {
          if (role == "dst" || binding.tensor >= kFirstTemporary) continue;
          add_source(binding.tensor, kernel.demands.at(role), state);
        }
        for (const auto& side : kernel.bound.sides) {
          if (side.tensor < kFirstTemporary) add_source(side.tensor, Demand{}, state);
        }
      }
      for (const auto& arrangement : outputs_of(candidate, t)) {
        state.arrangement = arrangement;
        keep(states, state);
      }
    }
  }

  static void keep(std::vector<State>& states, const State& state) {
    for (auto& known : states) {
      const bool same = same_memory(known.arrangement, state.arrangement) &&
                        known.arrangement.rim == state.arrangement.rim;
      if (!same) continue;
      if (state.cost_us < known.cost_us) known = state;
      return;
    }
    states.push_back(state);
  }

 public:
  /// The arrangements in which the candidate can leave the task's result.
  std::vector<Arrangement> outputs_of(const Candidate& candidate, std::size_t t) const {
    const KernelChoice& last = candidate.kernels.back();
    const Demand& demand = last.demands.at("dst");
    if (demand.kind == Demand::Kind::direct) return {demand.arrangement};
    const int dst = tensor_of(context_.tasks.tasks[t].bound, "dst");
    const TaskTensor& facts = context_.tasks.tensors[static_cast<std::size_t>(dst)];
    std::vector<Arrangement> outputs{row_major_arrangement(facts.dtype, facts.shape)};
    // A producer with generated accessors writes the format that a consumer asks for.
    for (const auto& list : candidates_) {
      for (const auto& reader : list.candidates) add_demands(reader, dst, outputs);
    }
    for (auto& output : outputs) output.rim = last.entry->operands.at("dst").rim;
    return outputs;
  }

 private:
  void add_demands(const Candidate& reader, int tensor, std::vector<Arrangement>& outputs) const {
    for (const auto& kernel : reader.kernels) {
      for (const auto& [role, binding] : kernel.bound.operands) {
        if (role == "dst" || binding.tensor >= kFirstTemporary) continue;
        if (root(binding.tensor) != tensor || outputs.size() >= kMostFormats) continue;
        const Demand& demand = kernel.demands.at(role);
        if (demand.kind != Demand::Kind::direct) continue;
        const auto wish = at_root(binding.tensor, demand.arrangement);
        if (!wish || wish->memory != MemoryKind::buffer) continue;
        const bool known =
            std::any_of(outputs.begin(), outputs.end(),
                        [&](const Arrangement& output) { return same_memory(output, *wish); });
        if (!known) outputs.push_back(*wish);
      }
    }
  }

  /// The cheapest state of a tensor that nothing decided yet: outputs must end up row-major.
  std::size_t cheapest(int tensor) const {
    const auto& states = states_[static_cast<std::size_t>(tensor)];
    const TaskTensor& facts = context_.tasks.tensors[static_cast<std::size_t>(tensor)];
    Demand demand;
    if (facts.is_output) {
      demand.kind = Demand::Kind::direct;
      demand.arrangement = row_major_arrangement(facts.dtype, facts.shape);
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < states.size(); ++i) {
      if (states[i].cost_us + fit_us(tensor, states[i], demand) <
          states[best].cost_us + fit_us(tensor, states[best], demand)) {
        best = i;
      }
    }
    return best;
  }

  void follow(int tensor, std::size_t index, std::vector<Selection>& selections,
              std::vector<char>& decided) const {
    const int task = writer_[static_cast<std::size_t>(tensor)];
    if (task < 0 || decided[static_cast<std::size_t>(task)] != 0) return;
    decided[static_cast<std::size_t>(task)] = 1;
    const State& state = states_[static_cast<std::size_t>(tensor)][index];
    selections[static_cast<std::size_t>(task)] = {state.candidate, state.arrangement};
    for (const auto& [source, chosen] : state.sources) follow(source, chosen, selections, decided);
  }

  const std::vector<CandidateList>& candidates_;
  const PlanContext& context_;
  std::vector<std::vector<State>> states_;
  std::vector<int> writer_;
};

/// True when some tensor is read by several tasks, so that the paths of the search were not apart.
bool has_joins(const TaskList& tasks) {
  std::vector<int> readers(tasks.tensors.size(), 0);
  for (const auto& task : tasks.tasks) {
    for (const auto& [role, binding] : task.bound.operands) {
      const auto id = static_cast<std::size_t>(binding.tensor);
      const bool activation = tasks.tensors[id].kind == TaskTensor::Kind::activation;
      if (role != "dst" && activation && ++readers[id] > 1) return true;
    }
    for (const auto& side : task.bound.sides) {
      const auto id = static_cast<std::size_t>(side.tensor);
      if (tasks.tensors[id].kind == TaskTensor::Kind::activation) return true;
    }
  }
  return false;
}

/// Tries every other choice for each task in turn while the whole gets cheaper.
void improve(std::vector<Selection>& selections, const Chooser& chooser,
             const std::vector<CandidateList>& candidates, const PlanContext& context) {
  double best = make_schedule(candidates, selections, context).estimated_us;
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (std::size_t t = 0; t < selections.size(); ++t) {
      for (std::size_t c = 0; c < candidates[t].candidates.size(); ++c) {
        for (const auto& output : chooser.outputs_of(candidates[t].candidates[c], t)) {
          const Selection before = selections[t];
          selections[t] = {c, output};
          const double cost = make_schedule(candidates, selections, context).estimated_us;
          if (cost < best) {
            best = cost;
            changed = true;
          } else {
            selections[t] = before;
          }
        }
      }
    }
    if (!changed) return;
  }
}

}  // namespace

std::vector<Selection> choose(const std::vector<CandidateList>& candidates,
                              const PlanContext& context) {
  Chooser chooser(candidates, context);
  std::vector<Selection> selections = chooser.run();
  if (has_joins(context.tasks)) improve(selections, chooser, candidates, context);
  return selections;
}

}  // namespace morton
