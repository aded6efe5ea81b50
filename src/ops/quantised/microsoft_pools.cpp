// SPDX-License-Identifier: Apache-2.0
//
// Pools of codes of 8 bits, as ONNX Runtime's quantiser writes them into files.
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/quantised/codes.hpp"

namespace morton::ops {
namespace {

// The order of the inputs of a pool.
enum PoolInput : std::size_t { kPoolCodes, kPoolScale, kPoolZero, kScaleOfResult, kZeroOfResult };

std::size_t checked_rank(const NodeView& node) {
  const std::size_t rank = node.input(kPoolCodes).shape.size();
  if (rank < 3) {
    node.fail("the input is " + to_string(node.input(kPoolCodes).shape) + ", expected N x C x W");
  }
  return rank;
}

/// The channels of `value`, which are its last dimension, behind the images; and back.
TensorId channels_second(Expansion& to, TensorId value) {
  const std::size_t rank = to.shape_of(value).size();
  std::vector<std::int64_t> order{0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t d = 1; d + 1 < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
  return to.transposed(value, order);
}

TensorId channels_behind(Expansion& to, TensorId value) {
  const std::size_t rank = to.shape_of(value).size();
  std::vector<std::int64_t> order{0};
  for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(1);
  return to.transposed(value, order);
}

/// The mean of the numbers, in f32. It is rounded with the zero point added, so ties go to the even
/// code, as ONNX Runtime has it.
std::vector<TensorId> expand_qlinear_average_pool(Expansion& to) {
  const NodeView& node = to.node();
  (void)checked_rank(node);
  const DType type = node.input(kPoolCodes).dtype;
  const bool is_last = node.flag("channels_last", 0);
  TensorId value = decoded(to, kPoolCodes);
  require_scale(node, kScaleOfResult);
  require_zero_point(node, kZeroOfResult, type);
  GraphWriter::Attributes attributes = node.node().attributes;
  attributes.erase("channels_last");
  if (is_last) value = channels_second(to, value);
  value = to.add("AveragePool", {value}, std::move(attributes));
  ChainWriter chain(to);
  const ScalarRef mean = chain.tensor(value);
  const ScalarRef scale = chain.operand(single(to, kScaleOfResult), DType::f32);
  const ScalarRef quotient = chain.step(ScalarOp::div, {mean, scale});
  const ScalarRef zero = chain.operand(zero_point(to, kZeroOfResult, type), DType::f32);
  chain.convert(ScalarOp::saturate, chain.step(ScalarOp::add, {quotient, zero}), type);
  const TensorId codes = chain.write();
  return {is_last ? channels_behind(to, codes) : codes};
}

/// The sum of the codes in whole numbers, then one product in f32.
std::vector<TensorId> expand_qlinear_global_average_pool(Expansion& to) {
  const NodeView& node = to.node();
  const std::size_t rank = checked_rank(node);
  require_codes(node, kPoolCodes);
  const TensorType x = node.input(kPoolCodes);
  for (const std::size_t scale : {kPoolScale, kScaleOfResult}) {
    require_scale(node, scale);
    require_zero_point(node, scale + 1, x.dtype);
  }
  const std::size_t first = node.flag("channels_last", 0) ? 1 : 2;
  const std::vector<std::int64_t> axes = dimensions_between(first, first + rank - 2);
  std::int64_t count = 1;
  for (const std::int64_t axis : axes) count *= x.shape[static_cast<std::size_t>(axis)];
  constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) / 255 - 1;
  if (count < 1) node.fail("the images are empty: " + to_string(x.shape));
  if (count > kMostElements) {
    node.unsupported("sums of " + std::to_string(count) + " codes may not fit 32 bits");
  }
  const TensorId sums = to.sum(to.converted(to.input(kPoolCodes), DType::i32), axes);

  const auto elements = ScalarRef::constant(static_cast<double>(count));
  ChainWriter whole(to);
  whole.step(ScalarOp::mul, {whole.tensor(single(to, kScaleOfResult)), elements});
  ChainWriter share(to);
  const ScalarRef own = share.tensor(single(to, kPoolScale));
  share.step(ScalarOp::div, {own, share.operand(whole.write_scales(), DType::f32)});
  const TensorId multiplier = share.write_scales();

  ChainWriter chain(to);
  const ScalarRef sum = chain.tensor(sums);
  const ScalarRef zero = chain.operand(zero_point(to, kPoolZero, x.dtype), DType::i32);
  const ScalarRef zeros = zero.kind == ScalarRef::Kind::constant
                              ? ScalarRef::constant(zero.value * static_cast<double>(count))
                              : chain.step(ScalarOp::mul, {zero, elements});
  const ScalarRef real = chain.convert(ScalarOp::cast, chain.less_zero(sum, zeros), DType::f32);
  const ScalarRef scaled = chain.step(ScalarOp::mul, {real, chain.operand(multiplier, DType::f32)});
  const ScalarRef rounded = chain.step(ScalarOp::round, {scaled});
  const ScalarRef behind = chain.operand(zero_point(to, kZeroOfResult, x.dtype), DType::f32);
  chain.convert(ScalarOp::saturate, chain.step(ScalarOp::add, {rounded, behind}), x.dtype);
  return {chain.write()};
}

}  // namespace

const OperatorTable& microsoft_pools_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.QLinearAveragePool", {.least = 1, .most = 5},
                       {"auto_pad", "ceil_mode", "channels_last", "count_include_pad",
                        "kernel_shape", "pads", "strides"},
                       expand_qlinear_average_pool),
      foreign_operator("com.microsoft.QLinearGlobalAveragePool", {.least = 1, .most = 5},
                       {"channels_last"}, expand_qlinear_global_average_pool),
  };
  return kTable;
}

}  // namespace morton::ops
