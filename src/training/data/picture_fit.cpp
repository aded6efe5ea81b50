// SPDX-License-Identifier: Apache-2.0
#include "training/data/picture_fit.hpp"

#include <string>

#include "base/error.hpp"

namespace morton {
using namespace training;
namespace {

using Order = PictureFit::Order;

/// Channels of an input that grey pictures go to; more are features of another kind.
constexpr std::int64_t kMostColours = 4;

bool is_few(std::int64_t extent) { return extent >= 1 && extent <= kMostColours; }

/// Where the channels of an input of four dimensions lie, nothing where no extent can be theirs. An
/// open extent may be anything, so it counts only where no other one says how many channels there
/// are.
std::optional<Order> order_of(const Shape& input, std::int64_t channels) {
  const auto takes = [channels](std::int64_t extent) {
    return extent == channels || (channels == 1 && is_few(extent));
  };
  if (takes(input[1])) return Order::channels_first;
  if (takes(input[3])) return Order::channels_last;
  if (input[1] < 0 && !is_few(input[3])) return Order::channels_first;
  if (input[3] < 0 && !is_few(input[1])) return Order::channels_last;
  return std::nullopt;
}

/// Extents after the first; open ones as "?".
std::string in_one_example(const Shape& shape) {
  std::string text;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    text += (i > 1 ? "x" : "") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return text.empty() ? "scalar" : text;
}

}  // namespace

void training::fail_to_fit(const Dataset& data, const Shape& input) {
  throw UsageError(
      data.where + ": an example is " + in_one_example(data.inputs.shape()) +
      ", the network takes " + in_one_example(input) +
      "; expected as many values, or pictures of as many channels, which stand first " +
      "or last (or grey ones for up to " + std::to_string(kMostColours) + ")");
}

std::optional<PictureFit> fit_pictures(const Dataset& data, const Shape& input) {
  const Shape& examples = data.inputs.shape();
  if (input.size() != 4 || examples.size() < 3 || examples.size() > 4) return std::nullopt;
  const bool grey = examples.size() == 3;  // reals [N, H, W]
  PictureFit fit;
  fit.channels = grey ? 1 : examples[1];
  fit.height = examples[examples.size() - 2];
  fit.width = examples.back();
  const std::optional<Order> order = order_of(input, fit.channels);
  if (!order) fail_to_fit(data, input);
  fit.order = *order;
  const std::size_t rows = fit.order == Order::channels_last ? 1 : 2;
  const auto settled = [](std::int64_t extent, std::int64_t own) {
    return extent < 0 ? own : extent;
  };
  fit.input_channels = settled(input[rows == 1 ? 3 : 1], fit.channels);
  fit.input_height = settled(input[rows], fit.height);
  fit.input_width = settled(input[rows + 1], fit.width);
  return fit;
}

Shape shape_for(const Dataset& data, const Shape& input) {
  if (const std::optional<PictureFit> fit = fit_pictures(data, input)) {
    if (fit->order == Order::channels_last) {
      return {input[0], fit->input_height, fit->input_width, fit->input_channels};
    }
    return {input[0], fit->input_channels, fit->input_height, fit->input_width};
  }
  Shape shape = input;
  const Shape& examples = data.inputs.shape();
  for (std::size_t i = 1; i < shape.size() && shape.size() == examples.size(); ++i) {
    if (shape[i] < 0) shape[i] = examples[i];
  }
  return shape;
}

}  // namespace morton
