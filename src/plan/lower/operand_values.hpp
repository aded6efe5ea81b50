// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/rooms.hpp"
#include "plan/lower/repacking.hpp"
#include "plan/lower/stored_values.hpp"

namespace morton::plan {

/// Finds the values that kernels read, and makes those that are missing: constants, other names of
/// a memory, and copies.
class OperandValues {
 public:
  OperandValues(StoredValues& values, Repacking& repacking)
      : values_(values), repacking_(repacking) {}

  /// What the kernel reads as its operand `role`.
  ValueId operand(const KernelChoice& choice, const std::string& role);
  /// What a kernel reads as this side operand of its epilogue.
  ValueId side(const Side& side);
  /// The tensor in the demanded arrangement.
  ValueId direct(TensorId tensor, const Arrangement& demanded);

 private:
  ValueId any(TensorId tensor);
  ValueId packed(const Binding& binding, const Arrangement& arrangement, const Problem& problem);
  ValueId alias(TensorId tensor, const Arrangement& demanded);
  ValueId stored(TensorId tensor, ValueId value);

  StoredValues& values_;
  Repacking& repacking_;
};

}  // namespace morton::plan
