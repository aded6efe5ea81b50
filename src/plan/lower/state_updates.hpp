// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "base/rooms.hpp"
#include "plan/lower/operand_values.hpp"

namespace morton::plan {

/// Makes states take the values that the run computes for them.
class StateUpdates {
 public:
  StateUpdates(const Schedule& schedule, StoredValues& values, OperandValues& operands,
               Repacking& repacking)
      : schedule_(schedule), values_(values), operands_(operands), repacking_(repacking) {}

  /// Makes the state take the tensor's value: the step that computes it writes the state's memory
  /// where that is safe, else it is copied at the end.
  void update(TensorId state, TensorId tensor);
  /// Whether the value lies in the memory of the state that takes it.
  [[nodiscard]] bool renews(ValueId value) const { return renewed_.contains(value); }

 private:
  [[nodiscard]] bool writes_in_place(ValueId home, ValueId value) const;
  [[nodiscard]] bool reads_elsewhere(const ScheduledKernel& kernel, ValueId home,
                                     ValueId value) const;
  [[nodiscard]] bool names(ValueId value, ValueId home) const;
  [[nodiscard]] bool reads(const ScheduledKernel& kernel, ValueId home) const;

  const Schedule& schedule_;
  StoredValues& values_;
  OperandValues& operands_;
  Repacking& repacking_;
  std::set<ValueId> renewed_;
};

}  // namespace morton::plan
