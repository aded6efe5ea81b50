// SPDX-License-Identifier: Apache-2.0
#include "ops/convolution.hpp"
#include "ops/summation.hpp"
#include "ops/window.hpp"

namespace morton {
namespace {

struct Convolution {
  Window window;
  ImageShape source;
  Shape image;    ///< N C H W
  Shape weights;  ///< O I KH KW
  std::int64_t groups = 1;
};

void check_channels(const NodeView& node, const Convolution& conv) {
  const std::int64_t channels = conv.image[1];
  const std::int64_t outputs = conv.weights[0];
  if (conv.groups < 1 || channels % conv.groups != 0 || outputs % conv.groups != 0) {
    node.fail("group is " + std::to_string(conv.groups) + "; it must divide the " +
              std::to_string(channels) + " channels and the " + std::to_string(outputs) +
              " outputs");
  }
  if (conv.weights[1] != channels / conv.groups) {
    node.fail("the weights are " + to_string(conv.weights) + ", the image " +
              to_string(conv.image) + " in " + std::to_string(conv.groups) + " groups: expected " +
              std::to_string(channels / conv.groups) + " channels of weights");
  }
}

Convolution convolution_of(const NodeView& node) {
  Convolution conv;
  const Shape image = node.input(0).shape;
  const Shape weights = node.input(1).shape;
  conv.source = image_of(node, image);
  conv.image = conv.source.shape;
  if (weights.size() != image.size()) {
    node.fail("the image is " + to_string(image) + ", the weights " + to_string(weights) +
              ": expected as many dimensions");
  }
  conv.weights = image_of(node, weights).shape;
  const Window::Pair kernel{conv.weights[2], conv.weights[3]};
  conv.window = window_of(node, conv.source, kernel);
  if (pair_of(node, conv.source, "kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(conv.weights));
  }
  conv.groups = node.integer("group", 1);
  check_channels(node, conv);
  check_bias(node, conv.weights[0]);
  return conv;
}

/// N O OH OW.
Shape output_extents(const Convolution& conv) {
  return {conv.image[0], conv.weights[0], conv.window.output[0], conv.window.output[1]};
}

std::vector<TensorType> infer_conv(const NodeView& node) {
  const Convolution conv = convolution_of(node);
  return {{node.input(0).dtype, conv.source.own(output_extents(conv))}};
}

Bounded sum_at(const Convolution& conv, const ConvolutionPosition& at,
               const ReferenceTensor& source, const ReferenceTensor& weights) {
  const std::int64_t depth = conv.weights[1];
  const std::int64_t first_channel = at.o / (conv.weights[0] / conv.groups) * depth;
  BoundedSum sum;
  for (std::int64_t i = 0; i < depth; ++i) {
    for (std::int64_t kh = 0; kh < conv.weights[2]; ++kh) {
      for (std::int64_t kw = 0; kw < conv.weights[3]; ++kw) {
        const std::int64_t h = conv.window.at(0, at.oh, kh);
        const std::int64_t w = conv.window.at(1, at.ow, kw);
        if (h < 0 || h >= conv.image[2] || w < 0 || w >= conv.image[3]) continue;
        const auto s = static_cast<std::size_t>(
            ((at.n * conv.image[1] + first_channel + i) * conv.image[2] + h) * conv.image[3] + w);
        const auto k = static_cast<std::size_t>(
            ((at.o * depth + i) * conv.weights[2] + kh) * conv.weights[3] + kw);
        sum.add_product({source.value[s], source.error[s]}, {weights.value[k], weights.error[k]});
      }
    }
  }
  return sum.result();
}

ReferenceTensor reference_conv(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Convolution conv = convolution_of(node);
  return reference_convolution(
      node, conv.source, output_extents(conv), inputs,
      [&](const ConvolutionPosition& at) { return sum_at(conv, at, inputs[0], inputs[1]); });
}

BoundProblem lower_conv(const NodeView& node) {
  const Convolution conv = convolution_of(node);
  BoundProblem bound =
      lower_convolution(node, "conv2d", conv.source, conv.window, output_extents(conv));
  bound.problem.structure["G"] = conv.groups;
  bound.problem.structure["I"] = conv.weights[1];
  bound.operands["weights"] = {node.input_id(1), conv.source.view({"O", "I", "KH", "KW"})};
  return bound;
}

}  // namespace

const Operator& operator_Conv() {
  static const Operator kOperator{
      .name = "Conv",
      .least_inputs = 2,
      .most_inputs = 3,
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "group"},
      .since_opset = 1,
      .infer = infer_conv,
      .reference = reference_conv,
      .lower = lower_conv,
  };
  return kOperator;
}

}  // namespace morton
