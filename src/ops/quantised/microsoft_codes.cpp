// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators on codes of 8 bits, as ONNX Runtime's quantiser writes them into files.
// Where it rounds with the zero point added, ties go to the even code; that is kept.
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/quantised/codes.hpp"

namespace morton::ops {
namespace {

// The order of the inputs of two operands.
enum TwoOperands : std::size_t {
  kCodesA,
  kScaleOfA,
  kZeroOfA,
  kCodesB,
  kScaleOfB,
  kZeroOfB,
  kScaleOfC,
  kZeroOfC
};

/// Checks the operands, and gives A and B, one of them in the shape of the result at least.
struct Pair {
  TensorId a, b;
  bool b_is_whole = false;
};

Pair pair_of(Expansion& to) {
  const NodeView& node = to.node();
  require_codes(node, kCodesA);
  const DType type = node.input(kCodesA).dtype;
  if (node.input(kCodesB).dtype != type) {
    node.fail("its operands are of types " + std::string(name_of(type)) + " and " +
              std::string(name_of(node.input(kCodesB).dtype)) + "; expected one type");
  }
  for (const std::size_t scale : {kScaleOfA, kScaleOfB, kScaleOfC}) {
    require_scale(node, scale);
    require_zero_point(node, scale + 1, type);
  }
  const Shape shape = node.broadcast(node.input(kCodesA).shape, node.input(kCodesB).shape);
  if (node.input(kCodesB).shape == shape) return {to.input(kCodesA), to.input(kCodesB), true};
  return {to.expanded(to.input(kCodesA), shape), to.input(kCodesB)};
}

/// The operands in f32, the one that has the result's shape first.
struct PairOfReals {
  ScalarRef a, b;
};

PairOfReals reals_of(ChainWriter& chain, const Pair& pair) {
  if (pair.b_is_whole) {
    const ScalarRef b = chain.operand(pair.b, DType::f32);
    return {chain.operand(pair.a, DType::f32), b};
  }
  const ScalarRef a = chain.operand(pair.a, DType::f32);
  return {a, chain.operand(pair.b, DType::f32)};
}

TensorId share_of(Expansion& to, std::size_t scale) {
  ChainWriter chain(to);
  const ScalarRef own = chain.tensor(single(to, scale));
  chain.step(ScalarOp::div, {own, chain.operand(single(to, kScaleOfC), DType::f32)});
  return chain.write_scales();
}

/// a * (scale a / scale c) + b * (scale b / scale c) + what the zero points add up to.
std::vector<TensorId> expand_qlinear_add(Expansion& to) {
  const DType type = to.node().input(kCodesA).dtype;
  const Pair pair = pair_of(to);
  const TensorId share_a = share_of(to, kScaleOfA);
  const TensorId share_b = share_of(to, kScaleOfB);

  ChainWriter fixed(to);
  const ScalarRef of_a = fixed.tensor(share_a);
  const ScalarRef of_b = fixed.operand(share_b, DType::f32);
  const auto zero = [&](std::size_t i) {
    return fixed.operand(zero_point(to, i, type), DType::f32);
  };
  const ScalarRef zero_a = fixed.step(ScalarOp::mul, {of_a, zero(kZeroOfA)});
  const ScalarRef zero_b = fixed.step(ScalarOp::mul, {zero(kZeroOfB), of_b});
  const ScalarRef zeros = fixed.step(ScalarOp::add, {zero_a, zero_b});
  fixed.step(ScalarOp::sub, {zero(kZeroOfC), zeros});
  const TensorId constant = fixed.write_scales();

  ChainWriter chain(to);
  const PairOfReals codes = reals_of(chain, pair);
  const ScalarRef a = chain.step(ScalarOp::mul, {codes.a, chain.operand(share_a, DType::f32)});
  const ScalarRef moved = chain.step(ScalarOp::add, {a, chain.operand(constant, DType::f32)});
  const ScalarRef b = chain.step(ScalarOp::mul, {codes.b, chain.operand(share_b, DType::f32)});
  chain.convert(ScalarOp::saturate, chain.step(ScalarOp::add, {moved, b}), type);
  return {chain.write()};
}

/// (a - zero a) * (b - zero b) * (scale a * scale b / scale c) + zero c.
std::vector<TensorId> expand_qlinear_mul(Expansion& to) {
  const DType type = to.node().input(kCodesA).dtype;
  const Pair pair = pair_of(to);
  const TensorId multiplier =
      scales_over(to, single(to, kScaleOfA), single(to, kScaleOfB), single(to, kScaleOfC));
  ChainWriter chain(to);
  const PairOfReals codes = reals_of(chain, pair);
  const auto zero = [&](std::size_t i) {
    return chain.operand(zero_point(to, i, type), DType::f32);
  };
  const ScalarRef a = chain.less_zero(codes.a, zero(kZeroOfA));
  const ScalarRef b = chain.less_zero(codes.b, zero(kZeroOfB));
  const ScalarRef product = chain.step(ScalarOp::mul, {a, b});
  const ScalarRef scaled =
      chain.step(ScalarOp::mul, {product, chain.operand(multiplier, DType::f32)});
  const ScalarRef moved = chain.step(ScalarOp::add, {scaled, zero(kZeroOfC)});
  chain.convert(ScalarOp::saturate, moved, type);
  return {chain.write()};
}

std::vector<TensorId> expand_qlinear_sigmoid(Expansion& to) {
  const DType type = to.node().input(0).dtype;
  return {encoded(to, to.add("Sigmoid", {decoded(to, 0)}), 3, type)};
}

std::vector<TensorId> expand_qlinear_leaky_relu(Expansion& to) {
  const DType type = to.node().input(0).dtype;
  const double alpha = to.node().real("alpha", 0.01);
  return {encoded(to, to.add("LeakyRelu", {decoded(to, 0)}, {{"alpha", alpha}}), 3, type)};
}

/// Before opset 13 the softmax is over all dimensions from `axis` on.
std::vector<TensorId> expand_qlinear_softmax(Expansion& to) {
  const NodeView& node = to.node();
  const Shape shape = node.input(0).shape;
  const DType type = node.input(0).dtype;
  if (!node.has("opset")) node.fail("the attribute opset is missing");
  (void)node.input(4);  // the zero point of the result, which must be there
  const bool is_old = node.integer("opset", 0) < 13;
  const std::size_t axis = node.axis(node.integer("axis", -1), shape.size(),
                                     static_cast<std::int64_t>(shape.size()) - 1);
  TensorId value = decoded(to, 0);
  if (is_old) {
    const auto rows = shape.begin() + static_cast<std::ptrdiff_t>(axis);
    value = to.reshaped(value,
                        {element_count({shape.begin(), rows}), element_count({rows, shape.end()})});
    value = to.reshaped(to.add("Softmax", {value}), shape);
  } else {
    value = to.add("Softmax", {value}, {{"axis", static_cast<std::int64_t>(axis)}});
  }
  return {encoded(to, value, 3, type)};
}

/// Inputs: the result's scale and zero point, then three for each part.
std::vector<TensorId> expand_qlinear_concat(Expansion& to) {
  const NodeView& node = to.node();
  if (!node.has("axis")) node.fail("the attribute axis is missing");
  if (node.input_count() % 3 != 2) {
    node.fail("it has " + std::to_string(node.input_count()) +
              " inputs; expected two, and three for each part");
  }
  const DType type = node.input(2).dtype;
  std::vector<TensorId> parts;
  for (std::size_t i = 2; i < node.input_count(); i += 3) {
    if (node.input(i).dtype != type) {
      node.fail("input " + std::to_string(i) + " is of type " +
                std::string(name_of(node.input(i).dtype)) + ", the first part is " +
                std::string(name_of(type)));
    }
    parts.push_back(encoded(to, decoded(to, i), 0, type));
  }
  return {joined_along(to, parts, node.integer("axis", 0))};
}

std::vector<TensorId> expand_microsoft_dequantize(Expansion& to) {
  return {to.add("DequantizeLinear", {to.input(0), to.input(1), to.input(2)},
                 to.node().node().attributes)};
}

std::vector<TensorId> expand_microsoft_quantize(Expansion& to) {
  return {to.add("QuantizeLinear", {to.input(0), to.input(1), to.input(2)},
                 to.node().node().attributes)};
}

}  // namespace

const OperatorTable& microsoft_codes_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.DequantizeLinear", {.least = 2, .most = 3},
                       {"axis", "block_size"}, expand_microsoft_dequantize),
      foreign_operator("com.microsoft.QLinearAdd", {.least = 1, .most = 8}, {}, expand_qlinear_add),
      foreign_operator("com.microsoft.QLinearConcat", {.least = 1, .most = kAnyNumber}, {"axis"},
                       expand_qlinear_concat),
      foreign_operator("com.microsoft.QLinearLeakyRelu", {.least = 1, .most = 5}, {"alpha"},
                       expand_qlinear_leaky_relu),
      foreign_operator("com.microsoft.QLinearMul", {.least = 1, .most = 8}, {}, expand_qlinear_mul),
      foreign_operator("com.microsoft.QLinearSigmoid", {.least = 1, .most = 5}, {},
                       expand_qlinear_sigmoid),
      foreign_operator("com.microsoft.QLinearSoftmax", {.least = 1, .most = 5}, {"axis", "opset"},
                       expand_qlinear_softmax),
      foreign_operator("com.microsoft.QuantizeLinear", {.least = 2, .most = 3},
                       {"axis", "block_size"}, expand_microsoft_quantize),
  };
  return kTable;
}

}  // namespace morton::ops
