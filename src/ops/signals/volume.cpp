// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/volume.hpp"

#include <array>
#include <string>

namespace morton::ops {
namespace {

constexpr std::array<std::string_view, 4> kOneEach{"kernel_shape", "strides", "dilations",
                                                   "output_padding"};

using Numbers = std::vector<std::int64_t>;

Numbers part(const Numbers& all, std::size_t first, std::size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Shape others_of(const Shape& shape, std::size_t first) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()};
}

Shape joined(Shape first, const Shape& others) {
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

/// `value`, N x C x k x D x R, at k: N x C x D x R, with zeros where a stride leaves gaps.
TensorId spread_slice(GraphWriter& writer, TensorId value, std::int64_t k, std::int64_t stride) {
  const Shape shape = writer.shape_of(value);
  const TensorId slice = writer.sliced(
      value, {0, 0, k, 0, 0}, {shape[0], shape[1], k + 1, shape[3], shape[4]}, {1, 1, 1, 1, 1});
  if (stride == 1) return writer.reshaped(slice, {shape[0], shape[1], shape[3], shape[4]});
  const TensorId apart = writer.reshaped(slice, {shape[0], shape[1], shape[3], 1, shape[4]});
  const TensorId wide = writer.padded(apart, {0, 0, 0, 0, 0}, {0, 0, 0, stride - 1, 0});
  return writer.reshaped(wide, {shape[0], shape[1], shape[3] * stride, shape[4]});
}

/// Of N x C x D x R the depths from `first` on, `depth` of them; zeros where there are none.
TensorId moved_along_depth(GraphWriter& writer, TensorId value, std::int64_t first,
                           std::int64_t depth) {
  const std::int64_t there = writer.shape_of(value)[2];
  if (first == 0 && depth == there) return value;
  return writer.padded(value, {0, 0, -first, 0}, {0, 0, first + depth - there, 0});
}

}  // namespace

void check_directions(const NodeView& node, std::size_t directions) {
  const auto check = [&](std::string_view name, std::size_t expected) {
    if (!node.has(name)) return;
    const std::size_t count = node.integers(name, {}).size();
    if (count == expected) return;
    node.fail(std::string(name) + " has " + std::to_string(count) + " numbers, expected " +
              std::to_string(expected));
  };
  for (const std::string_view name : kOneEach) check(name, directions);
  check("pads", 2 * directions);
}

Node with_directions(const NodeView& node, std::size_t first, std::size_t count,
                     std::size_t directions) {
  Node result = node.node();
  const auto set = [&](std::string_view name, Numbers values) {
    result.attributes[std::string(name)] = std::move(values);
  };
  for (const std::string_view name : kOneEach) {
    if (node.has(name)) set(name, part(node.integers(name, {}), first, count));
  }
  if (node.has("pads")) {
    const Numbers all = node.integers("pads", {});
    set("pads", joined(part(all, first, count), part(all, directions + first, count)));
  }
  if (node.has("output_shape")) {
    // Some exporters write the whole shape, N and C before the image's extents.
    const Numbers all = node.integers("output_shape", {});
    const std::size_t skipped = all.size() == directions + 2 ? 2 : 0;
    if (all.size() != directions + skipped) {
      node.fail("output_shape has " + std::to_string(all.size()) + " numbers, expected " +
                std::to_string(directions));
    }
    set("output_shape", part(all, skipped + first, count));
  }
  return result;
}

std::vector<DepthWindow> depth_windows_of(const Expansion& expansion, const Shape& image,
                                          const Shape& kernel) {
  std::vector<DepthWindow> windows;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const Node single = with_directions(expansion.node(), d, 1, kernel.size());
    const NodeView view(expansion.graph(), single);
    const ImageShape line{{image[0], image[1], 1, image[d + 2]}, true};
    const Window window = window_of(view, line, {1, kernel[d]});
    windows.push_back({window.kernel[1], window.stride[1], window.dilation[1], window.before[1],
                       window.after[1], window.output[1]});
  }
  return windows;
}

GraphWriter::Attributes attributes_of(const std::vector<DepthWindow>& windows) {
  Numbers kernel, strides, dilations, pads, behind;
  for (const DepthWindow& window : windows) {
    kernel.push_back(window.kernel);
    strides.push_back(window.stride);
    dilations.push_back(window.dilation);
    pads.push_back(window.before);
    behind.push_back(window.after);
  }
  return {{"kernel_shape", kernel},
          {"strides", strides},
          {"dilations", dilations},
          {"pads", joined(pads, behind)}};
}

TensorId depth_slices(GraphWriter& writer, TensorId value, const DepthWindow& window) {
  const Shape shape = writer.shape_of(value);
  if (!window.is_trivial()) {
    return writer.add("DepthSlices", {value},
                      {{"kernel", window.kernel},
                       {"stride", window.stride},
                       {"dilation", window.dilation},
                       {"before", window.before},
                       {"output", window.output}});
  }
  std::vector<std::int64_t> order{0, 2, 1};
  for (std::size_t d = 3; d < shape.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
  return writer.reshaped(writer.transposed(value, order),
                         joined({shape[0] * shape[2], shape[1]}, others_of(shape, 3)));
}

TensorId fold_slices(GraphWriter& writer, TensorId value, const DepthWindow& window,
                     std::int64_t batch, std::int64_t depth) {
  const Shape shape = writer.shape_of(value);
  const Shape others = others_of(shape, 2);
  const std::int64_t rest = element_count(others);
  const std::int64_t channels = shape[1] / window.kernel;
  const std::int64_t images = window.output;
  const TensorId apart = writer.reshaped(value, {batch, images, channels, window.kernel, rest});
  const Shape result = joined({batch, channels, depth}, others);
  if (window.stride == window.kernel && window.dilation == 1) {
    const TensorId side_by_side = writer.reshaped(writer.transposed(apart, {0, 2, 1, 3, 4}),
                                                  {batch, channels, images * window.kernel, rest});
    return writer.reshaped(moved_along_depth(writer, side_by_side, window.before, depth), result);
  }
  const TensorId slices = writer.transposed(apart, {0, 2, 3, 1, 4});
  TensorId sum = kNoTensor;
  for (std::int64_t k = 0; k < window.kernel; ++k) {
    const TensorId spread = spread_slice(writer, slices, k, window.stride);
    const TensorId moved =
        moved_along_depth(writer, spread, window.before - k * window.dilation, depth);
    sum = k == 0 ? moved : writer.apply(ScalarOp::add, {sum, moved});
  }
  return writer.reshaped(sum, result);
}

}  // namespace morton::ops
