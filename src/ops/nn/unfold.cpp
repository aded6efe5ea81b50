// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

using Numbers = std::vector<std::int64_t>;

/// One number for each direction of the image.
struct Unfolding {
  Numbers kernel, strides, dilations, before, output;
  std::int64_t taps = 1;
  std::int64_t places = 1;
};

Unfolding unfolding_of(const NodeView& node) {
  const std::size_t rank = node.input(0).shape.size();
  if (rank < 3)
    node.fail("the input is " + to_string(node.input(0).shape) + ", expected N x C x W");
  const std::size_t directions = rank - 2;
  const auto numbers = [&](const char* name, std::int64_t otherwise, std::int64_t least) {
    Numbers values = node.integers(name, Numbers(directions, otherwise));
    if (values.size() != directions) {
      node.fail(std::string(name) + " has " + std::to_string(values.size()) +
                " numbers, expected " + std::to_string(directions));
    }
    for (const std::int64_t value : values) {
      if (value < least) node.fail(std::string(name) + " holds " + std::to_string(value));
    }
    return values;
  };
  Unfolding part;
  part.kernel = numbers("kernel", 1, 1);
  part.strides = numbers("strides", 1, 1);
  part.dilations = numbers("dilations", 1, 1);
  part.before = numbers("before", 0, 0);
  part.output = numbers("output", 1, 1);
  for (const std::int64_t extent : part.kernel)
    part.taps = checked_mul(part.taps, extent, "Unfold");
  for (const std::int64_t extent : part.output) {
    part.places = checked_mul(part.places, extent, "Unfold");
  }
  return part;
}

/// (C * taps) x (N * places).
std::vector<TensorType> infer_unfold(const NodeView& node) {
  const Unfolding part = unfolding_of(node);
  const TensorType type = node.input(0);
  return {{type.dtype,
           {checked_mul(type.shape[1], part.taps, "Unfold"),
            checked_mul(type.shape[0], part.places, "Unfold")}}};
}

ReferenceTensor reference_unfold(const NodeView& node, std::span<const ReferenceTensor> inputs) {
  const Unfolding part = unfolding_of(node);
  const Shape source = node.input(0).shape;
  const double outside = node.real("outside", 0.0);
  ReferenceTensor result;
  result.shape = infer_unfold(node)[0].shape;
  const auto origins = origins_of(result.shape, [&](const Shape& at) {
    Shape from(source.size());
    from[0] = at[1] / part.places;
    from[1] = at[0] / part.taps;
    std::int64_t tap = at[0] % part.taps;
    std::int64_t place = at[1] % part.places;
    for (std::size_t d = part.kernel.size(); d-- > 0;) {
      from[d + 2] = place % part.output[d] * part.strides[d] +
                    tap % part.kernel[d] * part.dilations[d] - part.before[d];
      if (from[d + 2] < 0 || from[d + 2] >= source[d + 2]) return Origin{};
      place /= part.output[d];
      tap /= part.kernel[d];
    }
    return Origin{0, index_in(source, from)};
  });
  for (const Origin& origin : origins) {
    const bool inside = origin.input == 0;
    const auto at = static_cast<std::size_t>(origin.index);
    result.value.push_back(inside ? inputs[0].value[at] : outside);
    result.error.push_back(inside ? inputs[0].error[at] : 0.0);
  }
  return result;
}

BoundProblem lower_unfold(const NodeView& node) {
  const Unfolding part = unfolding_of(node);
  const std::size_t directions = part.kernel.size();
  Movement movement(node, 0, 0);
  std::vector<Expression> coordinates(directions + 2);
  Expression tap = Movement::at(0);
  Expression place = Movement::at(1);
  for (std::size_t d = directions; d-- > 0;) {
    const Expression output = movement.size("PLACES" + std::to_string(d), part.output[d]);
    const Expression kernel(part.kernel[d]);
    coordinates[d + 2] = place % output * Expression(part.strides[d]) +
                         tap % kernel * Expression(part.dilations[d]) - Expression(part.before[d]);
    place = place / output;
    tap = tap / kernel;
  }
  coordinates[0] = place;
  coordinates[1] = tap;
  return movement.read_bounded(std::move(coordinates), node.real("outside", 0.0));
}

}  // namespace

/// What lies under each window of an image N x C x (directions), as a column of a matrix: a product
/// with it is a convolution. A row is a tap of a channel. `outside` is what lies beyond the image.
const Operator& operator_Unfold() {
  static const Operator kOperator{
      .name = "Unfold",
      .attributes = {"before", "dilations", "kernel", "output", "outside", "strides"},
      .infer = infer_unfold,
      .host = {.reference = reference_unfold},
      .lower = lower_unfold,
      .types = {DType::u8, DType::i8},
      .takes_epilogue = false,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
