// SPDX-License-Identifier: Apache-2.0
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/along.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

std::size_t cache_axis(const NodeView& node) {
  const Shape cache = node.input(0).shape;
  const auto last = static_cast<std::int64_t>(cache.size()) - 1;
  const std::size_t axis = node.axis(node.integer("axis", -2), cache.size(), last);
  if (axis == 0) node.fail("its axis is 0, which is the batch");
  Shape expected = cache;
  const Shape update = node.input(1).shape;
  if (update.size() == cache.size()) expected[axis] = update[axis];
  if (update != expected || update[axis] > cache[axis]) {
    node.fail("the update is " + to_string(update) + ", the cache " + to_string(cache) +
              ": expected the same extents, or fewer along axis " + std::to_string(axis));
  }
  if (node.input(0).dtype != node.input(1).dtype) node.fail("cache and update differ in type");
  return axis;
}

/// Row b holds where in the cache the elements of the update of sample b go.
TensorId cache_places(Expansion& expansion, std::int64_t length, std::int64_t count) {
  const NodeView& node = expansion.node();
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    node.fail("mode '" + mode + "' is unknown; expected linear or circular");
  }
  const TensorId each = expansion.numbered(0, {1, count});
  if (!node.has_input(2)) return each;
  const std::int64_t batch = node.input(0).shape[0];
  if (node.input(2).shape != Shape{batch} || node.input(2).dtype != DType::i64) {
    node.fail("the write indices are " + std::string(name_of(node.input(2).dtype)) + " " +
              to_string(node.input(2).shape) + ", expected i64 [" + std::to_string(batch) + "]");
  }
  const TensorId first = expansion.reshaped(expansion.input(2), {batch, 1});
  const TensorId places = expansion.add("Add", {first, each});
  if (mode == "linear") return places;
  return expansion.add("Mod", {places, expansion.scalar(DType::i64, static_cast<double>(length))});
}

std::vector<TensorId> expand_tensor_scatter(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const std::size_t axis = cache_axis(node);
  const Shape cache = node.input(0).shape;
  const Along rows = along(cache.size(), {axis});
  const std::int64_t outer = extent_of(cache, rows.outer);
  const std::int64_t inner = extent_of(cache, rows.inner);
  const std::int64_t count = node.input(1).shape[axis];
  const TensorId places = cache_places(expansion, cache[axis], count);
  const TensorId result = expansion.add(
      "ScatterRows", {expansion.reshaped(expansion.input(0), {outer, cache[axis], inner}), places,
                      expansion.reshaped(expansion.input(1), {outer, count, inner})});
  return {expansion.reshaped(result, cache)};
}

}  // namespace

const Operator& operator_TensorScatter() {
  static const Operator kOperator{
      .name = "TensorScatter",
      .inputs = {.least = 2, .most = 3},
      .attributes = {"axis", "mode"},
      .since_opset = 24,
      .expand = expand_tensor_scatter,
      .types = all_types(),
  };
  return kOperator;
}

}  // namespace morton::ops
