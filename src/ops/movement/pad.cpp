// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/checked.hpp"
#include "base/numbers/exact_integers.hpp"
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// How many elements stand before and behind the input along each dimension; fewer than none drops
/// some.
struct Padding {
  std::vector<std::int64_t> before, behind;
  enum class Mode : std::uint8_t { constant, reflect, edge, wrap } mode = Mode::constant;
};

Padding::Mode mode_of(const NodeView& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return Padding::Mode::constant;
  if (mode == "reflect") return Padding::Mode::reflect;
  if (mode == "edge") return Padding::Mode::edge;
  if (mode == "wrap") return Padding::Mode::wrap;
  node.fail("mode is '" + mode + "', expected constant, reflect, edge or wrap");
}

/// Modes other than constant take from the input, once round at most.
void check_mode(const NodeView& node, const Padding& padding, const Shape& shape) {
  if (padding.mode == Padding::Mode::constant) return;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t most = std::max(padding.before[d], padding.behind[d]);
    const std::int64_t limit = padding.mode == Padding::Mode::reflect ? shape[d] - 1 : most;
    if (most > limit || (most > 0 && shape[d] == 0)) {
      node.unsupported("pads dimension " + std::to_string(d) + " of " + to_string(shape) + " by " +
                       std::to_string(most) + ", more than there is to take from");
    }
  }
}

Padding padding_of(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const std::size_t rank = shape.size();
  Padding padding;
  padding.mode = mode_of(node);
  const auto pads = attribute_or_input(node, "pads", 1, {});
  std::vector<std::int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  const auto axes = axes_from(node, node.has_input(3) ? node.value_integers(3) : all, rank);
  if (pads.size() != 2 * axes.size()) {
    node.fail("has " + std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) +
              " axes, expected two for each");
  }
  padding.before.assign(rank, 0);
  padding.behind.assign(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    padding.before[axes[i]] = pads[i];
    padding.behind[axes[i]] = pads[i + axes.size()];
  }
  check_mode(node, padding, shape);
  return padding;
}

/// What constant padding holds: an attribute before opset 11, an input from then on.
double outside_of(const NodeView& node) {
  if (!node.has_input(2)) return node.real("value", 0.0);
  const Tensor& value = node.value(2);
  if (value.size() != 1)
    node.fail("the padding is " + to_string(value.shape()) + ", not one value");
  if (!is_real(value.dtype()) && std::fabs(value.at(0)) >= kExactIntegers) {
    node.unsupported("the padding is a whole number of 2^53 or more");
  }
  return value.at(0);
}

std::vector<TensorType> infer_pad(const NodeView& node) {
  TensorType result = node.input(0);
  const Padding padding = padding_of(node);
  for (std::size_t d = 0; d < result.shape.size(); ++d) {
    std::int64_t& extent = result.shape[d];
    extent = checked_add(checked_add(extent, padding.before[d], "Pad"), padding.behind[d], "Pad");
    if (extent < 0) node.fail("dimension " + std::to_string(d) + " loses more than it has");
  }
  return {result};
}

/// The source's coordinate for `at`, which may lie outside of `extent` in mode constant.
std::int64_t source_of(Padding::Mode mode, std::int64_t at, std::int64_t extent) {
  switch (mode) {
    case Padding::Mode::constant:
      return at;
    case Padding::Mode::reflect:
      if (at < 0) return -at;
      return at < extent ? at : 2 * (extent - 1) - at;
    case Padding::Mode::edge:
      return std::clamp<std::int64_t>(at, 0, extent - 1);
    case Padding::Mode::wrap:
      return (at % extent + extent) % extent;
  }
  return at;
}

ReferenceTensor reference_pad(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Padding padding = padding_of(node);
  const Shape source = node.input(0).shape;
  ReferenceTensor result;
  result.shape = infer_pad(node)[0].shape;
  const double outside = outside_of(node);
  const auto origins = origins_of(result.shape, [&](const Shape& at) {
    Shape from(at.size());
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      from[d] = source_of(padding.mode, at[d] - padding.before[d], source[d]);
      inside = inside && from[d] >= 0 && from[d] < source[d];
    }
    return inside ? Origin{0, index_in(source, from)} : Origin{};
  });
  for (const Origin& origin : origins) {
    const bool inside = origin.input == 0;
    const auto at = static_cast<std::size_t>(origin.index);
    result.value.push_back(inside ? inputs[0].value[at] : outside);
    result.error.push_back(inside ? inputs[0].error[at] : 0.0);
  }
  return result;
}

/// The same as `source_of`, in the coordinates of the problem. What is padded depends on the image,
/// so it is an extent.
Expression coordinate_of(Padding::Mode mode, std::size_t d) {
  const std::string number = std::to_string(d);
  const std::string at = "(d" + number + " - PAD" + number + ")";
  const std::string extent = "S" + number;
  const std::string last = "(" + extent + " - 1)";
  const std::string distance = "max(" + at + ", 0 - " + at + ")";
  switch (mode) {
    case Padding::Mode::constant:
      return Expression::parse(at, "Pad");
    case Padding::Mode::reflect:
      return Expression::parse(
          last + " - max(" + last + " - " + distance + ", " + distance + " - " + last + ")", "Pad");
    case Padding::Mode::edge:
      return Expression::parse("min(max(" + at + ", 0), " + last + ")", "Pad");
    case Padding::Mode::wrap:
      return Expression::parse("(" + at + " % " + extent + " + " + extent + ") % " + extent, "Pad");
  }
  return {};
}

BoundProblem lower_pad(const NodeView& node) {
  const Padding padding = padding_of(node);
  Movement movement(node, 0, 0);
  std::vector<Expression> coordinates;
  for (std::size_t d = 0; d < padding.before.size(); ++d) {
    const bool padded = padding.before[d] != 0 || padding.behind[d] != 0;
    if (padded) (void)movement.size("PAD" + std::to_string(d), padding.before[d]);
    coordinates.push_back(padded ? coordinate_of(padding.mode, d) : Movement::at(d));
  }
  if (padding.mode != Padding::Mode::constant) return movement.read(std::move(coordinates));
  return movement.read_bounded(std::move(coordinates), outside_of(node));
}

/// The gradient without the padding; what negative padding dropped gets none.
void gradient_of_pad(Gradient& gradient) {
  const NodeView& node = gradient.node();
  Padding padding = padding_of(node);
  if (padding.mode != Padding::Mode::constant) {
    node.unsupported("has a gradient in mode constant only");
  }
  for (std::size_t d = 0; d < padding.before.size(); ++d) {
    padding.before[d] = -padding.before[d];
    padding.behind[d] = -padding.behind[d];
  }
  gradient.give(0, gradient.padded(gradient.of_output(), padding.before, padding.behind));
}

}  // namespace

const Operator& operator_Pad() {
  static const Operator kOperator{
      .name = "Pad",
      .inputs = {.most = 4, .planned = {1, 2, 3}},
      .attributes = {"mode", "pads", "value"},
      .since_opset = 2,
      .infer = infer_pad,
      .host = {.reference = reference_pad},
      .lower = lower_pad,
      .expand =
          [](Expansion& out) {
            const NodeView& node = out.node();
            const bool is_constant = padding_of(node).mode == Padding::Mode::constant;
            if (!is_constant || !computes_with_nothing(out)) return std::vector<TensorId>{};
            const TensorId outside = out.scalar(node.input(0).dtype, outside_of(node));
            return std::vector<TensorId>{out.expanded(outside, infer_pad(node)[0].shape)};
          },
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_pad,
  };
  return kOperator;
}

}  // namespace morton::ops
