// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/ports.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::plan {

void Ports::add_inputs() {
  for (const auto& [name, tensor] : tasks_.inputs) {
    schedule_.inputs.emplace_back(name, add(tensor, name, Value::Kind::input));
  }
}

void Ports::add_states() {
  for (std::size_t t = 0; t < tasks_.tensors.size(); ++t) {
    const TaskTensor& facts = tasks_.tensors[t];
    if (facts.kind != TaskTensor::Kind::state) continue;
    const int value = add(static_cast<int>(t), facts.name, Value::Kind::state);
    values_.at(value).data = facts.data;
    schedule_.states.emplace_back(facts.name, value);
  }
}

void Ports::add_outputs(OperandValues& operands, const StateUpdates& updates) {
  for (const auto& [name, tensor] : tasks_.outputs) {
    const int value = operands.direct(tensor, values_.row_major(tensor));
    require_current(name, value, updates);
    make_output(name, value);
    schedule_.outputs.emplace_back(name, value);
  }
}

int Ports::add(int tensor, const std::string& name, Value::Kind kind) {
  const int value = values_.add(name, kind, values_.row_major(tensor));
  values_.of(tensor).push_back(value);
  return value;
}

/// Throws where the output would be a state that the run renews.
void Ports::require_current(const std::string& name, int value, const StateUpdates& updates) {
  const int root = memory_root(values_.all(), value);
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
void Ports::make_output(const std::string& name, int value) {
  Value& chosen = values_.at(value);
  if (chosen.kind != Value::Kind::activation && chosen.kind != Value::Kind::workspace) return;
  chosen.kind = Value::Kind::output;
  chosen.name = name;
  int shared_root = chosen.memory_of;
  while (shared_root >= 0) {
    Value& shared = values_.at(shared_root);
    const bool given = shared.kind == Value::Kind::input || shared.kind == Value::Kind::state;
    if (!given) shared.kind = Value::Kind::output;
    shared_root = shared.memory_of;
  }
}

}  // namespace morton::plan
