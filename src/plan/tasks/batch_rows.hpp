// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"
#include "plan/tasks/tasks.hpp"

namespace morton::plan {

/// The dimension of a tensor that counts the items of the batch, its rows; none without them.
using RowDimension = std::optional<std::size_t>;

/// The dimension of a tensor of `shape` that counts `batch` items (>= 2), each `inner` elements
/// from the next; none where it has no such dimension. There is at most one.
[[nodiscard]] RowDimension row_dimension(const Shape& shape, std::int64_t batch,
                                         std::int64_t inner);

/// Proves that the batch can be cut: that row b of every output depends on no row of the inputs
/// but row b. `inputs` says by port where rows lie; that extent is `batch` (>= 2). Returns where
/// they lie in the outputs (problems/row_labels.hpp has the proof). Throws UnsupportedError that
/// names the node or output where it fails.
[[nodiscard]] std::vector<std::size_t> require_independent_rows(
    const TaskList& tasks, const std::vector<RowDimension>& inputs, std::int64_t batch);

}  // namespace morton::plan
