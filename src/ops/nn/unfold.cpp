// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Windows of more elements are one problem, whose coordinates take divisions.
constexpr std::int64_t kMostParts = 49;

/// One number for each direction of the image.
struct Unfolding {
  Numbers kernel, strides, dilations, output;
  std::int64_t taps = 1;
};

Unfolding unfolding_of(const NodeView& node) {
  const Shape image = node.input(0).shape;
  if (image.size() < 3) node.fail("the input is " + to_string(image) + ", expected N x C x W");
  const std::size_t directions = image.size() - 2;
  const auto numbers = [&](const char* name) {
    Numbers values = node.integers(name, Numbers(directions, 1));
    if (values.size() != directions) {
      node.fail(std::string(name) + " has " + std::to_string(values.size()) +
                " numbers, expected " + std::to_string(directions));
    }
    for (const std::int64_t value : values) {
      if (value < 1) node.fail(std::string(name) + " holds " + std::to_string(value));
    }
    return values;
  };
  Unfolding part{numbers("kernel"), numbers("strides"), numbers("dilations"), numbers("output")};
  for (std::size_t d = 0; d < directions; ++d) {
    part.taps = checked_mul(part.taps, part.kernel[d], "Unfold");
    const std::int64_t last =
        checked_add(checked_mul(part.output[d] - 1, part.strides[d], "Unfold"),
                    checked_mul(part.kernel[d] - 1, part.dilations[d], "Unfold"), "Unfold");
    if (last >= image[d + 2]) {
      node.fail("its windows leave the image, " + to_string(image));
    }
  }
  return part;
}

/// C x taps x N x (how many windows there are along each direction).
std::vector<TensorType> infer_unfold(const NodeView& node) {
  const Unfolding part = unfolding_of(node);
  const TensorType type = node.input(0);
  Shape result{type.shape[1], part.taps, type.shape[0]};
  result.insert(result.end(), part.output.begin(), part.output.end());
  return {{type.dtype, result}};
}

/// The place of an element of a window along each direction.
Numbers tap_at(const Unfolding& part, std::int64_t tap) {
  Numbers place(part.kernel.size());
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] = tap % part.kernel[d] * part.dilations[d];
    tap /= part.kernel[d];
  }
  return place;
}

std::vector<std::vector<Origin>> origins_of_unfold(const NodeView& node) {
  const Unfolding part = unfolding_of(node);
  const Shape source = node.input(0).shape;
  return {origins_of(infer_unfold(node)[0].shape, [&](const Shape& at) {
    Shape from{at[2], at[0]};
    const Numbers tap = tap_at(part, at[1]);
    for (std::size_t d = 0; d < tap.size(); ++d) {
      from.push_back(at[d + 3] * part.strides[d] + tap[d]);
    }
    return Origin{0, index_in(source, from)};
  })};
}

/// The problem that copies one element of all windows.
BoundProblem lower_tap(const NodeView& node, const Unfolding& part, std::int64_t number) {
  const Shape result = node.output().shape;
  Movement movement(node, 0, 0);
  std::vector<Expression> from{Movement::at(2), Movement::at(0)};
  const Numbers tap = tap_at(part, number);
  for (std::size_t d = 0; d < tap.size(); ++d) {
    const Expression start = movement.size("TAP" + std::to_string(d), tap[d]);
    from.push_back(Movement::at(d + 3) * Expression(part.strides[d]) + start);
  }
  std::vector<std::string> dimensions;
  std::vector<Expression> to;
  std::vector<Expression> extents;
  for (std::size_t d = 0; d < result.size(); ++d) {
    dimensions.push_back("D" + std::to_string(d));
    const Expression at = Movement::at(d);
    to.push_back(d == 1 ? at + movement.size("OFFSET", number) : at);
    extents.push_back(movement.size("T" + std::to_string(d), result[d]));
  }
  BoundProblem bound = movement.read(std::move(from));
  bound.problem.extents["D1"] = 1;
  bound.operands.at("src").view.grouping.reset();
  View& dst = bound.operands.at("dst").view;
  dst = View::mapped(std::move(dimensions), std::move(to), extents);
  dst.grouping.reset();
  return bound;
}

BoundProblem lower_all_taps(const NodeView& node, const Unfolding& part) {
  Movement movement(node, 0, 0);
  const std::size_t directions = part.kernel.size();
  std::vector<Expression> coordinates(directions + 2);
  Expression tap = Movement::at(1);
  for (std::size_t d = directions; d-- > 0;) {
    const Expression kernel(part.kernel[d]);
    coordinates[d + 2] = Movement::at(d + 3) * Expression(part.strides[d]) +
                         tap % kernel * Expression(part.dilations[d]);
    tap = tap / kernel;
  }
  coordinates[0] = Movement::at(2);
  coordinates[1] = Movement::at(0);
  return movement.read(std::move(coordinates));
}

std::vector<BoundProblem> parts_of_unfold(const NodeView& node) {
  const Unfolding part = unfolding_of(node);
  if (part.taps > kMostParts) return {lower_all_taps(node, part)};
  std::vector<BoundProblem> problems;
  for (std::int64_t tap = 0; tap < part.taps; ++tap) {
    problems.push_back(lower_tap(node, part, tap));
  }
  return problems;
}

}  // namespace

/// What lies under each window of an image N x C x (directions), which no window leaves: a product
/// with it is a convolution.
const Operator& operator_Unfold() {
  static const Operator kOperator{
      .name = "Unfold",
      .attributes = {"dilations", "kernel", "output", "strides"},
      .infer = infer_unfold,
      .host = {.origins = origins_of_unfold},
      .parts = parts_of_unfold,
      .types = {DType::u8, DType::i8},
      .takes_epilogue = false,
      .home = Operator::Home::inside,
  };
  return kOperator;
}

}  // namespace morton::ops
