// SPDX-License-Identifier: Apache-2.0
#include "ops/math/requantisation.hpp"
#include "ops/quantised/codes.hpp"
#include "ops/quantised/integer_convolution.hpp"

namespace morton::ops {
namespace {

std::vector<TensorId> expand_conv_integer(Expansion& to) {
  const ConvolutionSums made = convolution_sums(to, {});
  return {made.arranged(to, made.whole(to))};
}

// ONNX's order of the inputs of QLinearConv.
enum ConvInput : std::size_t {
  kConvX,
  kConvScaleX,
  kConvZeroX,
  kConvW,
  kConvScaleW,
  kConvZeroW,
  kConvScaleY,
  kConvZeroY,
  kConvBias
};

/// saturate(round((sums + bias) * (scale of x * scale of w / scale of y)) + zero of y), in f32.
std::vector<TensorId> expand_qlinear_conv(Expansion& to) {
  const NodeView& node = to.node();
  const ConvolutionSums made = convolution_sums(to, {kConvX, kConvW, kConvZeroX, kConvZeroW});
  const std::int64_t outputs = made.result[1];
  require_scale(node, kConvScaleX);
  require_scale(node, kConvScaleW, outputs);
  require_scale(node, kConvScaleY);
  const DType type = node.input(kConvZeroY).dtype;
  require_codes(node, kConvZeroY);
  require_zero_point(node, kConvZeroY, type);
  if (node.has_input(kConvBias)) {
    const TensorType bias = node.input(kConvBias);
    if (bias.dtype != DType::i32 || bias.shape != Shape{outputs}) {
      node.fail("the bias (input 8) is " + to_string(bias.shape) + " of " +
                std::string(name_of(bias.dtype)) + ", expected " + std::to_string(outputs) +
                " of i32");
    }
  }
  const bool is_one = element_count(node.input(kConvScaleW).shape) == 1;
  const TensorId scale_w = is_one ? single(to, kConvScaleW) : to.input(kConvScaleW);
  const TensorId multiplier =
      scales_over(to, single(to, kConvScaleX), scale_w, single(to, kConvScaleY));

  ChainWriter chain(to);
  ScalarRef sum = chain.tensor(made.sums);
  if (node.has_input(kConvBias)) {
    TensorId bias = made.spread(to, to.input(kConvBias));
    if (made.excess != kNoTensor) {
      const TensorId whole = to.reshaped(to.input(kConvBias), made.lines);
      bias = to.apply(ScalarOp::sub, {whole, made.excess});
    }
    sum = chain.step(ScalarOp::add, {sum, chain.operand(bias, DType::i32)});
  } else if (made.excess != kNoTensor) {
    sum = chain.step(ScalarOp::sub, {sum, chain.operand(made.excess, DType::i32)});
  }
  const ScalarRef by = chain.operand(made.spread(to, multiplier), DType::f32);
  const ScalarRef zero = chain.operand(single(to, kConvZeroY), DType::f32);
  append_requantisation(chain.chain(), sum, by, zero, type);
  return {made.arranged(to, chain.write())};
}

const std::vector<std::string_view> kConvAttributes{"auto_pad",     "dilations", "group",
                                                    "kernel_shape", "pads",      "strides"};

}  // namespace

const OperatorTable& conv_integer_operators() {
  static const OperatorTable kTable{
      {.name = "ConvInteger",
       .inputs = {.least = 2, .most = 4},
       .attributes = kConvAttributes,
       .since_opset = 10,
       .expand = expand_conv_integer,
       .types = {DType::u8, DType::i8, DType::i32}},
      {.name = "QLinearConv",
       .inputs = {.least = 8, .most = 9},
       .attributes = kConvAttributes,
       .since_opset = 10,
       .expand = expand_qlinear_conv,
       .types = {DType::u8, DType::i8, DType::i32, DType::f32}},
  };
  return kTable;
}

}  // namespace morton::ops
