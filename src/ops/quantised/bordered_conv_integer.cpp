// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/rooms.hpp"
#include "ops/math/convolution.hpp"
#include "ops/quantised/codes.hpp"
#include "problems/convolution.hpp"

namespace morton::ops {
namespace {

enum Input : std::size_t { kImage, kWeights, kBorder };

struct IntegerConvolution {
  Window window;
  ImageShape source;
  Shape weights;  ///< O I KH KW
  std::int64_t groups = 1;

  [[nodiscard]] std::int64_t terms() const { return weights[1] * weights[2] * weights[3]; }
  /// N O OH OW.
  [[nodiscard]] Shape result() const {
    return {source.shape[0], weights[0], window.output[0], window.output[1]};
  }
};

/// The largest magnitude of a number of this type.
std::int64_t reach(DType type) { return type == DType::u8 ? 255 : 128; }

void check(const NodeView& node, const IntegerConvolution& conv) {
  const Shape& image = conv.source.shape;
  const bool in_groups = conv.groups >= 1 && image[1] % conv.groups == 0 &&
                         conv.weights[0] % conv.groups == 0 &&
                         conv.weights[1] == image[1] / conv.groups;
  if (!in_groups) {
    node.fail("the image is " + to_string(image) + ", the weights are " + to_string(conv.weights) +
              ", in " + std::to_string(conv.groups) + " groups");
  }
  if (node.input(kBorder).shape != Shape{image[1]} ||
      node.input(kBorder).dtype != node.input(kImage).dtype) {
    node.fail("the border is " + to_string(node.input(kBorder).shape) + " of " +
              std::string(name_of(node.input(kBorder).dtype)) +
              "; expected a number of the image's type for each channel");
  }
  const std::int64_t most = std::numeric_limits<std::int32_t>::max() /
                            (reach(node.input(kImage).dtype) * reach(node.input(kWeights).dtype));
  if (conv.terms() <= most) return;
  node.unsupported("the weights are " + to_string(conv.weights) + ": sums of more than " +
                   std::to_string(most) + " products of codes may not fit 32 bits");
}

IntegerConvolution convolution_of(const NodeView& node) {
  require_codes(node, kImage);
  require_codes(node, kWeights);
  IntegerConvolution conv;
  conv.source = image_of(node, node.input(kImage).shape);
  conv.weights = image_of(node, node.input(kWeights).shape).shape;
  conv.window = window_of(node, conv.source, {conv.weights[2], conv.weights[3]});
  conv.groups = node.integer("group", 1);
  check(node, conv);
  return conv;
}

std::vector<TensorType> infer_bordered(const NodeView& node) {
  const IntegerConvolution conv = convolution_of(node);
  return {{DType::i32, conv.source.own(conv.result())}};
}

double sum_at(const IntegerConvolution& conv, std::span<const ReferenceTensor> inputs,
              const ConvolutionPosition& at) {
  const Shape& image = conv.source.shape;
  const std::int64_t depth = conv.weights[1];
  const std::int64_t first = at.o / (conv.weights[0] / conv.groups) * depth;
  double sum = 0.0;
  for (std::int64_t i = 0; i < depth; ++i) {
    const std::int64_t c = first + i;
    for (std::int64_t kh = 0; kh < conv.weights[2]; ++kh) {
      for (std::int64_t kw = 0; kw < conv.weights[3]; ++kw) {
        const std::int64_t h = conv.window.at(0, at.oh, kh);
        const std::int64_t w = conv.window.at(1, at.ow, kw);
        const bool inside = h >= 0 && h < image[2] && w >= 0 && w < image[3];
        const std::int64_t s = ((at.n * image[1] + c) * image[2] + h) * image[3] + w;
        const std::int64_t k = ((at.o * depth + i) * conv.weights[2] + kh) * conv.weights[3] + kw;
        const double code = inside ? inputs[kImage].value[static_cast<std::size_t>(s)]
                                   : inputs[kBorder].value[static_cast<std::size_t>(c)];
        sum += code * inputs[kWeights].value[static_cast<std::size_t>(k)];
      }
    }
  }
  return sum;
}

ReferenceTensor reference_bordered(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const IntegerConvolution conv = convolution_of(node);
  const Shape extents = conv.result();
  return reference_planes(
      conv.source, extents, [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
        const ConvolutionPosition at{plane / extents[1], plane % extents[1], oh, ow};
        return Bounded{sum_at(conv, inputs, at), 0.0};
      });
}

BoundProblem lower_bordered(const NodeView& node) {
  const IntegerConvolution conv = convolution_of(node);
  BoundProblem bound = lower_sums(node, families::integer_conv2d, conv.source, conv.result());
  bound.problem.structure =
      numbers_of(problems::Conv2dStructure{conv.window, conv.groups, conv.weights[1]});
  bound.problem.types["acc"] = DType::i32;
  bound.operands["weights"] = {node.input_id(kWeights), conv.source.view({"O", "I", "KH", "KW"})};
  bound.operands["border"] = {node.input_id(kBorder), View::identity({"C"})};
  return bound;
}

}  // namespace

/// Conv of an image of codes and weights of codes, with a border of codes around the image: inputs
/// N x C x (H x) W, O x I x (KH x) KW, and a number for each channel. The sums are exact, of 32
/// bits.
const Operator& operator_BorderedConvInteger() {
  static const Operator kOperator{
      .name = "BorderedConvInteger",
      .inputs = {.least = 3, .most = 3},
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "group"},
      .infer = infer_bordered,
      .host = {.reference = reference_bordered},
      .lower = lower_bordered,
      .types = {DType::u8, DType::i8, DType::i32},
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
