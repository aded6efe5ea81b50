// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/files/archive.hpp"
#include "graph/graph.hpp"

namespace morton::graph {

template <typename Archive, Archived<GrowthInput> T>
void visit(Archive& archive, T& input) {
  auto& [name, dimension] = input;
  archive(name, dimension);
}

/// How archives hold it: beside a plan, and in a graph's digest.
template <typename Archive, Archived<Growth> T>
void visit(Archive& archive, T& growth) {
  auto& [state, capacity, step, inputs] = growth;
  archive(state, capacity, step, inputs);
}

}  // namespace morton::graph
