// SPDX-License-Identifier: Apache-2.0
//
// Operators that find extents: their results have as many elements as the data say.
#include <array>

#include "base/shape.hpp"
#include "ops/core/node_view.hpp"
#include "passes/shapes/late_extents.hpp"
#include "passes/shapes/late_found.hpp"

namespace morton::passes {
namespace {

/// Truths about the elements of `id`: which are not zero. Void is.
TensorId truths_of(LateTable& table, TensorId id) {
  const GraphTensor tensor = table.graph().tensor(id);
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) id = table.masked(id, d, 0.0);
  if (tensor.dtype == DType::boolean) return id;
  Tensor zero = Tensor::allocate(tensor.dtype, {});
  zero.set(0, 0.0);
  const TensorId is_zero = table.out().add("Equal", {id, table.out().constant(std::move(zero))});
  return table.out().add("Not", {is_zero});
}

bool write_non_zero(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  Shape shape = view.input(0).shape;
  if (shape.empty()) shape = {1};  // as ONNX Runtime takes a scalar
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t elements = element_count(shape);
  if (elements == 0) {
    out.copy(out.constant(Tensor::allocate(DType::i64, {rank, 0})), node.outputs[0]);
    return true;
  }
  table.require_bound(node, elements);
  const TensorId truths =
      out.add("Reshape", {truths_of(table, node.inputs[0]), out.list({elements})});
  const TensorId flat = shape.size() == 1 ? node.inputs[0] : truths;
  const Found found = find_true_once(table, {flat, kNoTensor}, truths, elements);
  std::vector<std::int64_t> strides;
  for (const std::int64_t stride : row_major_strides(shape)) strides.push_back(stride);
  const auto column = [&](const std::vector<std::int64_t>& numbers) {
    return out.add("Reshape", {out.list(numbers), out.list({rank, 1})});
  };
  const TensorId row = out.add("Reshape", {table.whole(found.places), out.list({1, elements})});
  const TensorId along = out.add("Div", {row, column(strides)});
  out.copy(out.add("Mod", {along, column({shape.begin(), shape.end()})}), node.outputs[0]);
  table.define(node.outputs[0], {kNoTensor, found.count});
  return true;
}

bool write_compress(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  const TensorType data = view.input(0);
  const TensorType condition = view.input(1);
  if (condition.shape.size() != 1 || condition.dtype != DType::boolean) {
    view.fail("its condition is " + std::string(name_of(condition.dtype)) + " " +
              to_string(condition.shape) + ", expected a list of truths");
  }
  TensorId source = node.inputs[0];
  LateCounts counts = table.counts(source);
  std::size_t axis = 0;
  Shape shape = data.shape;
  if (node.attributes.contains("axis")) {
    axis = view.axis_attribute();
  } else {
    if (table.is_late(source)) table.refuse(node, "it joins dimensions of a late extent");
    shape = {element_count(data.shape)};
    source = out.add("Reshape", {source, out.list({-1})});
    counts = {kNoTensor};
  }
  const std::int64_t length = condition.shape[0];
  if (length > shape[axis]) {
    view.fail("its condition has " + std::to_string(length) + " truths for an extent of " +
              std::to_string(shape[axis]));
  }
  table.require_bound(node, length);
  if (length == 0) {
    shape[axis] = 0;
    out.copy(out.constant(Tensor::allocate(data.dtype, shape)), node.outputs[0]);
    return true;
  }
  TensorId truths = table.masked(node.inputs[1], 0, 0.0);
  const TensorId there = counts[axis];
  if (there != kNoTensor) {
    TensorId counted = table.truths(there, shape[axis]);
    if (length < shape[axis]) {
      counted = out.add("Slice", {counted, out.list({0}), out.list({length})});
    }
    truths = out.add("And", {truths, counted});
    source = table.whole(source, axis);
  }
  const Found found = find_true_once(table, {node.inputs[1], there}, truths, length);
  counts[axis] = found.count;
  out.copy(out.add("Gather", {source, table.whole(found.places)},
                   {{"axis", static_cast<std::int64_t>(axis)}}),
           node.outputs[0]);
  table.define(node.outputs[0], counts);
  return true;
}

constexpr std::array kSources{
    LateRule{"NonZero", write_non_zero},
    LateRule{"Compress", write_compress},
    LateRule{"Unique", write_unique},
    LateRule{"NonMaxSuppression", write_non_max_suppression},
};

}  // namespace

Found find_true(LateTable& table, TensorId truths, std::int64_t length) {
  Splicing& out = table.out();
  const std::int64_t i32 = 6;
  const std::int64_t i64 = 7;
  const TensorId ones = out.add("Cast", {truths}, {{"to", i32}});
  const TensorId sums = out.add("CumSum", {ones, out.number(0)});
  const TensorId last = out.add("Slice", {sums, out.list({length - 1}), out.list({length})});
  Found found;
  found.count = out.add("Cast", {last}, {{"to", i64}});
  table.values().define(found.count, {{0, length, found.count}});
  // What is true goes to its place in the list; what is not goes behind the list, which is cut off.
  found.before = out.add("Sub", {out.add("Cast", {sums}, {{"to", i64}}), out.list({1})});
  const TensorId ranks = out.add("Where", {truths, found.before, out.list({length})});
  const TensorId none = out.constant(Tensor::allocate(DType::i64, {length + 1}));
  const TensorId all = out.add("ScatterElements", {none, ranks, table.numbered(length)});
  found.places = out.add("Slice", {all, out.list({0}), out.list({length})});
  table.graph().tensor(found.places).dtype = DType::i64;
  table.graph().tensor(found.places).shape = {length};
  table.define(found.places, {found.count});
  return found;
}

Found find_true_once(LateTable& table, const LateTable::FoundKey& key, TensorId truths,
                     std::int64_t length) {
  const auto made = table.found().find(key);
  if (made != table.found().end()) return made->second;
  return table.found()[key] = find_true(table, truths, length);
}

std::span<const LateRule> late_sources() { return kSources; }

}  // namespace morton::passes
