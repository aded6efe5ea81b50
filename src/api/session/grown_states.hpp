// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/tensor.hpp"

namespace morton::api {

/// How much of the states that runs fill (graph::Growth) is filled. The device counts too; this is
/// what the host knows without reading it.
class GrownStates {
 public:
  /// Throws UsageError where a state has no room for another run, or where the caller has filled
  /// states to other extents that runs fill alike.
  void check(const std::vector<graph::Growth>& growths) const;
  /// Counts another run. Throws likewise.
  void count_run(const std::vector<graph::Growth>& growths);
  [[nodiscard]] bool is_full(const std::vector<graph::Growth>& growths) const;

  /// What the caller set this state to, a growing one or a count; nothing for other states.
  void set_count(const graph::Growth& growth, std::int64_t count);
  void set_extent(const std::string& state, std::int64_t extent) { extents_[state] = extent; }
  [[nodiscard]] std::int64_t extent(const std::string& state) const;

 private:
  std::map<std::string, std::int64_t> extents_;  ///< by the growing state; 0 where none is
};

/// What grows of the state named `name`.
struct GrowingState {
  const graph::Growth* growth = nullptr;
  std::size_t dimension = 0;
};
[[nodiscard]] std::optional<GrowingState> growing_state(const std::vector<graph::Growth>& growths,
                                                        const std::string& name);

}  // namespace morton::api
