// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"
#include "plan/lower/state_updates.hpp"

namespace morton::plan {

/// What goes in and out of a schedule: its inputs, outputs and states, all row-major.
class Ports {
 public:
  Ports(Schedule& schedule, StoredValues& values, const TaskList& tasks)
      : schedule_(schedule), values_(values), tasks_(tasks) {}

  void add_inputs();
  void add_states();
  /// When all kernels are there and the states are updated.
  void add_outputs(OperandValues& operands, const StateUpdates& updates);

 private:
  ValueId add(TensorId tensor, const std::string& name, Value::Kind kind);
  void require_current(const std::string& name, ValueId value, const StateUpdates& updates);
  void make_output(const std::string& name, ValueId value);

  Schedule& schedule_;
  StoredValues& values_;
  const TaskList& tasks_;
};

}  // namespace morton::plan
