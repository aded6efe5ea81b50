// SPDX-License-Identifier: Apache-2.0
#include "plan/search/choose.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "plan/search/decided.hpp"
#include "plan/search/formats.hpp"
#include "plan/search/improve.hpp"
#include "plan/search/repack.hpp"

namespace morton::plan {
namespace {

/// A way to have a tensor: in this arrangement, at this cost of everything before it.
struct State {
  Arrangement arrangement;
  std::size_t format = 0;  ///< its number among the tensor's (Formats)
  double cost_us = 0.0;
  std::size_t candidate = 0;
  std::vector<std::pair<int, std::size_t>> sources;  ///< tensor read, and its state
};

/// The cheapest way to meet a demand: the cost of all before it and of a copy, and which state.
struct Met {
  Demand demand;
  double cost_us = 0.0;
  std::size_t state = 0;
};

/// Viterbi over the tasks in order. A tensor that several tasks read is counted in each of its
/// paths, so the result is exact for chains and a start for `improve` elsewhere.
class Chooser {
 public:
  Chooser(const CandidateLists& candidates, const std::vector<Formats>& wishes,
          const PlanContext& context)
      : candidates_(candidates),
        wishes_(wishes),
        context_(context),
        states_(context.tasks.tensors.size()),
        met_(context.tasks.tensors.size()),
        writers_(context.tasks.tensors.size()),
        parts_(candidates.size()) {
    for (std::size_t t = 0; t < candidates.size(); ++t) {
      writers_[static_cast<std::size_t>(tensor_of(context.tasks.tasks[t].bound, "dst"))].push_back(
          t);
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
  /// Cost of using `state`, of the tensor at the root of `tensor`'s aliases, where `demand` is made
  /// of `tensor`.
  double fit_us(int tensor, const State& state, const Demand& demand) const {
    if (demand.kind == Demand::Kind::direct) {
      const bool is_alias = context_.tasks.tensors[static_cast<std::size_t>(tensor)].alias_of >= 0;
      std::optional<Arrangement> through;
      if (is_alias) through = at_root(context_.tasks, tensor, demand.arrangement);
      const Arrangement* seen = through ? &*through : is_alias ? nullptr : &demand.arrangement;
      if (seen != nullptr && satisfies(state.arrangement, *seen)) return 0.0;
      if (seen != nullptr) return repack_cost_us(state.arrangement, *seen, context_);
    }
    double cost = 0.0;
    const int root = root_of(context_.tasks, tensor);
    if (root != tensor) {
      // Only row-major memory can be named by both shapes.
      const TaskTensor& source = context_.tasks.tensors[static_cast<std::size_t>(root)];
      const Arrangement dense = row_major_arrangement(source.dtype, source.shape);
      if (!satisfies(state.arrangement, dense)) {
        cost += repack_cost_us(state.arrangement, dense, context_);
      }
    }
    if (demand.kind == Demand::Kind::any) {
      cost += side_cost_us(state.arrangement, demand, context_);
      return root == tensor ? cost + scattered_us(state.arrangement, demand, context_) : cost;
    }
    return cost + repack_cost_us(state.arrangement, demand.arrangement, context_);
  }

  /// The cheapest way to meet the demand from the states of `source`, the root of `tensor`. Many
  /// candidates demand the same of a tensor.
  const Met& meet(int tensor, int source, const Demand& demand) {
    auto& known = met_[static_cast<std::size_t>(tensor)];
    for (const Met& met : known) {
      if (met.demand.kind == demand.kind && met.demand.walk == demand.walk &&
          identical(met.demand.arrangement, demand.arrangement)) {
        return met;
      }
    }
    Met met{demand, std::numeric_limits<double>::infinity(), 0};
    const auto& options = states_[static_cast<std::size_t>(source)];
    for (std::size_t i = 0; i < options.size(); ++i) {
      const double cost = options[i].cost_us + fit_us(tensor, options[i], demand);
      if (cost < met.cost_us) {
        met.cost_us = cost;
        met.state = i;
      }
    }
    known.push_back(std::move(met));
    return known.back();
  }

  /// Whether a copy that the candidate has already serves this demand too; remembers it.
  bool is_met_again(int tensor, const Demand& demand) {
    if (demand.kind == Demand::Kind::packed) return false;
    const bool known = std::ranges::any_of(read_, [&](const auto& read) {
      return read.first == tensor && read.second.kind == demand.kind &&
             identical(read.second.arrangement, demand.arrangement);
    });
    if (!known) read_.emplace_back(tensor, demand);
    return known;
  }

  /// Adds the cheapest way to meet the demand to `state`.
  void add_source(int tensor, const Demand& demand, State& state) {
    const int source = root_of(context_.tasks, tensor);
    // A constant has no states: it is packed once, when the plan is loaded.
    const auto& options = states_[static_cast<std::size_t>(source)];
    if (options.empty()) return;
    const auto known =
        std::ranges::find(state.sources, source, &std::pair<int, std::size_t>::first);
    if (known != state.sources.end()) {
      // Slabs read a tensor again and again: all before it, and a copy that stays, cost once.
      if (!is_met_again(tensor, demand))
        state.cost_us += fit_us(tensor, options[known->second], demand);
      return;
    }
    is_met_again(tensor, demand);
    const Met& met = meet(tensor, source, demand);
    state.cost_us += met.cost_us;
    state.sources.emplace_back(source, met.state);
  }

  void visit(std::size_t t) {
    const auto dst = static_cast<std::size_t>(tensor_of(context_.tasks.tasks[t].bound, "dst"));
    Formats formats = wishes_[dst];
    for (std::size_t c = 0; c < candidates_[t]->candidates.size(); ++c) {
      const Candidate& candidate = candidates_[t]->candidates[c];
      State state;
      state.candidate = c;
      state.cost_us = candidate.estimated_us;
      read_.clear();
      for (const auto& kernel : candidate.kernels) {
        for (const auto& [role, binding] : kernel.bound->operands) {
          if (role == "dst" || binding.tensor >= kFirstTemporary) continue;
          add_source(candidates_[t].tensor(binding.tensor), kernel.demands.at(role), state);
        }
        for (const auto& side : kernel.bound->sides) {
          if (side.tensor >= kFirstTemporary) continue;
          const int tensor = candidates_[t].tensor(side.tensor);
          const Shape& shape = context_.tasks.tensors[static_cast<std::size_t>(tensor)].shape;
          const Demand& result = kernel.demands.at("dst");
          add_source(tensor, side_demand(result, side.shape, shape), state);
        }
      }
      // As outputs_of, of which few are kept.
      const Demand& result = candidate.kernels.back().demands.at("dst");
      if (result.kind == Demand::Kind::direct) {
        state.format = formats.number_of(result.arrangement);
        keep(t, state, result.arrangement, result.arrangement.rim);
        continue;
      }
      const Rim rim = candidate.kernels.back().entry->operands.at("dst").rim;
      for (const Arrangement& wish : wishes_[dst].all()) {
        state.format = formats.number_of(wish);
        keep(t, state, wish, rim);
      }
    }
    if (is_part(dst) && t == writers_[dst].back()) join_parts(dst);
  }

  /// Whether several tasks write the tensor, each its part.
  bool is_part(std::size_t tensor) const { return writers_[tensor].size() > 1; }

  /// Keeps the way to have the result of a task in this arrangement with this rim, if it is the
  /// cheapest to have it so.
  void keep(std::size_t t, const State& way, const Arrangement& arrangement, Rim rim) {
    const auto dst = static_cast<std::size_t>(tensor_of(context_.tasks.tasks[t].bound, "dst"));
    State* known = nullptr;
    if (is_part(dst)) {
      known = parts_[t] ? &*parts_[t] : nullptr;
    } else {
      const auto same = std::ranges::find_if(states_[dst], [&](const State& state) {
        return state.format == way.format && state.arrangement.rim == rim;
      });
      known = same == states_[dst].end() ? nullptr : &*same;
    }
    if (known != nullptr && !(way.cost_us < known->cost_us)) return;
    if (known == nullptr) {
      known = is_part(dst) ? &parts_[t].emplace() : &states_[dst].emplace_back();
    }
    *known = way;
    known->arrangement = arrangement;
    known->arrangement.rim = rim;
  }

  /// The one way to have a tensor that is written in parts: each the cheapest way.
  void join_parts(std::size_t tensor) {
    State whole = *parts_[writers_[tensor].front()];
    whole.cost_us = 0.0;
    whole.sources.clear();
    for (const std::size_t t : writers_[tensor]) {
      whole.cost_us += parts_[t]->cost_us;
      whole.sources.insert(whole.sources.end(), parts_[t]->sources.begin(),
                           parts_[t]->sources.end());
    }
    states_[tensor].push_back(std::move(whole));
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
    const auto& writers = writers_[static_cast<std::size_t>(tensor)];
    if (writers.empty() || decided[writers.front()] != 0) return;
    const State& state = states_[static_cast<std::size_t>(tensor)][index];
    for (const std::size_t task : writers) {
      decided[task] = 1;
      const State& own = writers.size() > 1 ? *parts_[task] : state;
      selections[task] = {own.candidate, own.arrangement};
    }
    for (const auto& [source, chosen] : state.sources) follow(source, chosen, selections, decided);
  }

  const CandidateLists& candidates_;
  const std::vector<Formats>& wishes_;
  const PlanContext& context_;
  std::vector<std::vector<State>> states_;
  std::vector<std::vector<Met>> met_;              ///< by tensor
  std::vector<std::vector<std::size_t>> writers_;  ///< by tensor: the tasks that write it
  std::vector<std::optional<State>> parts_;        ///< by task, of those that write a part
  std::vector<std::pair<int, Demand>> read_;       ///< by the candidate that is visited
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

}  // namespace

std::vector<Selection> choose(const CandidateLists& candidates, const PlanContext& context) {
  std::vector<Formats> wishes = wished_formats(candidates, context.tasks);
  keep_decided_formats(wishes, context);
  std::vector<Selection> selections = Chooser(candidates, wishes, context).run();
  if (has_joins(context.tasks)) improve(selections, candidates, wishes, context);
  return selections;
}

}  // namespace morton::plan
