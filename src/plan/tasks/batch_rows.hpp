// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// Proves that the batch can be cut: that row b of every output depends on no row of the inputs
/// marked in `batched` (by port) but row b. Rows are what the outermost extent counts; it is
/// `batch`
/// (>= 2) in those inputs. The proof reads the problems' views, not the operators: where a result
/// is written at coordinate e of its outermost dimension, whatever has rows must be read at e too,
/// and e may not run along a dimension that the family mixes. Throws UnsupportedError that names
/// the node or output where it fails.
void require_independent_rows(const TaskList& tasks, const std::vector<bool>& batched,
                              std::int64_t batch);

}  // namespace morton::plan
