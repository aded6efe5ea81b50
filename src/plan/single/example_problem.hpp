// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "layout/arrangement.hpp"
#include "plan/tasks/tasks.hpp"
#include "problems/problem.hpp"

namespace morton::plan {

/// One problem for one kernel, without a graph around it.
struct PosedProblem {
  TaskList tasks;  ///< a tensor for each operand
  BoundProblem bound;
};

/// What the example's result goes through.
enum class ExampleEpilogue : std::uint8_t {
  none,
  /// As in most networks, where the entry carries it: max(v + bias[channel] + other[v's place], 0),
  /// and a product whose result lies anywhere is that of a convolution, rows are channels.
  of_a_network
};

/// The problem of the entry's family with these sizes. An operand is f32 where the entry allows it,
/// else of its first type. Throws UsageError for a tensor that kernels cannot index.
[[nodiscard]] PosedProblem posed_problem(const Entry& entry, const Environment& sizes,
                                         ExampleEpilogue epilogue = ExampleEpilogue::none);

}  // namespace morton::plan
