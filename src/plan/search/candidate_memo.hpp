// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/rooms.hpp"
#include "plan/search/task_candidates.hpp"

namespace morton::plan {

/// The candidates of tasks, those that pose the same problem on tensors of the same types, shapes
/// and kinds listed once: networks repeat their blocks.
class CandidateMemo {
 public:
  explicit CandidateMemo(const PlanContext& context) : context_(context) {}
  /// As find_allowed.
  [[nodiscard]] TaskCandidates find(const Task& task);
  /// The same. Throws UnsupportedError, with the reasons, where there are none.
  [[nodiscard]] TaskCandidates list(const Task& task);

 private:
  struct Known {
    Task task;
    TaskCandidates::Shared list;
  };

  const PlanContext& context_;
  std::map<std::string, Known> known_;
};

}  // namespace morton::plan
