// SPDX-License-Identifier: Apache-2.0
//
// MatMulNBits: a product with weights of few bits, a scale and a zero point for each block along K.
#include "base/numbers/checked.hpp"
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/quantised/block_weights.hpp"
#include "ops/quantised/codes.hpp"

namespace morton::ops {
namespace {

/// An extent of input `i` may be joined with the first.
void require_either(const NodeView& node, std::size_t i, const Shape& apart, const char* what) {
  const Shape& given = node.input(i).shape;
  if (given == apart || given == Shape{element_count(apart)}) return;
  node.fail(std::string(what) + " (input " + std::to_string(i) + ") is " + to_string(given) +
            ", expected " + to_string(apart) + " or " + to_string(Shape{element_count(apart)}));
}

void check_block_inputs(const NodeView& node, const BlockWeights& of) {
  const Shape a = node.input(BlockInput::rows).shape;
  if (a.empty() || a.back() != of.k) {
    node.fail("A is " + to_string(a) + ", expected rows of K = " + std::to_string(of.k));
  }
  require_real(node, BlockInput::rows);
  if (node.input(BlockInput::packed_codes).dtype != DType::u8) {
    node.fail("the weights are of type " +
              std::string(name_of(node.input(BlockInput::packed_codes).dtype)) + ", expected u8");
  }
  const std::int64_t bytes = of.bytes_of(of.block);
  const Shape packed = node.input(BlockInput::packed_codes).shape;
  if (packed != Shape{of.n, of.blocks * bytes}) {
    require_shape(node, BlockInput::packed_codes, {of.n, of.blocks, bytes}, "the weights");
  }
  require_real(node, BlockInput::scales);
  require_either(node, BlockInput::scales, {of.n, of.blocks}, "the scales");
  if (node.has_input(BlockInput::zeros)) {
    const DType type = node.input(BlockInput::zeros).dtype;
    if (type != DType::u8 && type != node.input(BlockInput::scales).dtype) {
      node.fail("the zero points are of type " + std::string(name_of(type)) +
                ", expected u8 or the type of the scales");
    }
    const bool is_packed = type == DType::u8;
    require_either(node, BlockInput::zeros, {of.n, is_packed ? of.bytes_of(of.blocks) : of.blocks},
                   "the zero points");
  }
  if (node.has_input(BlockInput::group_of_row)) {
    const TensorType groups = node.input(BlockInput::group_of_row);
    if (groups.dtype != DType::i32 || groups.shape.size() != 1 || groups.shape[0] < of.k) {
      node.fail("g_idx is " + to_string(groups.shape) + " of " +
                std::string(name_of(groups.dtype)) + ", expected " + std::to_string(of.k) +
                " of i32");
    }
  }
  require_shape(node, BlockInput::bias, {of.n}, "the bias");
}

/// The codes of `rows` rows of bytes, u8; the lowest bits of a byte are the first code.
TensorId unpacked(Expansion& to, std::size_t i, std::int64_t rows, std::int64_t bits) {
  const std::int64_t bytes = element_count(to.node().input(i).shape) / rows;
  const std::int64_t each = 8 / bits;
  if (each == 1) return to.reshaped(to.input(i), {rows, bytes});
  const std::int64_t mask = (1 << bits) - 1;
  if (const Tensor* known = to.node().constant(i)) {
    return to.constant(unpacked_codes(*known, rows, bits));
  }
  Tensor distances = Tensor::allocate(DType::u8, {1, each});
  for (std::int64_t c = 0; c < each; ++c) distances.set(c, static_cast<double>(c * bits));
  const TensorId apart = to.reshaped(to.input(i), {rows * bytes, 1});
  ChainWriter chain(to);
  const ScalarRef byte = chain.tensor(to.expanded(apart, {rows * bytes, each}));
  const ScalarRef shift = chain.tensor(to.constant(std::move(distances)));
  const ScalarRef moved = chain.step(ScalarOp::shift_right, {byte, shift});
  chain.step(ScalarOp::bit_and, {moved, ScalarRef::constant(static_cast<double>(mask))});
  return to.reshaped(chain.write(), {rows, bytes * each});
}

/// Numbers of blocks, N x blocks, as they broadcast against the codes: N x blocks x 1, or, where
/// the rows of the weights say which block is theirs, N x K.
TensorId for_codes(Expansion& to, const BlockWeights& of, TensorId numbers) {
  if (!to.node().has_input(BlockInput::group_of_row))
    return to.reshaped(numbers, {of.n, of.blocks, 1});
  const TensorId groups = part_along(to, to.input(BlockInput::group_of_row), 0, 0, of.k);
  return to.add("Gather", {numbers, groups}, {{"axis", std::int64_t{1}}});
}

/// What is taken off the codes: packed codes, reals, or the middle of their range.
ScalarRef zero_of_blocks(Expansion& to, ChainWriter& chain, const BlockWeights& of) {
  const NodeView& node = to.node();
  if (!node.has_input(BlockInput::zeros)) {
    return ScalarRef::constant(static_cast<double>(std::int64_t{1} << (of.bits - 1)));
  }
  TensorId zeros = to.input(BlockInput::zeros);
  if (node.input(BlockInput::zeros).dtype == DType::u8) {
    zeros = part_along(to, unpacked(to, BlockInput::zeros, of.n, of.bits), 1, 0, of.blocks);
  }
  zeros = to.reshaped(zeros, {of.n, of.blocks});
  return chain.operand(for_codes(to, of, zeros), DType::f32);
}

/// The weights in f32, K x N.
TensorId real_weights(Expansion& to, const BlockWeights& of) {
  const std::int64_t padded = of.blocks * of.block;
  TensorId codes =
      to.reshaped(unpacked(to, BlockInput::packed_codes, of.n, of.bits), {of.n, padded});
  if (to.node().has_input(BlockInput::group_of_row)) {
    codes = part_along(to, codes, 1, 0, of.k);
  } else {
    codes = to.reshaped(codes, {of.n, of.blocks, of.block});
  }
  const TensorId scales = to.reshaped(to.input(BlockInput::scales), {of.n, of.blocks});
  ChainWriter chain(to);
  const ScalarRef code = chain.operand(codes, DType::f32);
  const ScalarRef moved = chain.less_zero(code, zero_of_blocks(to, chain, of));
  chain.step(ScalarOp::mul, {moved, chain.operand(for_codes(to, of, scales), DType::f32)});
  TensorId weights = chain.write();
  if (!to.node().has_input(BlockInput::group_of_row)) {
    weights = part_along(to, to.reshaped(weights, {of.n, padded}), 1, 0, of.k);
  }
  return to.transposed(weights, {1, 0});
}

/// accuracy_level allows less exact sums; those here are of f32 whatever it says.
std::vector<TensorId> expand_mat_mul_n_bits(Expansion& to) {
  const NodeView& node = to.node();
  const BlockWeights of = block_weights_of(node);
  const DType type = node.input(BlockInput::rows).dtype;
  const TensorId a = to.converted(to.input(BlockInput::rows), DType::f32);
  TensorId result = to.add("MatMul", {a, real_weights(to, of)});
  if (node.has_input(BlockInput::bias)) {
    result = to.add("Add", {result, to.converted(to.input(BlockInput::bias), DType::f32)});
  }
  return {to.converted(result, type)};
}

}  // namespace

BlockWeights block_weights_of(const NodeView& node) {
  BlockWeights of;
  for (const char* name : {"K", "N", "block_size"}) {
    if (!node.has(name)) node.fail("the attribute " + std::string(name) + " is missing");
    if (node.integer(name, 0) < 1) {
      node.fail(std::string(name) + " is " + std::to_string(node.integer(name, 0)) +
                ", expected 1 or more");
    }
  }
  of.k = node.integer("K", 0);
  of.n = node.integer("N", 0);
  of.block = node.integer("block_size", 0);
  of.bits = node.integer("bits", 4);
  if (of.bits != 2 && of.bits != 4 && of.bits != 8) {
    node.unsupported("weights of " + std::to_string(of.bits) + " bits; 2, 4 and 8 are supported");
  }
  if (of.block < 16 || (of.block & (of.block - 1)) != 0 || of.block > (std::int64_t{1} << 30)) {
    node.fail("block_size is " + std::to_string(of.block) +
              ", expected a power of two, 16 or more");
  }
  of.blocks = (of.k - 1) / of.block + 1;
  (void)checked_mul(checked_mul(of.blocks, of.block, "MatMulNBits"), of.n, "MatMulNBits");
  check_block_inputs(node, of);
  return of;
}

Tensor unpacked_codes(const Tensor& bytes, std::int64_t rows, std::int64_t bits) {
  const std::int64_t each = 8 / bits;
  const std::int64_t mask = (1 << bits) - 1;
  Tensor codes = Tensor::allocate(DType::u8, {rows, bytes.size() / rows * each});
  std::uint8_t* code = codes.as_mutable<std::uint8_t>().data();
  for (const std::uint8_t byte : bytes.as<std::uint8_t>()) {
    for (std::int64_t c = 0; c < each; ++c) {
      *code++ = static_cast<std::uint8_t>((byte >> (c * bits)) & mask);
    }
  }
  return codes;
}

const OperatorTable& microsoft_blocks_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.MatMulNBits", {.least = 3, .most = 6, .parameters = {5}},
                       {"K", "N", "accuracy_level", "bits", "block_size"}, expand_mat_mul_n_bits),
  };
  return kTable;
}

}  // namespace morton::ops
