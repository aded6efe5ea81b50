// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/stored_values.hpp"

#include "plan/search/settle.hpp"

namespace morton::plan {

StoredValues::StoredValues(const TaskList& tasks, Values& values)
    : tasks_(tasks), values_(values), of_tensors_(tasks.tensors.size()) {}

void StoredValues::enter(const Candidate& candidate) {
  of_temporaries_.assign(candidate.temporaries.size(), {});
  candidate_ = &candidate;
}

const Temporaries& StoredValues::temporaries() const {
  return candidate_ == nullptr ? no_temporaries_ : candidate_->temporaries;
}

const TaskTensor& StoredValues::tensor(TensorId id) const { return tasks_.tensors[id]; }

Arrangement StoredValues::row_major(TensorId tensor) const {
  const TaskTensor& facts = this->tensor(tensor);
  return row_major_arrangement(facts.dtype, facts.shape);
}

bool StoredValues::is_constant(TensorId tensor) const {
  return !is_temporary(tensor) && this->tensor(tensor).kind == TaskTensor::Kind::constant;
}

std::vector<ValueId>& StoredValues::of(TensorId tensor) {
  return is_temporary(tensor) ? of_temporaries_[temporary_index(tensor)] : of_tensors_[tensor];
}

ValueId StoredValues::add(const std::string& name, Value::Kind kind,
                          const Arrangement& arrangement) {
  Value value;
  value.name = name;
  value.kind = kind;
  value.arrangement = arrangement;
  return values_.add(std::move(value));
}

ValueId StoredValues::add_temporary(TensorId tensor) {
  const auto index = temporary_index(tensor);
  const TaskTensor& facts = candidate_->temporaries[index];
  const bool derived = facts.kind == TaskTensor::Kind::derived;
  const ValueId value = add(facts.name, derived ? Value::Kind::derived : Value::Kind::workspace,
                            arrangement_of_temporary(*candidate_, index));
  of(tensor).push_back(value);
  return value;
}

ValueId StoredValues::add_constant(TensorId tensor, const Arrangement& arrangement) {
  const TaskTensor& facts = this->tensor(tensor);
  Arrangement zero_padding = arrangement;
  zero_padding.padding = PaddingContents::zero;
  const ValueId value = add(facts.name, Value::Kind::constant, zero_padding);
  at(value).data = facts.data;
  return value;
}

ValueId StoredValues::reshaped_constant(TensorId tensor, const Shape& shape) {
  const auto [known, added] = reshaped_.try_emplace({tensor, shape});
  if (added) {
    const TaskTensor& facts = this->tensor(tensor);
    known->second = add_constant(tensor, row_major_arrangement(facts.dtype, shape));
    at(known->second).data = facts.data.reshaped(shape);
  }
  return known->second;
}

ValueId StoredValues::reshaped(ValueId value, const Shape& shape) {
  return shared(value, row_major_arrangement(at(value).arrangement.dtype, shape));
}

ValueId StoredValues::shared(ValueId value, const Arrangement& arrangement) {
  const Value original = at(value);
  const ValueId result = add(original.name, original.kind, arrangement);
  if (original.kind == Value::Kind::constant) {
    at(result).data = original.data.reshaped(arrangement.tensor_shape);
  } else {
    at(result).memory_of = value;
  }
  return result;
}

}  // namespace morton::plan
