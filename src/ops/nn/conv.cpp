// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/convolution.hpp"
#include "ops/math/convolution_gradient.hpp"
#include "ops/math/summation.hpp"
#include "ops/math/window.hpp"
#include "ops/signals/volume.hpp"
#include "problems/convolution.hpp"

namespace morton::ops {
namespace {

struct Convolution {
  Window window;
  ImageShape source;
  Shape image;    ///< N C H W
  Shape weights;  ///< O I KH KW
  std::int64_t groups = 1;
};

void check_channels(const NodeView& node, const Shape& image, const Shape& weights) {
  const std::int64_t groups = node.integer("group", 1);
  if (weights.size() != image.size()) {
    node.fail("the image is " + to_string(image) + ", the weights " + to_string(weights) +
              ": expected as many dimensions");
  }
  if (groups < 1 || image[1] % groups != 0 || weights[0] % groups != 0) {
    node.fail("group is " + std::to_string(groups) + "; it must divide the " +
              std::to_string(image[1]) + " channels and the " + std::to_string(weights[0]) +
              " outputs");
  }
  if (weights[1] != image[1] / groups) {
    node.fail("the weights are " + to_string(weights) + ", the image " + to_string(image) + " in " +
              std::to_string(groups) + " groups: expected " + std::to_string(image[1] / groups) +
              " channels of weights");
  }
  check_bias(node, weights[0]);
}

Convolution convolution_of(const NodeView& node) {
  Convolution conv;
  const Shape image = node.input(0).shape;
  const Shape weights = node.input(1).shape;
  conv.source = image_of(node, image);
  conv.image = conv.source.shape;
  check_channels(node, image, weights);
  conv.weights = image_of(node, weights).shape;
  const Window::Pair kernel{conv.weights[2], conv.weights[3]};
  conv.window = window_of(node, conv.source, kernel);
  if (pair_of(node, conv.source, "kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(conv.weights));
  }
  conv.groups = node.integer("group", 1);
  return conv;
}

/// N O OH OW.
Shape output_extents(const Convolution& conv) {
  return {conv.image[0], conv.weights[0], conv.window.output[0], conv.window.output[1]};
}

std::vector<TensorType> infer_conv(const NodeView& node) {
  if (is_volume(node)) return infer_composed(node);
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
  if (is_volume(node)) return reference_composed(node, inputs).front();
  const Convolution conv = convolution_of(node);
  return reference_convolution(
      node, conv.source, output_extents(conv), inputs,
      [&](const ConvolutionPosition& at) { return sum_at(conv, at, inputs[0], inputs[1]); });
}

BoundProblem lower_conv(const NodeView& node) {
  const Convolution conv = convolution_of(node);
  BoundProblem bound = lower_convolution(node, families::conv2d, conv.source, output_extents(conv));
  bound.problem.structure = numbers_of(Conv2dStructure{conv.window, conv.groups, conv.weights[1]});
  bound.operands["weights"] = {node.input_id(1), conv.source.view({"O", "I", "KH", "KW"})};
  return bound;
}

/// Of weights [G*O, I, KH, KW] those of the other direction, [G*I, O, KH, KW], each filter turned
/// by half a turn.
TensorId turned_weights(Gradient& gradient, const Convolution& conv) {
  const Shape& shape = conv.weights;
  const std::int64_t outputs = shape[0] / conv.groups;
  TensorId weights = gradient.node().input_id(1);
  if (conv.groups > 1) {
    weights = gradient.reshaped(weights, {conv.groups, outputs, shape[1], shape[2], shape[3]});
    weights = gradient.transposed(weights, {0, 2, 1, 3, 4});
  } else {
    weights = gradient.transposed(gradient.reshaped(weights, shape), {1, 0, 2, 3});
  }
  const Shape swapped{conv.groups * shape[1], outputs, shape[2], shape[3]};
  weights = gradient.reshaped(weights, swapped);
  if (shape[2] == 1 && shape[3] == 1) return weights;
  constexpr std::int64_t kBeforeFirst = std::numeric_limits<std::int64_t>::min();
  return gradient.sliced(weights, {0, 0, -1, -1},
                         {swapped[0], swapped[1], kBeforeFirst, kBeforeFirst}, {1, 1, -1, -1});
}

/// With stride 1 the image's gradient is a convolution again, with the filters turned (by a Slice
/// that steps back); else, and where that would need to cut the gradient, a transposed one.
TensorId gradient_of_image(Gradient& gradient, const Convolution& conv) {
  const Window& window = conv.window;
  std::vector<std::int64_t> pads(4);
  std::vector<std::int64_t> rest(2);
  bool is_convolution = true;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t before = window.reach(d) - 1 - window.before[d];
    const std::int64_t behind = conv.image[d + 2] - window.output[d] + window.before[d];
    rest[d] = conv.image[d + 2] + window.before[d] + window.after[d] - window.reach(d) -
              (window.output[d] - 1) * window.stride[d];
    is_convolution = is_convolution && window.stride[d] == 1 && before >= 0 && behind >= 0;
    pads[d] = before;
    pads[d + 2] = behind;
  }
  const TensorId output_gradient = gradient.reshaped(gradient.of_output(), output_extents(conv));
  GraphWriter::Attributes attributes{{"kernel_shape", list_of(window.kernel)},
                                     {"dilations", list_of(window.dilation)},
                                     {"group", conv.groups}};
  if (is_convolution) {
    attributes["pads"] = pads;
    return gradient.add("Conv", {output_gradient, turned_weights(gradient, conv)}, attributes);
  }
  attributes["pads"] = std::vector<std::int64_t>{window.before[0], window.before[1],
                                                 window.after[0], window.after[1]};
  attributes["strides"] = list_of(window.stride);
  attributes["output_padding"] = rest;
  const TensorId weights = gradient.reshaped(gradient.node().input_id(1), conv.weights);
  return gradient.add("ConvTranspose", {output_gradient, weights}, attributes);
}

TensorId gradient_of_weights(Gradient& gradient, const Convolution& conv) {
  Scan scan;
  scan.image = gradient.reshaped(gradient.node().input_id(0), conv.image);
  scan.results = gradient.reshaped(gradient.of_output(), output_extents(conv));
  scan.image_shape = conv.image;
  scan.results_shape = output_extents(conv);
  scan.window = conv.window;
  scan.groups = conv.groups;
  return gradient_of_filters(gradient, scan);
}

void gradient_of_conv(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Convolution conv = convolution_of(node);
  if (gradient.wants(0)) {
    gradient.give(0, gradient.reshaped(gradient_of_image(gradient, conv), node.input(0).shape));
  }
  if (gradient.wants(1)) {
    gradient.give(1, gradient.reshaped(gradient_of_weights(gradient, conv), node.input(1).shape));
  }
  if (gradient.wants(2)) give_bias_gradient(gradient);
}

/// A convolution of several directions, made plain.
struct Volume {
  Shape image;    ///< N C and the extents
  Shape weights;  ///< O I and the kernel
  std::vector<DepthWindow> windows;
};

/// Neighbouring directions in which every window is a single element are one.
Volume merged(const Volume& volume) {
  Volume result;
  result.image = {volume.image[0], volume.image[1]};
  result.weights = {volume.weights[0], volume.weights[1]};
  for (std::size_t d = 0; d < volume.windows.size(); ++d) {
    const DepthWindow& window = volume.windows[d];
    if (d > 0 && window.is_trivial() && result.windows.back().is_trivial()) {
      result.image.back() *= volume.image[d + 2];
      result.windows.back().output *= window.output;
      continue;
    }
    result.image.push_back(volume.image[d + 2]);
    result.weights.push_back(volume.weights[d + 2]);
    result.windows.push_back(window);
  }
  return result;
}

TensorId convolved(Expansion& expansion, TensorId image, TensorId weights, const Volume& volume) {
  GraphWriter::Attributes attributes = attributes_of(volume.windows);
  attributes["group"] = expansion.node().integer("group", 1);
  std::vector<TensorId> inputs{image, weights};
  if (expansion.node().has_input(2)) inputs.push_back(expansion.input(2));
  return expansion.add("Conv", std::move(inputs), std::move(attributes));
}

/// The depth's part of the kernel becomes channels: each output image is a convolution of the
/// slices that its window holds.
TensorId without_depth(Expansion& expansion, TensorId image, TensorId weights, Volume volume) {
  const DepthWindow depth = volume.windows.front();
  const TensorId slices = depth_slices(expansion, image, depth);
  const std::int64_t batch = volume.image[0];
  volume.weights[1] *= depth.kernel;
  volume.weights.erase(volume.weights.begin() + 2);
  volume.windows.erase(volume.windows.begin());
  const TensorId images =
      convolved(expansion, slices, expansion.reshaped(weights, volume.weights), volume);
  Shape shape = expansion.shape_of(images);
  std::vector<std::int64_t> order{0, 2, 1};
  for (std::size_t d = 2; d < shape.size(); ++d) order.push_back(static_cast<std::int64_t>(d + 1));
  shape[0] = depth.output;
  shape.insert(shape.begin(), batch);
  return expansion.transposed(expansion.reshaped(images, shape), order);
}

std::vector<TensorId> expand_conv(Expansion& expansion) {
  const NodeView& node = expansion.node();
  if (!is_volume(node)) return {};
  Volume volume{node.input(0).shape, node.input(1).shape, {}};
  check_channels(node, volume.image, volume.weights);
  const Shape kernel(volume.weights.begin() + 2, volume.weights.end());
  check_directions(node, kernel.size());
  if (node.integers("kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(volume.weights));
  }
  volume.windows = depth_windows_of(expansion, volume.image, kernel);
  Shape result{volume.image[0], volume.weights[0]};
  for (const DepthWindow& window : volume.windows) result.push_back(window.output);
  const Volume plain = merged(volume);
  const TensorId image = expansion.reshaped(expansion.input(0), plain.image);
  const TensorId weights = expansion.reshaped(expansion.input(1), plain.weights);
  const TensorId value = plain.windows.size() > 2 ? without_depth(expansion, image, weights, plain)
                                                  : convolved(expansion, image, weights, plain);
  return {expansion.reshaped(value, result)};
}

}  // namespace

const Operator& operator_Conv() {
  static const Operator kOperator{
      .name = "Conv",
      .inputs = {.least = 2, .most = 3, .parameters = {1, 2}},
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "group"},
      .since_opset = 1,
      .infer = infer_conv,
      .host = {.reference = reference_conv},
      .lower = lower_conv,
      .expand = expand_conv,
      .gradient = gradient_of_conv,
  };
  return kOperator;
}

}  // namespace morton::ops
