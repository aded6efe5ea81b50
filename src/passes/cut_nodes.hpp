// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"

namespace morton::passes {

/// An input that is cut along one of its dimensions.
struct CutInput {
  std::size_t input = 0;
  std::size_t dimension = 0;
  std::int64_t unit = 1;  ///< how much of it goes with one unit of the result
};

/// A way to compute a node in parts, each of them some units of the result along one dimension.
struct Cut {
  std::size_t dimension = 0;  ///< of the result
  std::int64_t unit = 1;      ///< how much of the result stays together
  std::int64_t units = 0;
  std::vector<CutInput> inputs{};  ///< others go whole into each part
  bool cuts_groups = false;        ///< a unit is a group of the convolution
};

/// The ways to compute a node in two parts or more, the best first: a batch before channels, rows
/// before columns. None for operators that nothing is known of: so far Conv, MatMul, Gemm, pools
/// and elementwise operators are known. The graph has its shapes inferred.
[[nodiscard]] std::vector<Cut> cuts_of(const Graph& graph, const Node& node);

/// Whether each part reads its part of a constant alone.
[[nodiscard]] bool cuts_weights(const Graph& graph, const Node& node, const Cut& cut);

}  // namespace morton::passes
