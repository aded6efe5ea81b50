// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "plan/lower/stored_values.hpp"

namespace morton::plan {

/// Appends the steps to a schedule that copy values from one arrangement to another.
class Repacking {
 public:
  Repacking(Schedule& schedule, StoredValues& values, const PlanContext& context)
      : schedule_(schedule), values_(values), context_(context) {}

  /// The tensor of the value `from`, copied into this arrangement.
  ValueId copy(ValueId from, TensorId tensor, const Arrangement& to);
  /// The same through the operand's view in `problem`.
  ValueId pack(ValueId from, const Binding& operand, const Arrangement& to, const Problem& problem);
  /// Copies the value of `tensor` into the memory of `state`, both row-major.
  void renew(TensorId state, ValueId value, TensorId tensor);

 private:
  ValueId append(ValueId from, BoundProblem pack, const Arrangement& to);
  void append(ScheduledKernel kernel, ValueId from, ValueId to);

  Schedule& schedule_;
  StoredValues& values_;
  const PlanContext& context_;
};

}  // namespace morton::plan
