// SPDX-License-Identifier: Apache-2.0
//
// Operators that take elements by their places, where an input has a late extent.
#include <algorithm>
#include <array>
#include <limits>

#include "base/algebra/typed_chain.hpp"
#include "base/shape.hpp"
#include "ops/core/node_view.hpp"
#include "passes/shapes/late_extents.hpp"

namespace morton::passes {
namespace {

/// What a feed has gathered, and what this run adds. There is room for it: the result has the first
/// part's bound. Void is made 0 in the same step, so no product that reads it needs a masked copy.
void write_grown(LateTable& table, const Node& node, std::size_t axis, LateCounts counts) {
  Splicing& out = table.out();
  const auto& [past, added] = std::pair(node.inputs[0], node.inputs[1]);
  const Shape shape = table.graph().tensor(past).shape;
  const std::int64_t bound = shape[axis];
  const std::int64_t step = table.graph().tensor(added).shape[axis];
  std::vector<std::int64_t> along(shape.size() - axis, 1);
  along[0] = bound;
  const TensorId is_past = out.add("Reshape", {table.truths(counts[axis], bound), out.list(along)});
  TensorId next = added;
  if (step != 1) {
    const TensorId place = out.add("Sub", {table.numbered(bound), counts[axis]});
    const TensorId inside = out.add("Min", {place, out.list({step - 1})});
    next = out.add("Gather", {added, out.add("Max", {inside, out.list({0})})},
                   {{"axis", static_cast<std::int64_t>(axis)}});
  }
  const TensorId chosen = out.add("Where", {is_past, table.whole(past), next});
  counts[axis] = table.sum(node, table.extent(past, axis), {step, step}).count;
  out.copy(table.masked(table.alike(chosen, past, counts), axis, 0.0), node.outputs[0]);
  table.define(node.outputs[0], counts);
  table.define_zero_void(node.outputs[0], axis);
}

/// Parts side by side: where a part is shorter than its bound, what follows moves up.
bool write_concat(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  const std::size_t axis = view.axis_attribute();
  const auto late = [&](TensorId id) { return table.count(id, axis) != kNoTensor; };
  if (std::ranges::none_of(node.inputs, late)) return false;
  std::int64_t bound = 0;
  for (const TensorId id : node.inputs) bound += table.graph().tensor(id).shape[axis];
  LateCounts counts = table.counts(node.inputs[0]);
  const bool adds_one_part = node.inputs.size() == 2 && !table.is_late(node.inputs[1]);
  if (adds_one_part &&
      table.has_room(counts[axis], table.graph().tensor(node.inputs[1]).shape[axis])) {
    write_grown(table, node, axis, counts);
    return true;
  }
  std::vector<TensorId> parts;
  LateNumber total{0, 0};
  TensorId index = kNoTensor;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    LateCounts others = table.counts(id);
    others[axis] = counts[axis];
    if (others != counts) {
      table.refuse(node, "its inputs differ in a late extent along another dimension");
    }
    parts.push_back(table.whole(id));
    const LateNumber before = i == 0 ? LateNumber{} : table.extent(node.inputs[i - 1], axis);
    if (i > 0 && !before.is_known()) {
      // Elements from `total` on lie further behind by the void of the part before.
      const TensorId gap = out.add("Sub", {out.list({before.high}), before.count});
      const TensorId here =
          out.add("GreaterOrEqual", {table.numbered(bound), table.tensor_of(total)});
      const TensorId steps = out.add("Where", {here, gap, out.list({0})});
      index = out.add("Add", {index == kNoTensor ? table.numbered(bound) : index, steps});
    }
    total = table.sum(node, total, table.extent(id, axis));
  }
  const std::map<std::string, Attribute> along{{"axis", static_cast<std::int64_t>(axis)}};
  TensorId joined = out.add("Concat", parts, along);
  if (index != kNoTensor) joined = out.add("Gather", {joined, index}, along);
  out.copy(joined, node.outputs[0]);
  counts[axis] = total.count;
  table.define(node.outputs[0], counts);
  return true;
}

/// What a Slice takes of one dimension.
struct Part {
  LateNumber start, end;
  std::int64_t step = 1;
};

LateNumber counted_from_end(LateTable& table, const Node& node, const LateNumber& place,
                            const LateNumber& extent) {
  if (place.low >= 0) return table.least(node, place, extent);
  if (!place.is_known()) table.refuse(node, "a place follows from data and may be negative");
  const std::int64_t behind = -std::max(place.low, -extent.high);
  return table.rest(node, extent, {behind, behind});
}

std::map<std::size_t, Part> parts_of(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const std::size_t rank = view.input(0).shape.size();
  LateNumbers starts;
  LateNumbers ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
  const auto fixed = [](const std::vector<std::int64_t>& values) {
    LateNumbers numbers;
    for (const std::int64_t value : values) numbers.push_back({value, value});
    return numbers;
  };
  if (view.opset() < 10) {
    starts = fixed(view.integers("starts", {}));
    ends = fixed(view.integers("ends", {}));
    axes = view.integers("axes", {});
  } else {
    starts = table.numbers(node, view.input_id(1));
    ends = table.numbers(node, view.input_id(2));
    if (view.has_input(3)) axes = view.value_integers(3);
    if (view.has_input(4)) steps = view.value_integers(4);
  }
  for (std::size_t d = axes.size(); d < starts.size(); ++d) {
    axes.push_back(static_cast<std::int64_t>(d));
  }
  steps.resize(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size()) {
    view.fail("starts, ends and axes differ in their number");
  }
  std::map<std::size_t, Part> parts;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = view.axis(axes[i], rank, static_cast<std::int64_t>(rank) - 1);
    parts[axis] = {starts[i], ends[i], steps[i]};
  }
  return parts;
}

/// One dimension's part of `id`; `extent` is that dimension's, as it is before.
TensorId cut(LateTable& table, const Node& node, TensorId id, std::size_t axis, const Part& part,
             const LateNumber& extent, LateCounts& counts) {
  Splicing& out = table.out();
  const auto at = static_cast<std::int64_t>(axis);
  const bool is_fixed = extent.is_known() && part.start.is_known() && part.end.is_known();
  if (is_fixed) {
    return out.add("Slice", {id, out.list({part.start.low}), out.list({part.end.low}),
                             out.list({at}), out.list({part.step})});
  }
  if (part.step != 1) table.refuse(node, "it takes every few elements of a late extent");
  const LateNumber start = counted_from_end(table, node, part.start, extent);
  const LateNumber end = counted_from_end(table, node, part.end, extent);
  const LateNumber rest = table.rest(node, end, start);
  counts[axis] = rest.count;
  if (start.is_known()) {
    return out.add("Slice",
                   {id, out.list({start.low}), out.list({start.low + rest.high}), out.list({at})});
  }
  const TensorId index = out.add("Add", {table.numbered(rest.high), start.count});
  return out.add("Gather", {id, index}, {{"axis", at}});
}

bool write_slice(LateTable& table, const Node& node) {
  const TensorId input = node.inputs[0];
  const auto parts = parts_of(table, node);
  const bool is_late = std::ranges::any_of(parts, [&](const auto& part) {
    const auto& [axis, taken] = part;
    return table.count(input, axis) != kNoTensor || !taken.start.is_known() ||
           !taken.end.is_known();
  });
  if (!is_late) return false;
  LateCounts counts = table.counts(input);
  TensorId id = table.whole(input);
  for (const auto& [axis, part] : parts) {
    id = cut(table, node, id, axis, part, table.extent(input, axis), counts);
    table.define(id, LateCounts(counts.size(), kNoTensor));
  }
  table.out().copy(id, node.outputs[0]);
  table.define(node.outputs[0], counts);
  return true;
}

/// The first or last of what is there; void comes behind all of it.
bool write_top_k(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  const TensorId input = node.inputs[0];
  const auto rank = static_cast<std::int64_t>(view.input(0).shape.size());
  const std::size_t axis =
      view.axis(view.integer("axis", -1), static_cast<std::size_t>(rank), rank - 1);
  const bool by_input = view.opset() >= 10;
  LateNumber wanted{view.integer("k", 0), view.integer("k", 0)};
  if (by_input) {
    const LateNumbers numbers = table.numbers(node, view.input_id(1));
    if (numbers.size() != 1) view.fail("k has " + std::to_string(numbers.size()) + " numbers");
    wanted = numbers[0];
  }
  const LateNumber extent = table.extent(input, axis);
  if (extent.is_known() && wanted.is_known()) return false;
  if (wanted.low < 0) table.refuse(node, "k follows from data and may be negative");
  const bool largest = view.flag("largest", 1);
  const bool is_whole = !is_real(view.input(0).dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  // Behind NaN nothing sorts where the smallest come first.
  const double last = is_whole ? infinity : std::numeric_limits<double>::quiet_NaN();
  const TensorId masked = table.masked(input, axis, largest ? -infinity : last);
  const LateNumber count = table.least(node, wanted, extent);
  LateCounts counts = table.counts(input);
  counts[axis] = count.count;
  const auto results = out.add_several(
      "TopK", {table.whole(masked), out.list({count.high})}, 2,
      {{"axis", static_cast<std::int64_t>(axis)}, {"largest", static_cast<std::int64_t>(largest)}});
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    table.define(results[i], {});
    if (node.outputs[i] == kNoTensor) continue;
    out.copy(results[i], node.outputs[i]);
    table.define(node.outputs[i], counts);
  }
  return true;
}

/// Indices that count from the end of a late extent, counted from its front.
TensorId counted_from_front(LateTable& table, TensorId indices, TensorId count) {
  Splicing& out = table.out();
  const TensorId one = out.add("Reshape", {count, out.list({})});
  const TensorId number = out.add("CastLike", {one, indices});
  const TensorId zero = out.add("Sub", {number, number});
  const TensorId wrapped = out.add("Add", {indices, number});
  return out.add("Where", {out.add("Less", {indices, zero}), wrapped, indices});
}

/// Reads along a late extent.
bool write_gather(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  const std::size_t axis = view.axis_attribute();
  const TensorId count = table.count(node.inputs[0], axis);
  if (count == kNoTensor) return false;
  const TensorId data = table.whole(node.inputs[0], axis);
  table.out().again(node, {data, counted_from_front(table, node.inputs[1], count)});
  return true;
}

/// Void updates go nowhere: their indices lie outside.
bool write_scatter(LateTable& table, const Node& node) {
  const TensorId indices = node.inputs[1];
  if (table.is_late(node.inputs[0])) {
    table.refuse(node, "it changes elements of a tensor with a late extent");
  }
  if (!table.is_late(indices)) return false;
  const Shape shape = table.graph().tensor(node.inputs[0]).shape;
  const double outside = static_cast<double>(element_count(shape)) + 1;
  TensorId id = indices;
  for (std::size_t d = 0; d < table.graph().tensor(indices).shape.size(); ++d) {
    id = table.masked(id, d, outside);
  }
  table.out().again(node, {node.inputs[0], id, table.whole(node.inputs[2])});
  return true;
}

/// Without axes it drops what is 1, which a run alone finds out.
bool write_squeeze(LateTable& table, const Node& node) {
  const bool has_axes =
      node.attributes.contains("axes") || (node.inputs.size() > 1 && node.inputs[1] != kNoTensor);
  if (!has_axes && table.is_late(node.inputs[0])) {
    table.refuse(node, "it names no axes, and which extents are 1 follows from data");
  }
  return false;
}

bool write_split_to_sequence(LateTable& table, const Node& node) {
  const NodeView view(table.graph(), node);
  if (table.count(node.inputs[0], view.axis_attribute()) != kNoTensor) {
    table.refuse(node, "how many parts it makes follows from data");
  }
  return false;
}

constexpr std::array kPlaces{
    LateRule{"Concat", write_concat},
    LateRule{"Slice", write_slice},
    LateRule{"TopK", write_top_k},
    LateRule{"Gather", write_gather},
    LateRule{"GatherElements", write_gather},
    LateRule{"ScatterElements", write_scatter},
    LateRule{"ScatterND", write_scatter},
    LateRule{"Squeeze", write_squeeze},
    LateRule{"SplitToSequence", write_split_to_sequence},
};

}  // namespace

std::span<const LateRule> late_places() { return kPlaces; }

}  // namespace morton::passes
