// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/operand_values.hpp"

#include "base/error.hpp"
#include "plan/tasks/alias.hpp"

namespace morton::plan {

ValueId OperandValues::operand(const KernelChoice& choice, const std::string& role) {
  const Binding& binding = choice.bound->operands.at(role);
  const Demand& demand = choice.demands.at(role);
  if (demand.kind == Demand::Kind::any) return any(binding.tensor);
  if (demand.kind == Demand::Kind::packed) {
    return packed(binding, demand.arrangement, choice.bound->problem);
  }
  return direct(binding.tensor, demand.arrangement);
}

ValueId OperandValues::side(const Side& side) {
  if (is_temporary(side.tensor)) return any(side.tensor);
  if (values_.tensor(side.tensor).shape == side.shape) return any(side.tensor);
  if (values_.is_constant(side.tensor)) return values_.reshaped_constant(side.tensor, side.shape);
  // Other extents: the elements are taken row-major.
  return values_.reshaped(direct(side.tensor, values_.row_major(side.tensor)), side.shape);
}

ValueId OperandValues::direct(TensorId tensor, const Arrangement& demanded) {
  for (const ValueId value : values_.of(tensor)) {
    if (satisfies(values_.at(value).arrangement, demanded)) return value;
  }
  if (values_.is_constant(tensor)) return stored(tensor, values_.add_constant(tensor, demanded));
  if (!is_temporary(tensor) && values_.tensor(tensor).alias_of) {
    return alias(tensor, demanded);
  }
  if (values_.of(tensor).empty()) {
    throw InternalError("plan: a tensor is read before it is written");
  }
  return stored(tensor, repacking_.copy(values_.of(tensor).front(), tensor, demanded));
}

ValueId OperandValues::any(TensorId tensor) {
  if (!values_.of(tensor).empty()) return values_.of(tensor).front();
  return direct(tensor, values_.row_major(tensor));
}

ValueId OperandValues::packed(const Binding& binding, const Arrangement& arrangement,
                              const Problem& problem) {
  if (!values_.is_constant(binding.tensor)) {
    return repacking_.pack(any(binding.tensor), binding, arrangement, problem);
  }
  const ValueId value = values_.add_constant(binding.tensor, arrangement);
  values_.at(value).view = binding.view;
  values_.at(value).view_names = environment_of(problem);
  return value;
}

/// A tensor that has the elements of another under a new shape: the other's memory, in an
/// arrangement that both shapes can name, or row-major.
ValueId OperandValues::alias(TensorId tensor, const Arrangement& demanded) {
  const TaskTensor& facts = values_.tensor(tensor);
  if (const auto seen = seen_from_source(demanded, values_.tensor(facts.alias_of).shape)) {
    const ValueId value = direct(facts.alias_of, *seen);
    Arrangement arrangement = demanded;
    arrangement.padding = values_.at(value).arrangement.padding;
    return stored(tensor, values_.shared(value, arrangement));
  }
  const ValueId whole = direct(facts.alias_of, values_.row_major(facts.alias_of));
  const ValueId view = stored(tensor, values_.reshaped(whole, facts.shape));
  if (satisfies(values_.row_major(tensor), demanded)) return view;
  return stored(tensor, repacking_.copy(view, tensor, demanded));
}

/// The value, which from here on stores the tensor.
ValueId OperandValues::stored(TensorId tensor, ValueId value) {
  values_.of(tensor).push_back(value);
  return value;
}

}  // namespace morton::plan
