// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/convolution.hpp"
#include "ops/math/convolution_gradient.hpp"
#include "ops/math/summation.hpp"
#include "ops/math/window.hpp"
#include "ops/signals/volume.hpp"
#include "ops/signals/volume_blocks.hpp"
#include "problems/convolution.hpp"

namespace morton::ops {
namespace {

/// The window lies over the result here: an element of the image, times the filter, is added there.
struct Transposed {
  Window window;  ///< `output` is the result's extent
  ImageShape source;
  Shape image;    ///< N C H W
  Shape weights;  ///< C J KH KW
  std::int64_t groups = 1;
  [[nodiscard]] std::int64_t outputs() const { return weights[1] * groups; }
};

void check_transposed_channels(const NodeView& node, const Shape& image, const Shape& weights) {
  const std::int64_t groups = node.integer("group", 1);
  if (weights.size() != image.size()) {
    node.fail("the image is " + to_string(image) + ", the weights " + to_string(weights) +
              ": expected as many dimensions");
  }
  if (groups < 1 || image[1] % groups != 0) {
    node.fail("group is " + std::to_string(groups) + "; it must divide the " +
              std::to_string(image[1]) + " channels");
  }
  if (weights[0] != image[1]) {
    node.fail("the weights are " + to_string(weights) + ", the image " + to_string(image) +
              ": expected weights of " + std::to_string(image[1]) + " channels first");
  }
  check_bias(node, checked_mul(weights[1], groups, "ConvTranspose"));
}

/// The result's extent and the padding in direction d: the padding as it is given, or what makes
/// the extent that is asked for (output_shape, auto_pad SAME: as many elements as strides).
void place(const NodeView& node, Transposed& conv, std::size_t d, std::int64_t added,
           std::int64_t asked) {
  Window& window = conv.window;
  const std::int64_t extent = conv.image[d + 2];
  const std::int64_t natural =
      checked_mul(extent - 1, window.stride[d], "ConvTranspose") + window.reach(d) + added;
  const std::string mode = node.text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (asked == 0 && same) asked = checked_mul(extent, window.stride[d], "ConvTranspose");
  if (asked == 0) {
    window.output[d] = natural - window.before[d] - window.after[d];
  } else {
    // Where more is asked for than there is, what is behind the last product stays empty.
    const std::int64_t total = std::max<std::int64_t>(natural - asked, 0);
    const std::int64_t smaller = total / 2;
    window.before[d] = mode == "SAME_UPPER" ? smaller : total - smaller;
    window.after[d] = total - window.before[d];
    window.output[d] = asked;
  }
  if (window.output[d] < 1) {
    node.fail("the result would have " + std::to_string(window.output[d]) +
              (d == 0 ? " rows" : " columns"));
  }
}

Transposed transposed_of(const NodeView& node) {
  Transposed conv;
  const Shape image = node.input(0).shape;
  const Shape weights = node.input(1).shape;
  conv.source = image_of(node, image);
  conv.image = conv.source.shape;
  check_transposed_channels(node, image, weights);
  conv.weights = image_of(node, weights).shape;
  conv.groups = node.integer("group", 1);
  const Window::Pair kernel{conv.weights[2], conv.weights[3]};
  conv.window = scan_of(node, conv.source, kernel);
  if (pair_of(node, conv.source, "kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(conv.weights));
  }
  const Window::Pair added = pair_of(node, conv.source, "output_padding", {0, 0});
  Window::Pair asked{0, 0};
  if (node.has("output_shape")) {
    // Some exporters write the whole shape, N and C before the image's extents.
    auto extents = node.integers("output_shape", {});
    if (extents.size() == image.size()) extents.erase(extents.begin(), extents.begin() + 2);
    if (extents.size() + 2 != image.size()) {
      node.fail("output_shape has " + std::to_string(extents.size()) + " numbers, expected " +
                std::to_string(image.size() - 2));
    }
    asked = conv.source.line ? Window::Pair{1, extents[0]} : Window::Pair{extents[0], extents[1]};
  }
  for (std::size_t d = 0; d < 2; ++d) {
    if (added[d] < 0 || asked[d] < 0) node.fail("output_padding or output_shape is negative");
    place(node, conv, d, added[d], asked[d]);
  }
  return conv;
}

/// N O OH OW.
Shape output_extents(const Transposed& conv) {
  return {conv.image[0], conv.outputs(), conv.window.output[0], conv.window.output[1]};
}

std::vector<TensorType> infer_conv_transpose(const NodeView& node) {
  if (is_volume(node)) return infer_composed(node);
  const Transposed conv = transposed_of(node);
  return {{node.input(0).dtype, conv.source.own(output_extents(conv))}};
}

/// The image's row (or column) that position k of the filter puts on element `o` of the result; -1
/// where there is none.
std::int64_t source_of(const Window& window, const Shape& image, std::size_t d, std::int64_t o,
                       std::int64_t k) {
  const std::int64_t moved = o + window.before[d] - k * window.dilation[d];
  if (moved < 0 || moved % window.stride[d] != 0) return -1;
  const std::int64_t at = moved / window.stride[d];
  return at < image[d + 2] ? at : -1;
}

Bounded sum_at(const Transposed& conv, const ConvolutionPosition& at, const ReferenceTensor& source,
               const ReferenceTensor& weights) {
  const std::int64_t depth = conv.image[1] / conv.groups;
  const std::int64_t first = at.o / conv.weights[1] * depth;
  BoundedSum sum;
  for (std::int64_t kh = 0; kh < conv.weights[2]; ++kh) {
    for (std::int64_t kw = 0; kw < conv.weights[3]; ++kw) {
      const std::int64_t h = source_of(conv.window, conv.image, 0, at.oh, kh);
      const std::int64_t w = source_of(conv.window, conv.image, 1, at.ow, kw);
      if (h < 0 || w < 0) continue;
      for (std::int64_t c = first; c < first + depth; ++c) {
        const auto s = static_cast<std::size_t>(
            ((at.n * conv.image[1] + c) * conv.image[2] + h) * conv.image[3] + w);
        const auto k = static_cast<std::size_t>(
            ((c * conv.weights[1] + at.o % conv.weights[1]) * conv.weights[2] + kh) *
                conv.weights[3] +
            kw);
        sum.add_product({source.value[s], source.error[s]}, {weights.value[k], weights.error[k]});
      }
    }
  }
  return sum.result();
}

ReferenceTensor reference_conv_transpose(const NodeView& node,
                                         std::span<const ReferenceTensor> inputs) {
  if (is_volume(node)) return reference_composed(node, inputs).front();
  const Transposed conv = transposed_of(node);
  return reference_convolution(
      node, conv.source, output_extents(conv), inputs,
      [&](const ConvolutionPosition& at) { return sum_at(conv, at, inputs[0], inputs[1]); });
}

BoundProblem lower_conv_transpose(const NodeView& node) {
  const Transposed conv = transposed_of(node);
  BoundProblem bound =
      lower_convolution(node, families::conv_transpose2d, conv.source, output_extents(conv));
  bound.problem.structure =
      numbers_of(ConvTranspose2dStructure{conv.window, conv.groups, conv.weights[1]});
  bound.operands["weights"] = {node.input_id(1), conv.source.view({"C", "J", "KH", "KW"})};
  return bound;
}

/// The image's gradient is the convolution whose gradient this operator is; the weights' gradient
/// is that of its weights, with image and gradient in each other's place.
void gradient_of_conv_transpose(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Transposed conv = transposed_of(node);
  const Window& window = conv.window;
  if (window.before[0] < 0 || window.before[1] < 0) {
    node.unsupported("has no gradient where its padding is negative");
  }
  Scan scan;
  scan.image = gradient.reshaped(gradient.of_output(), output_extents(conv));
  scan.results = gradient.reshaped(node.input_id(0), conv.image);
  scan.image_shape = output_extents(conv);
  scan.results_shape = conv.image;
  scan.window = window;
  scan.groups = conv.groups;
  if (gradient.wants(0)) {
    const TensorId weights = gradient.reshaped(node.input_id(1), conv.weights);
    const TensorId whole = gradient.add("Conv", {scan.image, weights},
                                        {{"kernel_shape", list_of(window.kernel)},
                                         {"strides", list_of(window.stride)},
                                         {"dilations", list_of(window.dilation)},
                                         {"pads", pads_of(scan)},
                                         {"group", conv.groups}});
    const TensorId image = cut_to(gradient, whole, conv.image);
    gradient.give(0, gradient.reshaped(image, node.input(0).shape));
  }
  if (gradient.wants(1)) {
    const TensorId weights = gradient_of_filters(gradient, scan);
    gradient.give(1, gradient.reshaped(weights, node.input(1).shape));
  }
  if (gradient.wants(2)) give_bias_gradient(gradient);
}

/// The first direction of `node`, whose image and kernel have these extents there.
Window depth_of(const Expansion& expansion, std::int64_t extent, std::int64_t kernel) {
  const NodeView& node = expansion.node();
  const Node single = with_directions(node, 0, 1, node.input(0).shape.size() - 2);
  const NodeView view(expansion.graph(), single);
  Transposed conv;
  conv.source = {{1, 1, 1, extent}, true};
  conv.image = conv.source.shape;
  conv.window = scan_of(view, conv.source, {1, kernel});
  const std::int64_t added = view.integers("output_padding", {0}).front();
  const std::int64_t asked = view.integers("output_shape", {0}).front();
  if (added < 0 || asked < 0) node.fail("output_padding or output_shape is negative");
  place(view, conv, 1, added, asked);
  return conv.window;
}

/// Each slice by itself gives as many slices as the kernel is deep, which are added where they
/// meet.
TensorId folded_slices(Expansion& expansion, const Shape& image, Shape weights) {
  const NodeView& node = expansion.node();
  const Shape kernel(weights.begin() + 2, weights.end());
  const Window depth = depth_of(expansion, image[2], kernel[0]);
  const DepthWindow window{kernel[0],       depth.stride[1], depth.dilation[1],
                           depth.before[1], depth.after[1],  image[2]};
  const Node flat = with_directions(node, 1, kernel.size() - 1, kernel.size());
  weights[1] *= kernel[0];
  weights.erase(weights.begin() + 2);
  const TensorId slices =
      expansion.add("ConvTranspose",
                    {depth_slices(expansion, expansion.input(0), {.output = image[2]}),
                     expansion.reshaped(expansion.input(1), weights)},
                    flat.attributes);
  return fold_slices(expansion, slices, window, image[0], depth.output[1]);
}

std::vector<TensorId> expand_conv_transpose(Expansion& expansion) {
  const NodeView& node = expansion.node();
  if (!is_volume(node)) return {};
  const Shape image = node.input(0).shape;
  const Shape weights = node.input(1).shape;
  check_transposed_channels(node, image, weights);
  const Shape kernel(weights.begin() + 2, weights.end());
  check_directions(node, kernel.size());
  if (node.integers("kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(weights));
  }
  const TensorId sum = is_side_by_side(node, kernel) ? blocks_of(expansion, image, weights)
                                                     : folded_slices(expansion, image, weights);
  if (!node.has_input(2)) return {sum};
  Shape each(image.size() - 1, 1);
  each[0] = node.input(2).shape[0];
  return {expansion.apply(ScalarOp::add, {sum, expansion.reshaped(expansion.input(2), each)})};
}

}  // namespace

const Operator& operator_ConvTranspose() {
  static const Operator kOperator{
      .name = "ConvTranspose",
      .inputs = {.least = 2, .most = 3, .parameters = {1, 2}},
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "group",
                     "output_padding", "output_shape"},
      .since_opset = 1,
      .infer = infer_conv_transpose,
      .host = {.reference = reference_conv_transpose},
      .lower = lower_conv_transpose,
      .expand = expand_conv_transpose,
      .gradient = gradient_of_conv_transpose,
  };
  return kOperator;
}

}  // namespace morton::ops
