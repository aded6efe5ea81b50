// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/signals/fourier_transform.hpp"
#include "ops/signals/volume.hpp"

namespace morton::ops {
namespace {

/// Opset 17 has the axis as an attribute, 20 as input 2.
constexpr std::int64_t kAxisIsInputSince = 20;
/// Kernels count in 32 bits; a transform of this length is far beyond any signal's.
constexpr std::int64_t kLongestTransform = std::int64_t{1} << 24;

std::int64_t single_number(const NodeView& node, std::size_t i, const char* what) {
  const auto numbers = node.value_integers(i);
  if (numbers.size() != 1) {
    node.fail(std::string(what) + " has " + std::to_string(numbers.size()) +
              " numbers, expected 1");
  }
  return numbers[0];
}

std::size_t transformed_axis(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (rank < 2 || shape.back() < 1 || shape.back() > 2) {
    node.fail(
        "the input is " + to_string(shape) +
        "; its last dimension is expected to be 1 (real) or 2 (complex), behind the signal's");
  }
  std::int64_t axis = 1;
  if (node.opset() < kAxisIsInputSince) {
    axis = node.integer("axis", 1);
  } else {
    axis = node.has_input(2) ? single_number(node, 2, "the axis") : -2;
  }
  const std::size_t place = node.axis(axis, shape.size(), rank - 1);
  if (place + 1 == shape.size()) {
    node.fail("the axis " + std::to_string(axis) + " is that of the complex parts");
  }
  return place;
}

Fourier fourier_of(const NodeView& node, std::int64_t numbers) {
  Fourier fourier;
  if (node.flag("inverse", 0)) fourier.direction = Fourier::Direction::inverse;
  if (node.flag("onesided", 0)) fourier.part = Fourier::Part::half;
  const bool to_real =
      fourier.direction == Fourier::Direction::inverse && fourier.part == Fourier::Part::half;
  fourier.length = to_real ? 2 * (numbers - 1) : numbers;
  if (node.has_input(1)) fourier.length = single_number(node, 1, "dft_length");
  if (fourier.length < 1 || fourier.length > kLongestTransform) {
    node.fail("a transform of " + std::to_string(fourier.length) + " numbers; expected 1 to " +
              std::to_string(kLongestTransform));
  }
  return fourier;
}

std::vector<TensorId> expand_dft(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Shape shape = node.input(0).shape;
  const std::size_t axis = transformed_axis(node);
  const Fourier fourier = fourier_of(node, shape[axis]);
  // The axis stands next to the parts.
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> back(shape.size());
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) {
    if (d != axis) order.push_back(static_cast<std::int64_t>(d));
  }
  order.push_back(static_cast<std::int64_t>(axis));
  order.push_back(static_cast<std::int64_t>(shape.size()) - 1);
  Shape result;
  for (std::size_t d = 0; d < order.size(); ++d) {
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
    result.push_back(shape[static_cast<std::size_t>(order[d])]);
  }
  const bool moves = axis + 2 != shape.size();
  TensorId value = expansion.input(0);
  if (moves) value = expansion.transposed(value, order);
  const std::int64_t rows = element_count({result.begin(), result.end() - 2});
  value = expansion.reshaped(value, {rows, shape[axis], shape.back()});
  value = transformed(expansion, value, fourier);
  result[result.size() - 2] = expansion.shape_of(value)[1];
  result.back() = expansion.shape_of(value)[2];
  value = expansion.reshaped(value, result);
  return {moves ? expansion.transposed(value, back) : value};
}

/// The signal cut into frames: batch x frames x length x parts.
TensorId frames_of(Expansion& expansion, std::int64_t step, std::int64_t length) {
  const Shape shape = expansion.node().input(0).shape;
  DepthWindow window{.kernel = length, .stride = step};
  window.output = (shape[1] - length) / step + 1;
  const TensorId signal = expansion.reshaped(expansion.input(0), {shape[0], 1, shape[1], shape[2]});
  return expansion.reshaped(depth_slices(expansion, signal, window),
                            {shape[0], window.output, length, shape[2]});
}

std::int64_t frame_length_of(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  std::int64_t length = shape[1];
  if (node.has_input(2)) {
    const Shape window = node.input(2).shape;
    if (window.size() != 1) {
      node.fail("the window is " + to_string(window) + ", expected a list");
    }
    length = window[0];
  }
  if (node.has_input(3)) {
    const std::int64_t asked = single_number(node, 3, "frame_length");
    if (node.has_input(2) && asked != length) {
      node.fail("frame_length is " + std::to_string(asked) + ", the window has " +
                std::to_string(length) + " numbers");
    }
    length = asked;
  }
  if (length < 1 || length > shape[1]) {
    node.fail("a frame has " + std::to_string(length) + " numbers, the signal " +
              std::to_string(shape[1]));
  }
  return length;
}

std::vector<TensorId> expand_stft(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const Shape shape = node.input(0).shape;
  if (shape.size() != 3 || shape[2] < 1 || shape[2] > 2) {
    node.fail("the signal is " + to_string(shape) +
              ", expected batch x length x 1 (real) or 2 (complex)");
  }
  const std::int64_t step = single_number(node, 1, "frame_step");
  if (step < 1) node.fail("frame_step is " + std::to_string(step) + ", expected 1 or more");
  const std::int64_t length = frame_length_of(node);
  TensorId value = frames_of(expansion, step, length);
  if (node.has_input(2)) {
    const TensorId window = expansion.reshaped(expansion.input(2), {length, 1});
    value = expansion.apply(ScalarOp::mul, {value, window});
  }
  Shape result = expansion.shape_of(value);
  Fourier fourier{length};
  if (node.flag("onesided", 1)) fourier.part = Fourier::Part::half;
  value = expansion.reshaped(value, {result[0] * result[1], length, shape[2]});
  value = transformed(expansion, value, fourier);
  result[2] = expansion.shape_of(value)[1];
  result[3] = 2;
  return {expansion.reshaped(value, result)};
}

}  // namespace

const OperatorTable& fourier_operators() {
  static const OperatorTable kTable{
      {.name = "DFT",
       .inputs = {.least = 1, .most = 3, .planned = {1, 2}},
       .attributes = {"axis", "inverse", "onesided"},
       .since_opset = 17,
       .expand = expand_dft},
      {.name = "STFT",
       .inputs = {.least = 2, .most = 4, .planned = {1, 3}},
       .attributes = {"onesided"},
       .since_opset = 17,
       .expand = expand_stft},
  };
  return kTable;
}

}  // namespace morton::ops
