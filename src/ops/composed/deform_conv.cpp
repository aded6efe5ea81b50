// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/composed/writing.hpp"
#include "ops/core/made_constant.hpp"
#include "ops/math/window.hpp"

namespace morton::ops {
namespace {

/// Source: J. Dai and others, "Deformable convolutional networks" (2017); the mask is of X. Zhu and
/// others, "Deformable ConvNets v2" (2019).
struct DeformedConvolution {
  Window window;
  Shape image;    ///< N C H W
  Shape weights;  ///< O I KH KW
  std::int64_t groups = 1;
  std::int64_t offset_groups = 1;
  [[nodiscard]] std::int64_t taps() const { return weights[2] * weights[3]; }
  [[nodiscard]] std::int64_t places() const { return window.output[0] * window.output[1]; }
  /// Images that are moved alike.
  [[nodiscard]] std::int64_t parts() const { return image[0] * offset_groups; }
};

DeformedConvolution deformed_of(const NodeView& node) {
  DeformedConvolution conv;
  conv.image = node.input(0).shape;
  conv.weights = node.input(1).shape;
  require_image(node, conv.image);
  if (conv.weights.size() != 4) {
    node.fail("the weights are " + to_string(conv.weights) + ", expected O x I x KH x KW");
  }
  conv.groups = node.integer("group", 1);
  conv.offset_groups = node.integer("offset_group", 1);
  if (conv.groups < 1 || conv.offset_groups < 1 || conv.image[1] % conv.groups != 0 ||
      conv.weights[0] % conv.groups != 0 || conv.image[1] % conv.offset_groups != 0) {
    node.fail("group " + std::to_string(conv.groups) + " and offset_group " +
              std::to_string(conv.offset_groups) + " must divide the " +
              std::to_string(conv.image[1]) + " channels, group also the " +
              std::to_string(conv.weights[0]) + " outputs");
  }
  if (conv.weights[1] * conv.groups != conv.image[1]) {
    node.fail("the weights are " + to_string(conv.weights) + ", expected " +
              std::to_string(conv.image[1] / conv.groups) + " channels of them");
  }
  const std::vector<std::int64_t> kernel{conv.weights[2], conv.weights[3]};
  if (node.integers("kernel_shape", kernel) != kernel) {
    node.fail("kernel_shape does not agree with the weights, " + to_string(conv.weights));
  }
  const ImageShape image{conv.image, false};
  conv.window = window_of(node, image, {kernel[0], kernel[1]});
  const std::int64_t numbers = conv.offset_groups * conv.taps();
  const Shape places{conv.image[0], numbers, conv.window.output[0], conv.window.output[1]};
  require_shape(node, 2, {places[0], 2 * numbers, places[2], places[3]}, "the offset");
  require_shape(node, 3, {conv.weights[0]}, "the bias");
  require_shape(node, 4, places, "the mask");
  return conv;
}

/// Where the taps read: parts x taps x places, of direction d (0: rows, 1: columns).
TensorId positions_of(Expansion& expansion, const DeformedConvolution& conv, std::size_t d) {
  const Window& window = conv.window;
  const NodeView& node = expansion.node();
  Tensor grid = made_constant(node.input(2).dtype, {conv.taps(), conv.places()}, node.where());
  for (std::int64_t tap = 0; tap < conv.taps(); ++tap) {
    const std::int64_t k = d == 0 ? tap / conv.weights[3] : tap % conv.weights[3];
    for (std::int64_t place = 0; place < conv.places(); ++place) {
      const std::int64_t o = d == 0 ? place / window.output[1] : place % window.output[1];
      grid.set(tap * conv.places() + place, static_cast<double>(window.at(d, o, k)));
    }
  }
  const auto first = static_cast<std::int64_t>(d);
  const TensorId pairs =
      expansion.reshaped(expansion.input(2), {conv.parts(), conv.taps(), 2, conv.places()});
  const TensorId offsets = expansion.reshaped(
      expansion.sliced(pairs, {0, 0, first, 0},
                       {conv.parts(), conv.taps(), first + 1, conv.places()}, {1, 1, 1, 1}),
      {conv.parts(), conv.taps(), conv.places()});
  return expansion.apply(ScalarOp::add, {offsets, expansion.constant(std::move(grid))});
}

/// One of the four elements around a position: the lower or the upper row and column.
struct Corner {
  double row, column;
};

/// Appends the row (or column) of a corner.
ScalarRef corner_at(Chain& chain, int input, double further) {
  const ScalarRef whole = chain.append(ScalarOp::floor, {ScalarRef::input(input)});
  return chain.append(ScalarOp::add, {whole, ScalarRef::constant(further)});
}

/// Number of the corner's element among all parts' elements, kept within the image.
TensorId indices_of(Expansion& expansion, const DeformedConvolution& conv, TensorId rows,
                    TensorId columns, Corner corner) {
  Tensor firsts = Tensor::allocate(DType::i32, {conv.parts(), 1, 1});
  const std::int64_t elements = conv.image[2] * conv.image[3];
  for (std::int64_t i = 0; i < conv.parts(); ++i) {
    firsts.set(i, static_cast<double>(i * elements));
  }
  Chain chain;
  chain.input_count = 3;
  const auto kept = [&](int input, double further, std::int64_t extent) {
    ScalarRef at = corner_at(chain, input, further);
    at = chain.append(ScalarOp::max, {at, ScalarRef::constant(0.0)});
    at = chain.append(ScalarOp::min, {at, ScalarRef::constant(static_cast<double>(extent - 1))});
    return chain.append_conversion(ScalarOp::cast, at, DType::i32);
  };
  const ScalarRef row = kept(0, corner.row, conv.image[2]);
  const ScalarRef column = kept(1, corner.column, conv.image[3]);
  const ScalarRef line =
      chain.append(ScalarOp::mul, {row, ScalarRef::constant(static_cast<double>(conv.image[3]))});
  const ScalarRef element = chain.append(ScalarOp::add, {line, column});
  chain.append(ScalarOp::add, {element, ScalarRef::input(2)});
  return expansion.chain(chain, {rows, columns, expansion.constant(std::move(firsts))});
}

/// The corner's share of the value: 0 where it lies outside.
TensorId shares_of(Expansion& expansion, const DeformedConvolution& conv, TensorId rows,
                   TensorId columns, Corner corner) {
  Chain chain;
  const ScalarRef one = ScalarRef::constant(1.0);
  const auto share = [&](int input, double further, std::int64_t extent) {
    const ScalarRef position = ScalarRef::input(input);
    const ScalarRef at = corner_at(chain, input, further);
    const ScalarRef from_lower = chain.append(ScalarOp::less_equal, {ScalarRef::constant(0.0), at});
    const ScalarRef to_upper = chain.append(
        ScalarOp::less_equal, {at, ScalarRef::constant(static_cast<double>(extent - 1))});
    const ScalarRef inside = chain.append(ScalarOp::logical_and, {from_lower, to_upper});
    const ScalarRef distance = further > 0.0 ? chain.append(ScalarOp::sub, {at, position})
                                             : chain.append(ScalarOp::sub, {position, at});
    const ScalarRef weight = chain.append(ScalarOp::sub, {one, distance});
    return chain.append(ScalarOp::select, {inside, weight, ScalarRef::constant(0.0)});
  };
  const ScalarRef row = share(0, corner.row, conv.image[2]);
  const ScalarRef column = share(1, corner.column, conv.image[3]);
  ScalarRef product = chain.append(ScalarOp::mul, {row, column});
  std::vector<TensorId> operands{rows, columns};
  if (expansion.node().has_input(4)) {
    product = chain.append(ScalarOp::mul, {product, ScalarRef::input(2)});
    operands.push_back(expansion.reshaped(expansion.input(4), expansion.shape_of(rows)));
  }
  chain.input_count = static_cast<int>(operands.size());
  return expansion.chain(chain, operands);
}

/// What the taps read: N x C x taps x places.
TensorId columns_of(Expansion& expansion, const DeformedConvolution& conv) {
  const Shape& image = conv.image;
  const std::int64_t channels = image[1] / conv.offset_groups;
  const std::int64_t elements = image[2] * image[3];
  const std::int64_t reads = conv.parts() * conv.taps() * conv.places();
  // The channels of an element side by side.
  const TensorId apart = expansion.reshaped(expansion.input(0), {conv.parts(), channels, elements});
  const TensorId table = expansion.reshaped(expansion.transposed(apart, {0, 2, 1}),
                                            {conv.parts() * elements, channels});
  const TensorId rows = positions_of(expansion, conv, 0);
  const TensorId columns = positions_of(expansion, conv, 1);
  TensorId sum = kNoTensor;
  for (const Corner corner : {Corner{0, 0}, Corner{0, 1}, Corner{1, 0}, Corner{1, 1}}) {
    const TensorId indices =
        expansion.reshaped(indices_of(expansion, conv, rows, columns, corner), {reads});
    const TensorId read = expansion.add("Gather", {table, indices});
    const TensorId share =
        expansion.reshaped(shares_of(expansion, conv, rows, columns, corner), {reads, 1});
    Chain chain;
    chain.input_count = sum == kNoTensor ? 2 : 3;
    const ScalarRef part = chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
    std::vector<TensorId> operands{read, share};
    if (sum != kNoTensor) {
      chain.append(ScalarOp::add, {part, ScalarRef::input(2)});
      operands.push_back(sum);
    }
    sum = expansion.chain(chain, operands);
  }
  const TensorId taps =
      expansion.reshaped(sum, {conv.parts(), conv.taps() * conv.places(), channels});
  return expansion.transposed(taps, {0, 2, 1});
}

std::vector<TensorId> expand_deform_conv(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const DeformedConvolution conv = deformed_of(node);
  const std::int64_t depth = conv.weights[1] * conv.taps();
  const TensorId columns = expansion.reshaped(columns_of(expansion, conv),
                                              {conv.image[0], conv.groups, depth, conv.places()});
  const TensorId weights = expansion.reshaped(
      expansion.input(1), {1, conv.groups, conv.weights[0] / conv.groups, depth});
  TensorId result = expansion.add("MatMul", {weights, columns});
  result = expansion.reshaped(
      result, {conv.image[0], conv.weights[0], conv.window.output[0], conv.window.output[1]});
  if (!node.has_input(3)) return {result};
  return {expansion.apply(
      ScalarOp::add, {result, expansion.reshaped(expansion.input(3), {conv.weights[0], 1, 1})})};
}

}  // namespace

const Operator& operator_DeformConv() {
  static const Operator kOperator{
      .name = "DeformConv",
      .inputs = {.least = 3, .most = 5, .parameters = {1, 3}},
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "group", "offset_group"},
      .since_opset = 19,
      .expand = expand_deform_conv,
  };
  return kOperator;
}

}  // namespace morton::ops
