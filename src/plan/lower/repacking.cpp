// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/repacking.hpp"

#include <memory>
#include <utility>

#include "plan/search/elementary.hpp"
#include "plan/search/repack.hpp"

namespace morton::plan {

ValueId Repacking::copy(ValueId from, TensorId tensor, const Arrangement& to) {
  return append(from, pack_problem(tensor, tensor, View{}, to, Problem{}, Demand::Kind::direct),
                to);
}

ValueId Repacking::pack(ValueId from, const Binding& operand, const Arrangement& to,
                        const Problem& problem) {
  return append(
      from,
      pack_problem(operand.tensor, operand.tensor, operand.view, to, problem, Demand::Kind::packed),
      to);
}

void Repacking::renew(TensorId state, ValueId value, TensorId tensor) {
  const ValueId home = values_.of(state).front();
  const Arrangement row_major = values_.row_major(tensor);
  ScheduledKernel kernel;
  const auto copy = std::make_shared<const BoundProblem>(
      pack_problem(tensor, state, View{}, row_major, Problem{}, Demand::Kind::direct));
  kernel.choice =
      required(choose_pack(copy, "update " + values_.at(home).name, context_, values_.temporaries(),
                           {values_.at(value).arrangement, values_.at(home).arrangement}));
  kernel.choice.estimated_us = repack_cost_us(row_major, row_major, context_);
  kernel.choice.building_us = 0.0;
  append(std::move(kernel), value, home);
}

ValueId Repacking::append(ValueId from, BoundProblem pack, const Arrangement& to) {
  const Value source = values_.at(from);
  pack.problem.types["src"] = source.arrangement.dtype;
  Arrangement arrangement = to;
  arrangement.padding = PaddingContents::zero;
  ScheduledKernel kernel;
  kernel.choice = required(choose_pack(std::make_shared<const BoundProblem>(std::move(pack)),
                                       "pack " + source.name, context_, values_.temporaries(),
                                       {source.arrangement, arrangement}));
  kernel.once = source.kind == Value::Kind::derived;
  const ValueId copy =
      values_.add(source.name + ":packed",
                  kernel.once ? Value::Kind::derived : Value::Kind::workspace, arrangement);
  kernel.choice.estimated_us =
      kernel.once ? 0.0 : repack_cost_us(source.arrangement, arrangement, context_);
  kernel.choice.building_us = 0.0;
  append(std::move(kernel), from, copy);
  return copy;
}

void Repacking::append(ScheduledKernel kernel, ValueId from, ValueId to) {
  kernel.values["src"] = from;
  kernel.values["dst"] = to;
  schedule_.estimated_us += kernel.choice.estimated_us;
  schedule_.kernels.push_back(std::move(kernel));
}

}  // namespace morton::plan
