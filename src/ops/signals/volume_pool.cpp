// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/volume_pool.hpp"

#include <string>

#include "ops/signals/volume.hpp"

namespace morton::ops {
namespace {

struct Pooled {
  TensorId value = kNoTensor;
  TensorId indices = kNoTensor;
};

/// One pool, of the attributes of `node`.
Pooled pooled(Expansion& expansion, TensorId value, const Node& node) {
  if (!expansion.node().wants_output(1)) return {expansion.add(node.op, {value}, node.attributes)};
  const std::vector<TensorId> outputs = expansion.add_several(node.op, {value}, 2, node.attributes);
  return {outputs[0], outputs[1]};
}

/// The same in another shape.
Pooled reshaped(Expansion& expansion, const Pooled& pooled, const Shape& shape) {
  Pooled result{expansion.reshaped(pooled.value, shape)};
  if (pooled.indices != kNoTensor) result.indices = expansion.reshaped(pooled.indices, shape);
  return result;
}

/// The attributes of one direction as those of two: a window of one column.
void widen(Node& node) {
  const auto numbers = [&](const char* name) -> std::vector<std::int64_t>* {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) return nullptr;
    return &std::get<std::vector<std::int64_t>>(found->second);
  };
  for (const char* name : {"kernel_shape", "strides", "dilations"}) {
    if (auto* values = numbers(name)) values->push_back(1);
  }
  if (auto* pads = numbers("pads")) *pads = {pads->front(), 0, pads->back(), 0};
}

}  // namespace

std::vector<TensorId> expand_pool(Expansion& expansion) {
  const NodeView& node = expansion.node();
  if (!is_volume(node)) return {};
  const Shape shape = node.input(0).shape;
  const std::size_t directions = shape.size() - 2;
  if (!node.has("kernel_shape")) node.fail("the attribute 'kernel_shape' is missing");
  check_directions(node, directions);
  if (node.wants_output(1) && node.flag("storage_order", 0)) {
    node.unsupported("storage_order 1 is supported for images of one or two dimensions");
  }
  const Node flat = with_directions(node, 1, directions - 1, directions);
  Shape merged{shape[0], shape[1] * shape[2]};
  merged.insert(merged.end(), shape.begin() + 3, shape.end());
  const Pooled images = pooled(expansion, expansion.reshaped(expansion.input(0), merged), flat);

  Shape result = expansion.shape_of(images.value);
  const std::int64_t rest = element_count({result.begin() + 2, result.end()});
  const Pooled lines = reshaped(expansion, images, {shape[0], shape[1], shape[2], rest});
  Node deep = with_directions(node, 0, 1, directions);
  widen(deep);
  const Pooled last = pooled(expansion, lines.value, deep);
  result[1] = shape[1];
  result.insert(result.begin() + 2, expansion.shape_of(last.value)[2]);
  const TensorId value = expansion.reshaped(last.value, result);
  if (last.indices == kNoTensor) return {value, kNoTensor};
  // The second pool says which of the first one's results is the largest, and that one its place.
  const TensorId places =
      expansion.reshaped(lines.indices, {shape[0] * shape[1] * shape[2] * rest});
  const TensorId indices = expansion.add("Gather", {places, last.indices});
  return {value, expansion.reshaped(indices, result)};
}

}  // namespace morton::ops
