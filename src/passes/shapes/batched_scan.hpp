// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "passes/shapes/splicing.hpp"

namespace morton::passes {

/// Writes a Scan as operator set 8 defines it, whose inputs have a batch in front, as one Scan of
/// later sets for each entry of the batch. Throws UnsupportedError where sequences have lengths of
/// their own, and ModelError.
void write_batched_scan(const Node& node, Splicing& out);

}  // namespace morton::passes
