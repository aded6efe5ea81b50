// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"
#include "base/rooms.hpp"

namespace morton::layout {
struct Arrangement;
}

namespace morton::plan {

/// A kernel with the values that it is built with.
struct DecidedKernel {
  std::string entry;
  Environment tunables;
  friend bool operator==(const DecidedKernel&, const DecidedKernel&) = default;
};

/// What a plan decided for one task, in words that hold for other extents too.
struct TaskDecision {
  std::string way;                     ///< Candidate::way: a recipe may use a kernel otherwise
  std::vector<DecidedKernel> kernels;  ///< in order, each once
  std::string format;                  ///< of the result (format_text)
  friend bool operator==(const TaskDecision&, const TaskDecision&) = default;
};

/// The kernels that are built for a model, and what they were built for: what a plan for other
/// extents chooses from (PlanOptions::built).
struct BuiltKernels {
  std::map<std::string, std::vector<TaskDecision>> decisions;  ///< by task, at most kMostDecisions
  std::set<std::string> instances;                             ///< InstanceSource::key

  static constexpr std::size_t kMostDecisions = 3;
  /// Adds what is new, as far as there is room.
  void add(const std::map<std::string, TaskDecision>& decided);
};

/// How a value lies, without sizes: element type, joined dimensions, order of loops, memory.
[[nodiscard]] std::string format_text(const Arrangement& arrangement);

}  // namespace morton::plan
