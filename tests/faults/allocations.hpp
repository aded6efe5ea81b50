// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace morton::faults {

/// Allocations (operator new) of this program and of Morton's library, by the thread that asks,
/// while it is not within the driver: those of drivers' own code count for nothing, since drivers
/// may end the process where they fail.
struct Allocations {
  /// Lets allocation number `n` from now on, from 1, fail with std::bad_alloc; 0: none.
  static void fail(long n);
  [[nodiscard]] static long count();  ///< since `fail`
  [[nodiscard]] static bool has_failed();
};

}  // namespace morton::faults
