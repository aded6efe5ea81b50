// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// The candidates of tasks, those that pose the same problem on tensors of the same types, shapes
/// and kinds listed once: networks repeat their blocks.
class CandidateMemo {
 public:
  explicit CandidateMemo(const PlanContext& context) : context_(context) {}
  /// As list_allowed.
  [[nodiscard]] CandidateList list(const Task& task);

 private:
  struct Known {
    Task task;
    CandidateList list;
  };

  const PlanContext& context_;
  std::map<std::string, Known> known_;
};

}  // namespace morton::plan
