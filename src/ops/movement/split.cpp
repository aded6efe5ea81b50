// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// Extents of the parts along the axis: as given, else equal ones, the last shorter where opset 18
/// allows it.
std::vector<std::int64_t> lengths_of(const NodeView& node) {
  const std::int64_t extent = node.input(0).shape[node.axis_attribute()];
  const auto outputs = static_cast<std::int64_t>(node.node().outputs.size());
  std::vector<std::int64_t> lengths = attribute_or_input(node, "split", 1, {});
  if (lengths.empty()) {
    const std::int64_t count = node.integer("num_outputs", outputs);
    if (count < 1) node.fail("has " + std::to_string(count) + " outputs");
    if (extent % count != 0 && node.opset() < 18) {
      node.fail("cannot split an extent of " + std::to_string(extent) + " into " +
                std::to_string(count) + " equal parts");
    }
    const std::int64_t length = ceil_div(extent, count);
    lengths.assign(static_cast<std::size_t>(count), length);
    lengths.back() = extent - length * (count - 1);
  }
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) node.fail("a part has the extent " + std::to_string(length));
    sum = checked_add(sum, length, "Split");
  }
  if (sum != extent || static_cast<std::int64_t>(lengths.size()) < outputs) {
    node.fail("an extent of " + std::to_string(extent) + " is split into " +
              std::to_string(lengths.size()) + " parts of " + std::to_string(sum) +
              " together, for " + std::to_string(outputs) + " outputs");
  }
  return lengths;
}

std::vector<TensorType> infer_split(const NodeView& node) {
  std::vector<TensorType> results;
  for (const std::int64_t length : lengths_of(node)) {
    results.push_back(node.input(0));
    results.back().shape[node.axis_attribute()] = length;
  }
  return results;
}

std::vector<std::vector<Origin>> origins_of_split(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const std::size_t axis = node.axis_attribute();
  std::vector<std::vector<Origin>> all;
  std::int64_t offset = 0;
  for (const TensorType& type : infer_split(node)) {
    all.push_back(origins_of(type.shape, [&](const Shape& at) {
      Shape from = at;
      from[axis] += offset;
      return Origin{0, index_in(source, from)};
    }));
    offset += type.shape[axis];
  }
  return all;
}

std::vector<BoundProblem> parts_of_split(const NodeView& node) {
  const std::size_t axis = node.axis_attribute();
  const auto lengths = lengths_of(node);
  std::vector<BoundProblem> parts;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < node.node().outputs.size(); ++i) {
    if (node.output_id(i) != kNoTensor && lengths[i] > 0) {
      Movement movement(node, 0, i);
      std::vector<Expression> coordinates;
      for (std::size_t d = 0; d < node.input(0).shape.size(); ++d) {
        coordinates.push_back(Movement::at(d));
      }
      const bool whole = lengths[i] == node.input(0).shape[axis];
      if (!whole) coordinates[axis] = Movement::at(axis) + movement.size("OFFSET", offset);
      parts.push_back(movement.read(std::move(coordinates)));
    }
    offset += lengths[i];
  }
  return parts;
}

/// The gradients of the parts behind each other; zeros for a part that nothing comes back to.
void gradient_of_split(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const std::size_t axis = node.axis_attribute();
  const std::vector<TensorType> types = infer_split(node);
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool is_there = i < node.node().outputs.size() && gradient.of_output(i) != kNoTensor;
    if (element_count(types[i].shape) == 0) continue;
    parts.push_back(is_there ? gradient.of_output(i)
                             : gradient.constant(Tensor::allocate(types[i].dtype, types[i].shape)));
  }
  gradient.give(0, gradient.add("Concat", parts, {{"axis", static_cast<std::int64_t>(axis)}}));
}

}  // namespace

const Operator& operator_Split() {
  static const Operator kOperator{
      .name = "Split",
      .inputs = {.most = 2, .planned = {1}},
      .attributes = {"axis", "split", "num_outputs"},
      .since_opset = 2,
      .infer = infer_split,
      .host = {.origins = origins_of_split},
      .parts = parts_of_split,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_split,
  };
  return kOperator;
}

}  // namespace morton::ops
