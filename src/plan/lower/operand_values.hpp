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
  int operand(const KernelChoice& choice, const std::string& role);
  /// What a kernel reads as this side operand of its epilogue.
  int side(const Side& side);
  /// The tensor in the demanded arrangement.
  int direct(int tensor, const Arrangement& demanded);

 private:
  int any(int tensor);
  int packed(const Binding& binding, const Arrangement& arrangement, const Problem& problem);
  int alias(int tensor, const Arrangement& demanded);
  int stored(int tensor, int value);

  StoredValues& values_;
  Repacking& repacking_;
};

}  // namespace morton::plan
