// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "ops/core/graph_writer.hpp"
#include "ops/quantised/block_weights.hpp"

namespace morton::passes {

/// Weights of a product, K x N, in codes: (code - zero) * scale, with a scale and a zero for each
/// block of rows of a column. The tensors are what CodedMatMul takes.
struct WeightCodes {
  std::int64_t bits = 4;
  std::int64_t block = 1;
  bool by_column = false;  ///< the tensors are transposed
  Tensor bytes{}, scales{}, zeros{};
};

/// The codes of a node MatMulNBits, whose weights are `of`. None where a run gives weights, scales
/// or zeros, where g_idx orders the rows, and where zeros are reals.
[[nodiscard]] std::optional<WeightCodes> codes_of_blocks(const Graph& graph, const Node& node,
                                                         const ops::BlockWeights& of);

/// The codes that node `dequantize`, a DequantizeLinear, makes weights of: of a matrix, N x K where
/// `by_column`. None where they are no constants, have other types than those of 2, 4 or 8 bits, or
/// where a scale covers parts of several columns and rows.
[[nodiscard]] std::optional<WeightCodes> codes_behind(const Graph& graph, const Node& dequantize,
                                                      bool by_column);

/// The product of `rows`, [..., K] of f32, with these weights.
[[nodiscard]] TensorId coded_product(ops::GraphWriter& to, TensorId rows, WeightCodes weights);

}  // namespace morton::passes
