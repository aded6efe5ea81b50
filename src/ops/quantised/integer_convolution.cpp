// SPDX-License-Identifier: Apache-2.0
#include "ops/quantised/integer_convolution.hpp"

#include <algorithm>
#include <optional>

#include "base/shape.hpp"
#include "ops/composed/writing.hpp"
#include "ops/quantised/codes.hpp"
#include "ops/signals/volume.hpp"

namespace morton::ops {
namespace {

/// Whole numbers up to this are exact in f32.
constexpr std::int64_t kMostExact = std::int64_t{1} << 24;
/// A difference of two codes is no further from 0.
constexpr std::int64_t kMostDifference = 255;

struct Operands {
  ConvolutionInputs at;
  Shape image;    ///< N C and the extents
  Shape weights;  ///< O I and the kernel
  std::vector<DepthWindow> windows;
  std::int64_t groups = 1;
  std::int64_t taps = 1;
  std::int64_t places = 1;

  [[nodiscard]] std::int64_t terms() const { return weights[1] * taps; }
  [[nodiscard]] bool is_padded() const {
    for (const DepthWindow& window : windows) {
      if (window.before > 0 || window.after > 0) return true;
    }
    return false;
  }
  /// The image is the matrix of its windows.
  [[nodiscard]] bool is_product() const {
    for (const DepthWindow& window : windows) {
      if (!window.is_trivial()) return false;
    }
    return image[0] == 1;
  }
};

void check_shapes(const NodeView& node, const Operands& of) {
  const std::string both =
      "the image is " + to_string(of.image) + ", the weights " + to_string(of.weights);
  if (of.image.size() < 3 || of.weights.size() != of.image.size()) {
    node.fail(both + "; expected N x C x (extents) and O x I x (kernel), as many dimensions");
  }
  if (of.groups < 1 || of.image[1] % of.groups != 0 || of.weights[0] % of.groups != 0) {
    node.fail("group is " + std::to_string(of.groups) + "; it must divide the " +
              std::to_string(of.image[1]) + " channels and the " + std::to_string(of.weights[0]) +
              " outputs");
  }
  if (of.weights[1] * of.groups != of.image[1]) {
    node.fail(both + " in " + std::to_string(of.groups) + " groups; expected " +
              std::to_string(of.image[1] / of.groups) + " channels of weights");
  }
  const Shape kernel(of.weights.begin() + 2, of.weights.end());
  if (node.integers("kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(of.weights));
  }
}

Operands operands_of(const Expansion& to, const ConvolutionInputs& at) {
  const NodeView& node = to.node();
  require_codes(node, at.x);
  require_codes(node, at.weights);
  Operands of;
  of.at = at;
  of.image = node.input(at.x).shape;
  of.weights = node.input(at.weights).shape;
  of.groups = node.integer("group", 1);
  check_shapes(node, of);
  require_zero_point(node, at.zero_x, node.input(at.x).dtype);
  require_zero_point(node, at.zero_weights, node.input(at.weights).dtype, of.weights[0]);
  const Shape kernel(of.weights.begin() + 2, of.weights.end());
  check_directions(node, kernel.size());
  of.windows = depth_windows_of(to, of.image, kernel);
  for (const DepthWindow& window : of.windows) {
    of.taps *= window.kernel;
    of.places *= window.output;
  }
  return of;
}

/// The image with its zero point around it: no window leaves it.
TensorId bordered(Expansion& to, const Operands& of) {
  const NodeView& node = to.node();
  TensorId value = to.input(of.at.x);
  if (!of.is_padded()) return value;
  const DType type = to.type_of(value);
  const Tensor* known = node.constant(of.at.zero_x);
  if (known != nullptr || !node.has_input(of.at.zero_x)) {
    std::vector<std::int64_t> pads(2 * of.image.size(), 0);
    for (std::size_t d = 0; d < of.windows.size(); ++d) {
      pads[d + 2] = of.windows[d].before;
      pads[of.image.size() + d + 2] = of.windows[d].after;
    }
    const double zero = known != nullptr ? known->at(0) : 0.0;
    return to.add("Pad", {value, to.list(pads), to.scalar(type, zero)});
  }
  const TensorId zero = single(to, of.at.zero_x);  // a run gives it
  for (std::size_t d = 0; d < of.windows.size(); ++d) {
    const auto border = [&](std::int64_t extent) {
      Shape shape = to.shape_of(value);
      shape[d + 2] = extent;
      return to.expanded(zero, shape);
    };
    std::vector<TensorId> parts;
    if (of.windows[d].before > 0) parts.push_back(border(of.windows[d].before));
    parts.push_back(value);
    if (of.windows[d].after > 0) parts.push_back(border(of.windows[d].after));
    value = joined_along(to, parts, static_cast<std::int64_t>(d + 2));
  }
  return value;
}

/// A column for each window: (C * taps) x (N * places).
TensorId columns_of(Expansion& to, const Operands& of) {
  const Shape columns{of.image[1] * of.taps, of.image[0] * of.places};
  if (of.is_product()) return to.reshaped(to.input(of.at.x), columns);
  std::vector<std::int64_t> kernel, strides, dilations, output;
  for (const DepthWindow& window : of.windows) {
    kernel.push_back(window.kernel);
    strides.push_back(window.stride);
    dilations.push_back(window.dilation);
    output.push_back(window.output);
  }
  const TensorId taps = to.add(
      "Unfold", {bordered(to, of)},
      {{"kernel", kernel}, {"strides", strides}, {"dilations", dilations}, {"output", output}});
  return to.reshaped(taps, columns);
}

/// The weights without their zero points as codes of i8, where they are known and fit.
std::optional<Tensor> plain_weights(const NodeView& node, const Operands& of) {
  const Tensor* codes = node.constant(of.at.weights);
  const Tensor* zeros = node.constant(of.at.zero_weights);
  if (codes == nullptr || (zeros == nullptr && node.has_input(of.at.zero_weights))) return {};
  Tensor plain = Tensor::allocate(DType::i8, of.weights);
  const std::int64_t filter = of.terms();
  auto* to = plain.as_mutable<std::int8_t>().data();
  for (std::int64_t i = 0; i < codes->size(); ++i) {
    const double zero = zeros == nullptr ? 0.0 : zeros->at(zeros->size() == 1 ? 0 : i / filter);
    const double code = codes->at(i) - zero;
    if (code < -128.0 || code > 127.0) return {};
    to[i] = static_cast<std::int8_t>(code);
  }
  return plain;
}

/// The sum of each filter, i32.
Tensor filter_sums(const Tensor& weights, const Shape& lines) {
  Tensor sums = Tensor::allocate(DType::i32, lines);
  const std::int64_t filter = weights.size() / lines[0];
  for (std::int64_t i = 0; i < weights.size(); ++i) {
    sums.as_mutable<std::int32_t>()[static_cast<std::size_t>(i / filter)] +=
        weights.as<std::int8_t>()[static_cast<std::size_t>(i)];
  }
  return sums;
}

bool is_image(const Operands& of) {
  return of.image.size() <= 4 && std::ranges::all_of(of.windows, [](const DepthWindow& window) {
           return window.before >= 0 && window.after >= 0;
         });
}

/// A convolution of codes: the border around the image is its zero point, so that the weights'
/// sums make up for that everywhere alike.
void find_bordered_sums(Expansion& to, const Operands& of, const Tensor& weights,
                        ConvolutionSums& made) {
  const DType type = to.node().input(of.at.x).dtype;
  const TensorId zero = zero_point(to, of.at.zero_x, type);
  GraphWriter::Attributes attributes = attributes_of(of.windows);
  attributes["group"] = of.groups;
  const TensorId border = to.expanded(zero, {of.image[1]});
  made.sums =
      to.add("BorderedConvInteger", {to.input(of.at.x), to.constant(weights), border}, attributes);
  const Tensor* known = to.node().constant(of.at.zero_x);
  if (!to.node().has_input(of.at.zero_x) || (known != nullptr && known->at(0) == 0.0)) return;
  ChainWriter product(to);
  const ScalarRef sum = product.tensor(to.constant(filter_sums(weights, made.lines)));
  product.step(ScalarOp::mul, {sum, product.operand(zero, DType::i32)});
  made.excess = product.write();
}

/// A product of weights and columns.
TensorId product_sums(Expansion& to, const Operands& of, const ConvolutionSums& made) {
  const NodeView& node = to.node();
  const std::int64_t outputs = of.weights[0] / of.groups;
  Shape weights{outputs, of.terms()};
  Shape columns{of.terms(), of.image[0] * of.places};
  if (of.groups > 1) {
    weights.insert(weights.begin(), of.groups);
    columns.insert(columns.begin(), of.groups);
  }
  std::vector<TensorId> inputs{to.reshaped(to.input(of.at.weights), weights),
                               to.reshaped(columns_of(to, of), columns)};
  TensorId zero = to.input(of.at.zero_weights);
  if (zero != kNoTensor) {
    const bool is_one = element_count(to.shape_of(zero)) == 1;
    zero = is_one ? single(to, of.at.zero_weights) : made.spread(to, zero);
  }
  inputs.push_back(zero);
  inputs.push_back(node.has_input(of.at.zero_x) ? single(to, of.at.zero_x) : kNoTensor);
  while (inputs.back() == kNoTensor) inputs.pop_back();
  return to.add("MatMulInteger", std::move(inputs));
}

/// Input `i` without its zero point, in f32. `shape` is that of numbers for each output.
TensorId differences(Expansion& to, std::size_t i, std::size_t zero, const Shape& shape) {
  ChainWriter chain(to);
  const ScalarRef code = chain.operand(to.input(i), DType::f32);
  if (to.node().has_input(zero)) {
    const bool is_one = element_count(to.node().input(zero).shape) == 1;
    const TensorId numbers = is_one ? single(to, zero) : to.reshaped(to.input(zero), shape);
    chain.less_zero(code, chain.operand(numbers, DType::f32));
  }
  return chain.write();
}

/// Few terms in several groups: a convolution in f32, in which such sums are exact. Recipes that
/// would round (Winograd's) take no groups.
TensorId convolved_sums(Expansion& to, const Operands& of) {
  Shape lines(of.image.size(), 1);
  lines[0] = of.weights[0];
  const TensorId image = differences(to, of.at.x, of.at.zero_x, {});
  const TensorId weights = differences(to, of.at.weights, of.at.zero_weights, lines);
  GraphWriter::Attributes attributes = attributes_of(of.windows);
  attributes["group"] = of.groups;
  const TensorId sums = to.add("Conv", {image, weights}, std::move(attributes));
  Chain whole;
  whole.append_conversion(ScalarOp::saturate, ScalarRef::input(0), DType::i32);
  return to.chain(whole, {sums});
}

}  // namespace

TensorId ConvolutionSums::spread(GraphWriter& to, TensorId numbers) const {
  return element_count(to.shape_of(numbers)) == 1 ? numbers : to.reshaped(numbers, lines);
}

TensorId ConvolutionSums::whole(GraphWriter& to) const {
  return excess == kNoTensor ? sums : to.apply(ScalarOp::sub, {sums, excess});
}

TensorId ConvolutionSums::arranged(GraphWriter& to, TensorId value) const {
  if (to.shape_of(value) == result) return value;
  const std::int64_t images = result[0];
  if (images == 1) return to.reshaped(value, result);
  const Shape places(result.begin() + 2, result.end());
  const Shape apart{result[1], images, element_count(places)};
  return to.reshaped(to.transposed(to.reshaped(value, apart), {1, 0, 2}), result);
}

ConvolutionSums convolution_sums(Expansion& to, const ConvolutionInputs& at) {
  const Operands of = operands_of(to, at);
  ConvolutionSums made;
  made.result = {of.image[0], of.weights[0]};
  for (const DepthWindow& window : of.windows) made.result.push_back(window.output);
  const std::optional<Tensor> plain = is_image(of) ? plain_weights(to.node(), of) : std::nullopt;
  if (plain) {
    made.lines = Shape(of.image.size() - 1, 1);
    made.lines[0] = of.weights[0];
    find_bordered_sums(to, of, *plain, made);
    return made;
  }
  if (of.groups > 1 && of.terms() <= kMostExact / (kMostDifference * kMostDifference)) {
    made.lines = Shape(of.image.size() - 1, 1);
    made.lines[0] = of.weights[0];
    made.sums = convolved_sums(to, of);
    return made;
  }
  made.lines = {of.weights[0], 1};
  if (of.groups > 1) made.lines = {of.groups, of.weights[0] / of.groups, 1};
  made.sums = product_sums(to, of, made);
  return made;
}

}  // namespace morton::ops
