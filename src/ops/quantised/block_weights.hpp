// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/rooms.hpp"
#include "ops/core/node_view.hpp"

namespace morton::ops {

/// Inputs of com.microsoft's MatMulNBits.
struct BlockInput {
  enum : std::size_t { rows, packed_codes, scales, zeros, group_of_row, bias };
};

/// The weights of MatMulNBits: K x N in codes of `bits`, with a scale for each block along K. A
/// block has whole bytes.
struct BlockWeights {
  std::int64_t k = 0, n = 0, bits = 4, block = 0;
  std::int64_t blocks = 0;  ///< along K
  [[nodiscard]] std::int64_t bytes_of(std::int64_t codes) const { return (codes * bits + 7) / 8; }
};

/// What the attributes of a node MatMulNBits say. Throws ModelError where they or its inputs are
/// not as its definition has them, UnsupportedError for other bits than 2, 4 or 8.
[[nodiscard]] BlockWeights block_weights_of(const NodeView& node);

/// The codes of known rows of bytes, u8, rows x codes; the lowest bits of a byte are the first.
[[nodiscard]] Tensor unpacked_codes(const Tensor& bytes, std::int64_t rows, std::int64_t bits);

}  // namespace morton::ops
