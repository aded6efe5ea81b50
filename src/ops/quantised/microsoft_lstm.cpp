// SPDX-License-Identifier: Apache-2.0
#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/quantised/codes.hpp"

namespace morton::ops {
namespace {

// LSTM's eight inputs stand first; then the scale and the zero point of W and of R.
enum LstmInput : std::size_t { kCodesW = 1, kCodesR = 2, kScaleOfW = 8, kScaleOfR = 10 };
constexpr std::size_t kLstmInputs = 8;
constexpr std::size_t kLstmOutputs = 3;

/// Of codes D x I x 4H the numbers that they stand for, D x 4H x I. There is one scale, or one
/// for each direction, or for each of its gates' rows.
TensorId real_gates(Expansion& to, std::size_t codes, std::size_t scale) {
  const NodeView& node = to.node();
  require_codes(node, codes);
  require_rank(node, codes, 3, "the weights");
  const TensorType type = node.input(codes);
  const Shape each{type.shape[0]};
  const Shape every{type.shape[0], type.shape[2]};
  const auto spread = [&](std::size_t i) {
    const Shape shape = node.input(i).shape;
    if (shape.empty()) return to.reshaped(to.input(i), {1, 1, 1});
    if (shape != each && shape != every) {
      node.fail("input " + std::to_string(i) + " is " + to_string(shape) + ", expected " +
                to_string(each) + " or " + to_string(every));
    }
    return to.reshaped(to.input(i), {each[0], 1, shape == each ? 1 : every[1]});
  };
  require_real(node, scale);
  if (node.has_input(scale + 1) && node.input(scale + 1).dtype != type.dtype) {
    node.fail("the zero point (input " + std::to_string(scale + 1) + ") is of type " +
              std::string(name_of(node.input(scale + 1).dtype)) + ", its weights are " +
              std::string(name_of(type.dtype)));
  }
  ChainWriter chain(to);
  ScalarRef value = chain.operand(to.input(codes), DType::f32);
  if (node.has_input(scale + 1)) {
    value = chain.less_zero(value, chain.operand(spread(scale + 1), DType::f32));
  }
  chain.step(ScalarOp::mul, {value, chain.operand(spread(scale), DType::f32)});
  return to.transposed(chain.write(), {0, 2, 1});
}

/// An LSTM over the numbers that the weights stand for, in f32. Inputs and states stay as they are:
/// ONNX Runtime rounds them to 8 bits before each product, so its results are less exact.
std::vector<TensorId> expand_dynamic_quantize_lstm(Expansion& to) {
  const NodeView& node = to.node();
  std::vector<TensorId> inputs;
  for (std::size_t i = 0; i < kLstmInputs; ++i) inputs.push_back(to.input(i));
  inputs[kCodesW] = real_gates(to, kCodesW, kScaleOfW);
  inputs[kCodesR] = real_gates(to, kCodesR, kScaleOfR);
  return to.add_several("LSTM", std::move(inputs), kLstmOutputs, node.node().attributes);
}

}  // namespace

const OperatorTable& microsoft_lstm_operators() {
  static const OperatorTable kTable{
      foreign_operator("com.microsoft.DynamicQuantizeLSTM", {.least = 3, .most = 12},
                       {"activation_alpha", "activation_beta", "activations", "clip", "direction",
                        "hidden_size", "input_forget"},
                       expand_dynamic_quantize_lstm),
  };
  return kTable;
}

}  // namespace morton::ops
