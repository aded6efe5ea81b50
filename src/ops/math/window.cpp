// SPDX-License-Identifier: Apache-2.0
#include "ops/math/window.hpp"

#include <algorithm>

#include "base/numbers/checked.hpp"

namespace morton::ops {
namespace {

/// Filter sizes, strides, dilations and pads beyond this are taken for damage; it also keeps all
/// the arithmetic on them far from overflow.
constexpr std::int64_t kMaxParameter = std::int64_t{1} << 24;

void require_range(const NodeView& node, std::string_view what, const Window::Pair& values,
                   std::int64_t least) {
  for (const std::int64_t value : values) {
    if (value < least || value > kMaxParameter) {
      node.fail(std::string(what) + " holds " + std::to_string(value) + ", expected " +
                std::to_string(least) + " to " + std::to_string(kMaxParameter));
    }
  }
}

void read_pads(const NodeView& node, const ImageShape& image, Window& window) {
  const std::size_t directions = image.line ? 1 : 2;
  auto pads = node.integers("pads", std::vector<std::int64_t>(2 * directions, 0));
  if (pads.size() != 2 * directions) {
    node.fail("pads has " + std::to_string(pads.size()) + " numbers, expected " +
              std::to_string(2 * directions));
  }
  if (image.line) pads = {0, pads[0], 0, pads[1]};
  window.before = {pads[0], pads[1]};
  window.after = {pads[2], pads[3]};
  require_range(node, "pads", window.before, 0);
  require_range(node, "pads", window.after, 0);
}

/// auto_pad SAME: as many windows as strides fit the image; what is odd goes below (UPPER) or
/// above.
void pad_same(Window& window, std::size_t d, std::int64_t extent, std::string_view mode) {
  window.output[d] = ceil_div(extent, window.stride[d]);
  const std::int64_t covered = (window.output[d] - 1) * window.stride[d] + window.reach(d);
  const std::int64_t total = std::max<std::int64_t>(covered - extent, 0);
  const std::int64_t smaller = total / 2;
  window.before[d] = mode == "SAME_UPPER" ? smaller : total - smaller;
  window.after[d] = total - window.before[d];
}

void count_windows(const NodeView& node, Window& window, std::size_t d, std::int64_t extent) {
  const std::int64_t padded = extent + window.before[d] + window.after[d];
  const std::int64_t room = padded - window.reach(d);
  if (room < 0) {
    node.fail("the window reaches over " + std::to_string(window.reach(d)) + " " +
              (d == 0 ? "rows" : "columns") + ", the padded image has " + std::to_string(padded));
  }
  window.output[d] = room / window.stride[d] + 1;
  const bool hangs_over = node.flag("ceil_mode", 0) && room % window.stride[d] != 0;
  // A last window that would start in the padding behind the image does not exist.
  if (hangs_over && window.output[d] * window.stride[d] < extent + window.before[d]) {
    ++window.output[d];
  }
}

}  // namespace

Shape ImageShape::own(const Shape& extents) const {
  return line ? Shape{extents[0], extents[1], extents[3]} : extents;
}

View ImageShape::view(const std::vector<std::string>& dimensions) const {
  if (!line) return View::identity(dimensions);
  return View::grouped(dimensions, {{0}, {1}, {}, {2}},
                       {Expression::variable(dimensions[0]), Expression::variable(dimensions[1]),
                        Expression::variable(dimensions[3])});
}

bool is_volume(const NodeView& node) { return node.input(0).shape.size() > 4; }

ImageShape image_of(const NodeView& node, const Shape& shape) {
  if (shape.size() == 3) return {{shape[0], shape[1], 1, shape[2]}, true};
  require_image(node, shape);
  return {shape, false};
}

Window::Pair pair_of(const NodeView& node, const ImageShape& image, std::string_view attribute,
                     const Window::Pair& otherwise) {
  const std::size_t directions = image.line ? 1 : 2;
  if (!node.has(attribute)) return otherwise;
  const auto values = node.integers(attribute, {});
  if (values.size() != directions) {
    node.fail(std::string(attribute) + " has " + std::to_string(values.size()) +
              " numbers, expected " + std::to_string(directions));
  }
  return image.line ? Window::Pair{otherwise[0], values[0]} : Window::Pair{values[0], values[1]};
}

void require_image(const NodeView& node, const Shape& image) {
  if (image.size() == 4) return;
  const std::string got = "the input is " + to_string(image);
  if (image.size() < 3) node.fail(got + ", expected N x C x H x W");
  node.unsupported(got +
                   "; images of one or two dimensions (N x C x W, N x C x H x W) are supported");
}

Window scan_of(const NodeView& node, const ImageShape& image, const Window::Pair& kernel) {
  Window window;
  window.kernel = kernel;
  window.stride = pair_of(node, image, "strides", {1, 1});
  window.dilation = pair_of(node, image, "dilations", {1, 1});
  require_range(node, "kernel_shape", window.kernel, 1);
  require_range(node, "strides", window.stride, 1);
  require_range(node, "dilations", window.dilation, 1);

  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER" && mode != "NOTSET" && mode != "VALID") {
    node.fail("auto_pad is '" + mode + "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  read_pads(node, image, window);
  if (mode != "NOTSET" && (window.before != Window::Pair{} || window.after != Window::Pair{})) {
    node.fail("has both pads and auto_pad " + mode);
  }
  for (std::size_t d = 0; d < 2; ++d) {
    if (image.shape[d + 2] < 1) node.fail("the image is empty: " + to_string(image.shape));
  }
  return window;
}

Window window_of(const NodeView& node, const ImageShape& image, const Window::Pair& kernel) {
  Window window = scan_of(node, image, kernel);
  const std::string mode = node.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t extent = image.shape[d + 2];
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      pad_same(window, d, extent, mode);
    } else {
      count_windows(node, window, d, extent);
    }
  }
  return window;
}

}  // namespace morton::ops
