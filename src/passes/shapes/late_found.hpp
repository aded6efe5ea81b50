// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "passes/shapes/late_table.hpp"

namespace morton::passes {

/// Of `truths`, a list of this length, of which no extent is late.
[[nodiscard]] Found find_true(LateTable& table, TensorId truths, std::int64_t length);
/// The same, where who asked before for the true ones of `key` gets the same answer: what is taken
/// of several tensors by one condition has one count.
[[nodiscard]] Found find_true_once(LateTable& table, const LateTable::FoundKey& key,
                                   TensorId truths, std::int64_t length);

/// The rules of Unique and of NonMaxSuppression.
bool write_unique(LateTable& table, const Node& node);
bool write_non_max_suppression(LateTable& table, const Node& node);

}  // namespace morton::passes
