// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::autodiff {

/// Whether the model has one input, a matrix whose last extent is called "batch": R17's networks
/// have an example in each column.
[[nodiscard]] bool has_batch_last(const Graph& model);

/// Makes [batch, features] of the model's input [features, batch], and the same of its output, by
/// transposing behind and before them. A Softmax, LogSoftmax or Sigmoid at the end stays the last
/// node. Names of ports and parameters stay; what the model computes stays the same. For a model
/// that has_batch_last is true of. Throws UsageError for a model of other than one output, and
/// where its Softmax goes along the batch.
void put_batch_in_front(Graph& model);

}  // namespace morton::autodiff
