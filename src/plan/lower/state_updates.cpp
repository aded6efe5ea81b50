// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/state_updates.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace morton::plan {

void StateUpdates::update(TensorId state, TensorId tensor) {
  const ValueId home = values_.of(state).front();
  const ValueId value = operands_.direct(tensor, values_.row_major(tensor));
  const Value& source = values_.at(memory_root(values_.all(), value));
  if (source.kind == Value::Kind::state) {
    throw UnsupportedError("plan: state '" + values_.at(home).name +
                           "' takes the value of the state '" + source.name +
                           "', which may have been renewed by then");
  }
  if (writes_in_place(home, value)) {
    renewed_.insert(value);
    values_.at(value).memory_of = home;
    return;
  }
  repacking_.renew(state, value, tensor);
}

/// True when an elementwise step computes `value`, reads the state at most at the element that it
/// writes, and nothing reads the state afterwards.
bool StateUpdates::writes_in_place(ValueId home, ValueId value) const {
  const Value& written_value = values_.at(value);
  if (written_value.kind != Value::Kind::activation || written_value.memory_of) return false;
  bool written = false;
  for (const auto& kernel : schedule_.kernels) {
    if (written && reads(kernel, home)) return false;
    if (kernel.values.at("dst") != value) continue;
    written = true;
    if (kernel.choice.bound->problem.family != families::elementwise) return false;
    if (reads_elsewhere(kernel, home, value)) return false;
  }
  return written;
}

/// Whether the elementwise step that computes `value` reads the state at other elements than the
/// one that it writes.
bool StateUpdates::reads_elsewhere(const ScheduledKernel& kernel, ValueId home,
                                   ValueId value) const {
  const BoundProblem& bound = *kernel.choice.bound;
  const View& view = bound.operands.at("src0").view;
  const View& dst = bound.operands.at("dst").view;
  if (names(kernel.values.at("src0"), home) && view.print() != dst.print()) return true;
  const Shape& shape = values_.at(value).arrangement.tensor_shape;
  for (std::size_t i = 0; i < kernel.sides.size(); ++i) {
    if (names(kernel.sides[i], home) && bound.sides[i].shape != shape) return true;
  }
  return false;
}

/// Whether `value` is the memory of `home`, under whatever name.
bool StateUpdates::names(ValueId value, ValueId home) const {
  return memory_root(values_.all(), value) == home;
}

bool StateUpdates::reads(const ScheduledKernel& kernel, ValueId home) const {
  const bool operand = std::any_of(
      kernel.values.begin(), kernel.values.end(),
      [&](const auto& bound) { return bound.first != "dst" && names(bound.second, home); });
  return operand || std::any_of(kernel.sides.begin(), kernel.sides.end(),
                                [&](ValueId side) { return names(side, home); });
}

}  // namespace morton::plan
