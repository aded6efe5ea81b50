// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "passes/late_table.hpp"

namespace morton::passes {

/// Which of a list of truths are true.
struct Found {
  TensorId places;  ///< of those, in order; i64, a late list behind which void is 0
  TensorId count;   ///< how many there are
  TensorId before;  ///< of each how many up to it are, less one: its place in `places`, if it is
};

/// Of `truths`, a list of this length, of which no extent is late.
[[nodiscard]] Found find_true(LateTable& table, TensorId truths, std::int64_t length);

/// The rules of Unique and of NonMaxSuppression.
bool write_unique(LateTable& table, const Node& node);
bool write_non_max_suppression(LateTable& table, const Node& node);

}  // namespace morton::passes
