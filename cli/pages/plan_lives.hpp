// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/output.hpp"

namespace morton::cli::pages {

/// A stretch of memory that holds one result, and the steps during which it does.
struct Life {
  std::string name, kind;  ///< of the plan's value: "activation", "workspace", "input", ...
  std::int64_t offset = 0, bytes = 0;  ///< in all blocks that are no weights, one after the other
  int first = 0, last = 0;             ///< steps, both inclusive
  std::size_t value = 0;               ///< of the plan, by its number
  std::vector<int> writers{};  ///< steps, several where each writes a part; none: the caller
  bool is_overwritten = false;
};

/// A step that reads what another one wrote.
struct PlanEdge {
  int from = 0, to = 0;
  std::string name;
};

/// What lives when in a plan (`plan_json` of morton/compile.hpp): followed from step to step by the
/// bytes that they read and write, so that values which share memory are one result.
struct PlanLives {
  std::vector<Life> lives{};
  std::vector<PlanEdge> edges{};
  std::int64_t bytes = 0;         ///< of all those blocks
  std::int64_t weight_bytes = 0;  ///< of the blocks that are weights
};

[[nodiscard]] PlanLives lives_of(const Json& plan);

}  // namespace morton::cli::pages
