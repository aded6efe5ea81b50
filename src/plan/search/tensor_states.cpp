// SPDX-License-Identifier: Apache-2.0
#include "plan/search/tensor_states.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "plan/search/formats.hpp"
#include "plan/search/repack.hpp"

namespace morton::plan {

TensorStates::TensorStates(const PlanContext& context)
    : context_(context),
      states_(context.tasks.tensors.size()),
      met_(context.tasks.tensors.size()),
      readers_(context.tasks.tensors.size(), 0) {
  count_readers();
  // What the caller or the last run left lies row-major; another format costs a copy each run.
  for (const TensorId id : states_.ids()) {
    const TaskTensor& tensor = context.tasks.tensors[id];
    if (tensor.kind != TaskTensor::Kind::input && tensor.kind != TaskTensor::Kind::state) continue;
    TensorState given;
    given.arrangement = row_major_arrangement(tensor.dtype, tensor.shape);
    states_[id].push_back(std::move(given));
  }
}

void TensorStates::count_readers() {
  for (const Task& task : context_.tasks.tasks) {
    std::set<TensorId> roots;
    for (const auto& [role, binding] : task.bound.operands) {
      if (role != "dst") roots.insert(root_of(context_.tasks, binding.tensor));
    }
    for (const auto& side : task.bound.sides) roots.insert(root_of(context_.tasks, side.tensor));
    for (const TensorId root : roots) ++readers_[root];
  }
}

void TensorStates::keep(TensorId tensor, const TensorState& way, const Arrangement& arrangement,
                        PaddingContents padding) {
  auto& states = states_[tensor];
  auto same = std::ranges::find_if(states, [&](const TensorState& state) {
    return state.format == way.format && state.arrangement.padding == padding;
  });
  if (same != states.end() && !(way.cost_us < same->cost_us)) return;
  if (same == states.end()) same = states.emplace(states.end());
  *same = way;
  same->arrangement = arrangement;
  same->arrangement.padding = padding;
}

double TensorStates::fit_us(TensorId tensor, const TensorState& state, const Demand& demand) const {
  const TensorId root = root_of(context_.tasks, tensor);
  const bool is_alias = root != tensor;
  if (demand.kind == Demand::Kind::direct) {
    std::optional<Arrangement> through;
    if (is_alias) through = at_root(context_.tasks, tensor, demand.arrangement);
    const Arrangement* seen = through ? &*through : is_alias ? nullptr : &demand.arrangement;
    if (seen != nullptr && satisfies(state.arrangement, *seen)) return 0.0;
    if (seen != nullptr) return repack_cost_us(state.arrangement, *seen, context_);
  }
  double cost = 0.0;
  if (is_alias) {
    // Only row-major memory can be named by both shapes.
    const TaskTensor& source = context_.tasks.tensors[root];
    const Arrangement dense = row_major_arrangement(source.dtype, source.shape);
    if (!satisfies(state.arrangement, dense)) {
      cost += repack_cost_us(state.arrangement, dense, context_);
    }
  }
  if (demand.kind == Demand::Kind::any) {
    cost += side_cost_us(state.arrangement, demand, context_);
    return is_alias ? cost : cost + scattered_us(state.arrangement, demand, context_);
  }
  return cost + repack_cost_us(state.arrangement, demand.arrangement, context_);
}

const Met& TensorStates::meet(TensorId tensor, const Demand& demand) {
  auto& known = met_[tensor];
  const auto same = std::ranges::find_if(known, [&](const Met& met) {
    return met.demand.kind == demand.kind && met.demand.walk == demand.walk &&
           identical(met.demand.arrangement, demand.arrangement);
  });
  if (same != known.end()) return *same;
  known.push_back(cheapest_to_meet(tensor, demand));
  return known.back();
}

Met TensorStates::cheapest_to_meet(TensorId tensor, const Demand& demand) const {
  Met met{demand, std::numeric_limits<double>::infinity(), 0};
  const TensorId root = root_of(context_.tasks, tensor);
  const auto& options = of(root);
  if (options.empty()) return met;
  const double share = 1.0 / std::max(readers_[root], 1);
  // No copy takes less than no time: what costs more than this before it is not looked at.
  const auto first = std::ranges::min_element(options, {}, &TensorState::cost_us);
  const double most_us = share * first->cost_us + fit_us(tensor, *first, demand);
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (share * options[i].cost_us > most_us) continue;
    const double cost = share * options[i].cost_us + fit_us(tensor, options[i], demand);
    if (cost < met.cost_us) {
      met.cost_us = cost;
      met.state = i;
    }
  }
  return met;
}

std::size_t TensorStates::cheapest(TensorId tensor) const {
  const TaskTensor& facts = context_.tasks.tensors[tensor];
  Demand demand;
  if (facts.is_output) {
    demand.kind = Demand::Kind::direct;
    demand.arrangement = row_major_arrangement(facts.dtype, facts.shape);
  }
  const auto& states = of(tensor);
  std::size_t best = 0;
  for (std::size_t i = 1; i < states.size(); ++i) {
    if (states[i].cost_us + fit_us(tensor, states[i], demand) <
        states[best].cost_us + fit_us(tensor, states[best], demand)) {
      best = i;
    }
  }
  return best;
}

}  // namespace morton::plan
