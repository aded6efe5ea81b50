// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rooms.hpp"
#include "ops/math/pool.hpp"
#include "ops/signals/volume_pool.hpp"
#include "problems/pool2d.hpp"

namespace morton::ops {
namespace {

/// Output 1 tells where the largest elements are.
bool gives_indices(const NodeView& node) {
  return node.node().outputs.size() > 1 && node.node().outputs[1] != kNoTensor;
}

std::vector<TensorType> infer_max_pool(const NodeView& node) {
  std::vector<TensorType> types = infer_pool(node);
  if (types[0].dtype == DType::i64) node.fail("the input is i64; expected f32, u8 or i8");
  static_cast<void>(node.flag("storage_order", 0));
  if (types.size() == 1) types.push_back({});
  types[1] = {DType::i64, types[0].shape};
  return types;
}

/// The largest element under a window, and where it stands in the plane.
struct Largest {
  Bounded value{-std::numeric_limits<double>::infinity(), 0.0};
  std::int64_t row = 0, column = 0;
};

/// Exact but for the errors of its input: the result moves by at most the largest error under the
/// window.
Largest largest_at(const Window& window, const Shape& image, const ReferenceTensor& source,
                   std::int64_t plane, std::int64_t oh, std::int64_t ow) {
  Largest largest;
  bool any = false;
  for (std::int64_t kh = 0; kh < window.kernel[0]; ++kh) {
    for (std::int64_t kw = 0; kw < window.kernel[1]; ++kw) {
      const std::int64_t h = window.at(0, oh, kh);
      const std::int64_t w = window.at(1, ow, kw);
      if (h < 0 || h >= image[2] || w < 0 || w >= image[3]) continue;
      const auto at = static_cast<std::size_t>(plane + h * image[3] + w);
      const double value = source.value[at];
      // A NaN is kept once met: nothing compares with it.
      if (!any || (!(value <= largest.value.value) && !std::isnan(largest.value.value))) {
        largest.value.value = value;
        largest.row = h;
        largest.column = w;
        any = true;
      }
      largest.value.error = std::max(largest.value.error, source.error[at]);
    }
  }
  return largest;
}

std::vector<ReferenceTensor> reference_max(const NodeView& node,
                                           std::span<const ReferenceTensor> inputs) {
  if (is_volume(node)) return reference_composed(node, inputs);
  const Window window = pool_window(node);
  const ImageShape image = image_of(node, inputs[0].shape);
  const Shape& shape = image.shape;
  const bool by_columns = node.flag("storage_order", 0);
  const auto value = [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
    return largest_at(window, shape, inputs[0], plane, oh, ow).value;
  };
  const auto index = [&](std::int64_t plane, std::int64_t oh, std::int64_t ow) {
    const Largest largest = largest_at(window, shape, inputs[0], plane, oh, ow);
    const std::int64_t within = by_columns ? largest.column * shape[2] + largest.row
                                           : largest.row * shape[3] + largest.column;
    // Of elements that are not exact, another may be the largest: any under the window.
    const double open = largest.value.error > 0 ? static_cast<double>(shape[2] * shape[3]) : 0.0;
    return Bounded{static_cast<double>(plane + within), open};
  };
  std::vector<ReferenceTensor> results{reference_pool(image, window, value)};
  if (gives_indices(node)) results.push_back(reference_pool(image, window, index));
  return results;
}

std::vector<BoundProblem> lower_max(const NodeView& node) {
  std::vector<BoundProblem> problems;
  if (node.node().outputs[0] != kNoTensor)
    problems.push_back(lower_pool(node, families::max_pool2d));
  if (!gives_indices(node)) return problems;
  problems.push_back(lower_pool(node, families::max_pool2d_indices, 1));
  problems.back().problem.types["acc"] = DType::i64;
  using Order = MaxPool2dIndicesStructure::Order;
  const Order order = node.flag("storage_order", 0) ? Order::columns : Order::rows;
  problems.back().problem.structure =
      numbers_of(MaxPool2dIndicesStructure{pool_window(node), order});
  return problems;
}

/// Kernels tell the places of f32, which holds bytes exactly.
std::vector<TensorId> expand_max(Expansion& out) {
  const NodeView& node = out.node();
  const DType type = node.input(0).dtype;
  const bool is_of_bytes = type == DType::u8 || type == DType::i8;
  if (is_volume(node) || !is_of_bytes || !gives_indices(node)) return expand_pool(out);
  const std::vector<TensorId> results = out.add_several(
      "MaxPool", {out.converted(out.input(0), DType::f32)}, 2, node.node().attributes);
  return {out.converted(results[0], type), results[1]};
}

/// What is largest under a window gets the window's gradient, the first where several are.
void gradient_of_max(Gradient& gradient) {
  if (gradient.of_output() == kNoTensor) return;
  GraphWriter::Attributes attributes = gradient.node().node().attributes;
  attributes.erase("storage_order");
  gradient.give(0, gradient.add("MaxPoolGradient",
                                {gradient.node().input_id(0), gradient.of_output()}, attributes));
}

}  // namespace

const Operator& operator_MaxPool() {
  static const Operator kOperator{
      .name = "MaxPool",
      .attributes = {"kernel_shape", "strides", "dilations", "pads", "auto_pad", "ceil_mode",
                     "storage_order"},
      .since_opset = 1,
      .infer = infer_max_pool,
      .host = {.references = reference_max},
      .parts = lower_max,
      .expand = expand_max,
      .types = {DType::f32, DType::u8, DType::i8, DType::i64},
      .gradient = gradient_of_max,
  };
  return kOperator;
}

}  // namespace morton::ops
