// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

constexpr std::size_t kMostScatterIndices = 4;

/// The extents that a tuple of the indices, their last dimension, goes into.
std::vector<std::int64_t> scatter_extents(const NodeView& node) {
  const Shape data = node.input(0).shape;
  const std::int64_t length = node.input(1).shape.back();
  return {data.begin(), data.begin() + length};
}

/// Each tuple names an element, or a part of the data, that an update goes to.
std::vector<TensorType> infer_scatter_nd(const NodeView& node) {
  check_indices(node);
  check_updates(node);
  (void)reduction_of(node);
  const Shape data = node.input(0).shape;
  const Shape indices = node.input(1).shape;
  if (data.empty() || indices.empty()) node.fail("the data and the indices need dimensions");
  const std::int64_t length = indices.back();
  if (length < 1 || length > static_cast<std::int64_t>(data.size())) {
    node.fail("tuples of " + std::to_string(length) + " indices do not fit data of " +
              to_string(data));
  }
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + length, data.end());
  if (node.input(2).shape != expected) {
    node.fail("the updates are " + to_string(node.input(2).shape) + ", expected " +
              to_string(expected));
  }
  check_known_indices(node, scatter_extents(node));
  return {node.input(0)};
}

ReferenceTensor reference_scatter_nd(const NodeView& node,
                                     std::span<const ReferenceTensor> inputs) {
  const std::vector<std::int64_t> extents = scatter_extents(node);
  const Shape data = node.input(0).shape;
  const auto length = static_cast<std::int64_t>(extents.size());
  std::int64_t part = 1;
  for (std::size_t d = extents.size(); d < data.size(); ++d) part *= data[d];
  return scattered(node, inputs, places_of_updates(node, [&](std::int64_t update) {
                     std::int64_t at = 0;
                     for (std::int64_t l = 0; l < length; ++l) {
                       const std::int64_t extent = extents[static_cast<std::size_t>(l)];
                       const std::int64_t index =
                           wrapped_index(inputs[1], update / part * length + l, extent);
                       if (index < 0) return std::int64_t{-1};
                       at = at * extent + index;
                     }
                     return at * part + update % part;
                   }));
}

/// The indices lie as the updates' M do, and their tuples along L.
BoundProblem lower_scatter_nd(const NodeView& node) {
  const std::vector<std::int64_t> extents = scatter_extents(node);
  if (extents.size() > kMostScatterIndices) {
    node.unsupported("takes tuples of " + std::to_string(extents.size()) +
                     " indices; 4 are supported");
  }
  const auto lead = static_cast<int>(node.input(1).shape.size()) - 1;
  std::vector<int> updated(static_cast<std::size_t>(lead));
  std::iota(updated.begin(), updated.end(), 0);
  const ScatterStructure structure{static_cast<std::int64_t>(extents.size()), reduction_of(node),
                                   ScatterStructure::Indices::shared};
  BoundProblem bound = scatter_problem(node, structure, extents, 0, std::move(updated));
  const View& updates = bound.operands.at("update").view;
  std::vector<Expression> coordinates(updates.coordinates.begin(),
                                      updates.coordinates.begin() + lead);
  std::vector<Expression> sizes(updates.extents.begin(), updates.extents.begin() + lead);
  coordinates.push_back(Expression::variable("l"));
  sizes.push_back(Expression::variable("L"));
  View index = View::mapped({"O", "M", "L", "I"}, std::move(coordinates), sizes);
  index.grouping.reset();
  bound.operands["index"] = {node.input_id(1), std::move(index)};
  return bound;
}

void gradient_of_scatter_nd(Gradient& gradient) {
  gradient_of_scatter(
      gradient,
      {.reader = "GatherND", .read_at = gradient.node().input_id(1), .writer = "ScatterND"});
}

}  // namespace

const Operator& operator_ScatterND() {
  static const Operator kOperator{
      .name = "ScatterND",
      .inputs = {.least = 3, .most = 3},
      .attributes = {"reduction"},
      .since_opset = 11,
      .infer = infer_scatter_nd,
      .host = {.reference = reference_scatter_nd},
      .lower = lower_scatter_nd,
      .expand =
          [](Expansion& out) {
            return computes_with_nothing(out) ? std::vector<TensorId>{out.input(0)}
                                              : std::vector<TensorId>{};
          },
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_scatter_nd,
  };
  return kOperator;
}

}  // namespace morton::ops
