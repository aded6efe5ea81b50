// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "ops/core/gradient.hpp"
#include "ops/math/movement.hpp"

namespace morton::ops {
namespace {

/// What is taken along one dimension: `count` elements from `start` on, `step` apart.
struct Taken {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// The lists of starts, ends, axes and steps: attributes before opset 10, inputs from then on.
struct Lists {
  std::vector<std::int64_t> starts, ends, axes, steps;
};

Lists lists_of(const NodeView& node) {
  Lists lists;
  if (node.opset() < 10) {
    lists.starts = node.integers("starts", {});
    lists.ends = node.integers("ends", {});
  } else {
    lists.starts = node.value_integers(1);
    lists.ends = node.value_integers(2);
  }
  std::vector<std::int64_t> all(lists.starts.size());
  std::iota(all.begin(), all.end(), 0);
  lists.axes = attribute_or_input(node, "axes", 3, all);
  lists.steps = node.has_input(4) ? node.value_integers(4)
                                  : std::vector<std::int64_t>(lists.starts.size(), 1);
  if (lists.ends.size() != lists.starts.size() || lists.axes.size() != lists.starts.size() ||
      lists.steps.size() != lists.starts.size()) {
    node.fail("starts, ends, axes and steps have " + std::to_string(lists.starts.size()) + ", " +
              std::to_string(lists.ends.size()) + ", " + std::to_string(lists.axes.size()) +
              " and " + std::to_string(lists.steps.size()) + " elements; expected as many of each");
  }
  return lists;
}

/// `position` counted from the front; a negative one counts from the end. Saturates, since
/// exporters write the largest number for "to the end".
std::int64_t from_front(std::int64_t position, std::int64_t extent) {
  return position < 0 ? position + extent : position;
}

Taken taken_along(const NodeView& node, std::int64_t start, std::int64_t end, std::int64_t step,
                  std::int64_t extent) {
  if (step == 0) node.fail("a step is 0");
  Taken taken;
  if (extent == 0) return taken;
  // A step beyond the extent takes one element, whatever its size.
  taken.step = std::clamp(step, -extent - 1, extent + 1);
  const std::int64_t least = step > 0 ? 0 : -1;
  const std::int64_t most = step > 0 ? extent : extent - 1;
  taken.start = std::clamp(from_front(start, extent), std::max<std::int64_t>(least, 0), most);
  const std::int64_t stop = std::clamp(from_front(end, extent), least, most);
  const std::int64_t length = step > 0 ? stop - taken.start : taken.start - stop;
  taken.count = length <= 0 ? 0 : ceil_div(length, step > 0 ? taken.step : -taken.step);
  return taken;
}

std::vector<Taken> taken_of(const NodeView& node) {
  const Shape shape = node.input(0).shape;
  const Lists lists = lists_of(node);
  const auto axes = axes_from(node, lists.axes, shape.size());
  std::vector<Taken> taken;
  for (const std::int64_t extent : shape) taken.push_back({0, 1, extent});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    taken[axes[i]] =
        taken_along(node, lists.starts[i], lists.ends[i], lists.steps[i], shape[axes[i]]);
  }
  return taken;
}

std::vector<TensorType> infer_slice(const NodeView& node) {
  TensorType result{node.input(0).dtype, {}};
  for (const Taken& taken : taken_of(node)) result.shape.push_back(taken.count);
  return {result};
}

std::vector<std::vector<Origin>> origins_of_slice(const NodeView& node) {
  const Shape source = node.input(0).shape;
  const auto taken = taken_of(node);
  return {origins_of(infer_slice(node)[0].shape, [&](const Shape& at) {
    Shape from(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) from[d] = taken[d].start + at[d] * taken[d].step;
    return Origin{0, index_in(source, from)};
  })};
}

BoundProblem lower_slice(const NodeView& node) {
  Movement movement(node, 0, 0);
  const auto taken = taken_of(node);
  const Shape source = node.input(0).shape;
  std::vector<Expression> coordinates;
  for (std::size_t d = 0; d < taken.size(); ++d) {
    Expression coordinate = Movement::at(d);
    if (taken[d].step != 1) coordinate = coordinate * Expression(taken[d].step);
    if (taken[d].count != source[d] || taken[d].step != 1) {
      coordinate = coordinate + movement.size("START" + std::to_string(d), taken[d].start);
    }
    coordinates.push_back(std::move(coordinate));
  }
  return movement.read(std::move(coordinates));
}

/// `value` with `step` - 1 zeros behind each element of dimension d but the last.
TensorId spread(Gradient& gradient, TensorId value, std::size_t d, std::int64_t step) {
  const Shape shape = gradient.shape_of(value);
  Shape split = shape;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
  std::vector<std::int64_t> before(split.size(), 0);
  std::vector<std::int64_t> behind(split.size(), 0);
  behind[d + 1] = step - 1;
  Shape joined = shape;
  joined[d] *= step;
  TensorId wide = gradient.padded(gradient.reshaped(value, split), before, behind);
  wide = gradient.reshaped(wide, joined);
  std::vector<std::int64_t> ends = joined;
  ends[d] -= step - 1;
  return gradient.sliced(wide, std::vector<std::int64_t>(ends.size(), 0), ends,
                         std::vector<std::int64_t>(ends.size(), 1));
}

/// Each element back where it came from, zeros elsewhere.
void gradient_of_slice(Gradient& gradient) {
  const Shape source = gradient.node().input(0).shape;
  const auto all_taken = taken_of(gradient.node());
  TensorId value = gradient.of_output();
  std::vector<std::int64_t> before(source.size(), 0);
  std::vector<std::int64_t> behind(source.size(), 0);
  for (std::size_t d = 0; d < source.size(); ++d) {
    Taken taken = all_taken[d];
    if (taken.step < 0) {
      const std::size_t rank = source.size();
      std::vector<std::int64_t> starts(rank, 0);
      std::vector<std::int64_t> ends = gradient.shape_of(value);
      std::vector<std::int64_t> steps(rank, 1);
      starts[d] = -1;
      ends[d] = std::numeric_limits<std::int64_t>::min();
      steps[d] = -1;
      value = gradient.sliced(value, starts, ends, steps);
      taken = {taken.start + (taken.count - 1) * taken.step, -taken.step, taken.count};
    }
    if (taken.step > 1 && taken.count > 1) value = spread(gradient, value, d, taken.step);
    before[d] = taken.start;
    behind[d] = source[d] - taken.start - gradient.shape_of(value)[d];
  }
  gradient.give(
      0, gradient.shape_of(value) == source ? value : gradient.padded(value, before, behind));
}

}  // namespace

const Operator& operator_Slice() {
  static const Operator kOperator{
      .name = "Slice",
      .inputs = {.most = 5, .planned = {1, 2, 3, 4}},
      .attributes = {"starts", "ends", "axes"},
      .since_opset = 1,
      .infer = infer_slice,
      .host = {.origins = origins_of_slice},
      .lower = lower_slice,
      .types = all_types(),
      .takes_epilogue = false,
      .gradient = gradient_of_slice,
  };
  return kOperator;
}

}  // namespace morton::ops
