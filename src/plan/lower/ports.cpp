// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/ports.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::plan {

void Ports::add_inputs() {
  for (const auto& [name, tensor] : tasks_.inputs) {
    schedule_.inputs.push_back({name, add(tensor, name, Value::Kind::input)});
  }
}

void Ports::add_states() {
  for (const TensorId tensor : tasks_.tensors.ids()) {
    const TaskTensor& facts = tasks_.tensors[tensor];
    if (facts.kind != TaskTensor::Kind::state) continue;
    const ValueId value = add(tensor, facts.name, Value::Kind::state);
    values_.at(value).data = facts.data;
    schedule_.states.push_back({facts.name, value});
  }
}

void Ports::add_outputs(OperandValues& operands, const StateUpdates& updates) {
  for (const auto& [name, tensor] : tasks_.outputs) {
    const ValueId value = operands.direct(tensor, values_.row_major(tensor));
    require_current(name, value, updates);
    make_output(name, value);
    schedule_.outputs.push_back({name, value});
  }
}

ValueId Ports::add(TensorId tensor, const std::string& name, Value::Kind kind) {
  const ValueId value = values_.add(name, kind, values_.row_major(tensor));
  values_.of(tensor).push_back(value);
  return value;
}

/// Throws where the output would be a state that the run renews.
void Ports::require_current(const std::string& name, ValueId value, const StateUpdates& updates) {
  const ValueId root = memory_root(values_.all(), value);
  const bool updated =
      std::any_of(tasks_.updates.begin(), tasks_.updates.end(),
                  [&](const auto& update) { return values_.of(update.first).front() == root; });
  if (updated && !updates.renews(value)) {
    throw UnsupportedError("plan: output '" + name + "' is the state '" + values_.at(root).name +
                           "' as it was before the run, which renews it");
  }
}

/// Makes the value an output, and the memory that it shares too, unless an input or a state gives
/// that.
void Ports::make_output(const std::string& name, ValueId value) {
  Value& chosen = values_.at(value);
  if (chosen.kind != Value::Kind::activation && chosen.kind != Value::Kind::workspace) return;
  chosen.kind = Value::Kind::output;
  chosen.name = name;
  for (ValueId owner = chosen.memory_of; owner; owner = values_.at(owner).memory_of) {
    Value& shared = values_.at(owner);
    const bool given = shared.kind == Value::Kind::input || shared.kind == Value::Kind::state;
    if (!given) shared.kind = Value::Kind::output;
  }
}

}  // namespace morton::plan
