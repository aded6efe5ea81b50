// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/resizing.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers/checked.hpp"
#include "ops/math/summation.hpp"
#include "problems/resize2d.hpp"

namespace morton::ops {
namespace {

/// Arithmetic in f32 on values that carry errors.
Bounded rounded(double value, double error) {
  return {value, error + kUnitRoundoff * std::fabs(value)};
}
Bounded add(const Bounded& a, const Bounded& b) {
  return rounded(a.value + b.value, a.error + b.error);
}
Bounded subtract(const Bounded& a, const Bounded& b) {
  return rounded(a.value - b.value, a.error + b.error);
}
Bounded multiply(const Bounded& a, const Bounded& b) {
  return rounded(a.value * b.value,
                 std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error);
}
/// A division is of 2.5 ulp.
Bounded divide(const Bounded& a, const Bounded& b) {
  const double quotient = a.value / b.value;
  const double carried = (a.error + std::fabs(quotient) * b.error) / std::fabs(b.value);
  return {quotient, carried + 5.0 * kUnitRoundoff * std::fabs(quotient)};
}

/// The places along one axis that an element of the result reads, and their weights.
struct Taps {
  std::vector<std::int64_t> places;
  std::vector<Bounded> weights;
};

/// Keys' cubic at distance x.
Bounded cubic_weight(const Bounded& x, double coefficient) {
  const Bounded a{coefficient, 0.0};
  const auto times = [&](double factor) { return multiply({factor, 0.0}, a); };
  if (x.value <= 1.0) {
    const Bounded slope = subtract(multiply(add(a, {2.0, 0.0}), x), add(a, {3.0, 0.0}));
    return add(multiply(multiply(slope, x), x), {1.0, 0.0});
  }
  const Bounded inner = add(multiply(subtract(multiply(a, x), times(5.0)), x), times(8.0));
  return subtract(multiply(inner, x), times(4.0));
}

Taps taps_of(const Resizing& resizing, const ResizeAxis& axis, std::int64_t o) {
  const std::int64_t below = axis.below(o);
  const double exact = static_cast<double>(axis.factor * o + axis.added - below * axis.divisor) /
                       static_cast<double>(axis.divisor);
  const Bounded f{exact, 7.0 * kUnitRoundoff * exact};
  const Bounded one{1.0, 0.0};
  const bool linear = resizing.kind == Resizing::Kind::linear;
  const std::int64_t count = linear ? 2 : 4;
  Taps taps;
  Bounded total{0.0, 0.0};
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t at = below + t - (count / 2 - 1);
    Bounded weight;
    if (linear) {
      weight = t == 0 ? subtract(one, f) : f;
    } else {
      const Bounded offset{static_cast<double>(t < 2 ? 1 - t : t - 1), 0.0};
      weight =
          cubic_weight(t < 2 ? add(f, offset) : subtract(offset, f), resizing.cubic_coefficient);
    }
    if (resizing.exclude_outside && (at < 0 || at >= axis.extent)) weight = {0.0, 0.0};
    total = add(total, weight);
    taps.weights.push_back(weight);
    taps.places.push_back(std::clamp<std::int64_t>(at, 0, axis.extent - 1));
  }
  if (!resizing.exclude_outside) return taps;
  for (Bounded& weight : taps.weights) weight = divide(weight, total);
  return taps;
}

ReferenceTensor reference_nearest(const NodeView& node, const Resizing& resizing,
                                  const ReferenceTensor& source) {
  ReferenceTensor result;
  std::vector<ResizeAxis> axes;
  for (const ResizeAxis& axis : resizing.axes) {
    result.shape.push_back(axis.output);
    axes.push_back(axis.nearest(node, resizing.nearest_mode));
  }
  const std::int64_t count = element_count(result.shape);
  for (std::int64_t e = 0; e < count; ++e) {
    std::int64_t rest = e;
    std::int64_t at = 0;
    std::int64_t below = 1;
    for (std::size_t d = axes.size(); d-- > 0;) {
      at += axes[d].element(rest % axes[d].output) * below;
      rest /= axes[d].output;
      below *= axes[d].extent;
    }
    result.value.push_back(source.value[static_cast<std::size_t>(at)]);
    result.error.push_back(source.error[static_cast<std::size_t>(at)]);
  }
  return result;
}

/// The last two dimensions as rows and columns; a single one is a row.
ResizeAxis axis_from_end(const Resizing& resizing, std::size_t place) {
  if (resizing.axes.size() <= place) return {1, 1};
  return resizing.axes[resizing.axes.size() - 1 - place];
}

BoundProblem lower_nearest(const NodeView& node, const Resizing& resizing) {
  BoundProblem bound;
  bound.problem.family = families::elementwise;
  const std::size_t rank = resizing.axes.size();
  std::vector<std::string> dimensions;
  std::vector<Expression> coordinates;
  std::vector<Expression> extents;
  for (std::size_t d = 0; d < std::max<std::size_t>(rank, 1); ++d) {
    const std::string number = std::to_string(d);
    dimensions.push_back("D" + number);
    bound.problem.extents["D" + number] = rank == 0 ? 1 : resizing.axes[d].output;
    if (rank == 0) continue;
    const ResizeAxis axis = resizing.axes[d].nearest(node, resizing.nearest_mode);
    // Numbers that a new image size would change are arguments.
    const bool fixed = resizing.scales_given || axis.output % axis.extent == 0;
    const auto size = [&](const char* name, std::int64_t value) {
      if (fixed) return Expression(value);
      bound.problem.extents[name + number] = value;
      return Expression::variable(name + number);
    };
    const Expression extent = Expression::variable("S" + number);
    bound.problem.extents["S" + number] = axis.extent;
    Expression at = Expression::variable("d" + number);
    if (axis.resized()) {
      at = at * size("RN", axis.factor) + size("RA", axis.added);
      if (!fixed || axis.added < 0) at = Expression::parse("max(" + at.print() + ", 0)", "resize");
      at = at / size("RD", axis.divisor);
      const bool inside = axis.output == 0 || axis.below(axis.output - 1) < axis.extent;
      if (!fixed || !inside) {
        at = Expression::parse("min(" + at.print() + ", " + extent.print() + " - 1)", "resize");
      }
    }
    coordinates.push_back(at.substitute({}));
    extents.push_back(extent);
  }
  bound.operands["src0"] = {node.input_id(0),
                            View::mapped(dimensions, std::move(coordinates), extents)};
  if (rank == 0) {
    bound.operands["dst"] = {node.output_id(), View::mapped(dimensions, {}, {})};
    return bound;
  }
  bound.operands["dst"] = {node.output_id(), View::identity(dimensions)};
  return bound;
}

}  // namespace

Resizing::Kind resizing_kind(const NodeView& node, const std::string& mode) {
  if (mode == "nearest") return Resizing::Kind::nearest;
  if (mode == "linear" || mode == "bilinear") return Resizing::Kind::linear;
  if (mode == "cubic") return Resizing::Kind::cubic;
  node.fail("mode is '" + mode + "', expected nearest, linear or cubic");
}

std::vector<ResizeAxis> axes_of_scales(const NodeView& node, const std::string& coordinates,
                                       const std::vector<float>& scales) {
  const Shape shape = node.input(0).shape;
  if (scales.size() != shape.size()) {
    node.fail(std::to_string(scales.size()) + " scales for " + to_string(shape));
  }
  std::vector<ResizeAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Fraction scale = simplest_fraction(node, scales[d]);
    const std::int64_t output =
        checked_mul(shape[d], scale.numerator, "resize") / scale.denominator;
    if (output < 1)
      node.fail("scale " + std::to_string(scales[d]) + " leaves nothing of " + to_string(shape));
    axes.push_back(resize_axis(node, coordinates, shape[d], output, scale));
  }
  return axes;
}

std::vector<TensorType> infer_resizing(const NodeView& node, const Resizing& resizing) {
  TensorType result = node.input(0);
  for (std::size_t d = 0; d < resizing.axes.size(); ++d) {
    const ResizeAxis& axis = resizing.axes[d];
    result.shape[d] = axis.output;
    if (resizing.kind == Resizing::Kind::nearest) {
      static_cast<void>(axis.nearest(node, resizing.nearest_mode));
    }
  }
  return {result};
}

ReferenceTensor reference_resizing(const NodeView& node, const Resizing& resizing,
                                   const ReferenceTensor& source) {
  if (is_composed(resizing)) return reference_composed(node, {&source, 1}).front();
  if (resizing.kind == Resizing::Kind::nearest) return reference_nearest(node, resizing, source);
  const ResizeAxis down = axis_from_end(resizing, 1);
  const ResizeAxis across = axis_from_end(resizing, 0);
  ReferenceTensor result;
  for (const ResizeAxis& axis : resizing.axes) result.shape.push_back(axis.output);
  const auto plane = static_cast<std::size_t>(down.extent * across.extent);
  for (std::size_t first = 0; first < source.value.size(); first += plane) {
    for (std::int64_t oh = 0; oh < down.output; ++oh) {
      const Taps rows = taps_of(resizing, down, oh);
      for (std::int64_t ow = 0; ow < across.output; ++ow) {
        const Taps columns = taps_of(resizing, across, ow);
        BoundedSum sum;
        for (std::size_t i = 0; i < rows.places.size(); ++i) {
          BoundedSum row;
          for (std::size_t j = 0; j < columns.places.size(); ++j) {
            const std::size_t at = first + static_cast<std::size_t>(rows.places[i] * across.extent +
                                                                    columns.places[j]);
            row.add_product(columns.weights[j], {source.value[at], source.error[at]});
          }
          sum.add_product(rows.weights[i], row.result());
        }
        result.value.push_back(sum.result().value);
        result.error.push_back(sum.result().error);
      }
    }
  }
  return result;
}

BoundProblem lower_resizing(const NodeView& node, const Resizing& resizing) {
  if (resizing.kind == Resizing::Kind::nearest) return lower_nearest(node, resizing);
  const ResizeAxis down = axis_from_end(resizing, 1);
  const ResizeAxis across = axis_from_end(resizing, 0);
  const std::size_t rank = resizing.axes.size();
  BoundProblem bound;
  bound.problem.family = families::resize2d;
  bound.problem.extents = {{"H", down.extent},    {"OH", down.output},   {"HN", down.factor},
                           {"HA", down.added},    {"HD", down.divisor},  {"W", across.extent},
                           {"OW", across.output}, {"WN", across.factor}, {"WA", across.added},
                           {"WD", across.divisor}};
  const bool cubic = resizing.kind == Resizing::Kind::cubic;
  Resize2dStructure structure;
  if (cubic) structure.taps = Resize2dStructure::Taps::cubic;
  if (resizing.exclude_outside) structure.outside = Resize2dStructure::Outside::excluded;
  if (cubic) structure.cubic = static_cast<float>(resizing.cubic_coefficient);
  bound.problem.structure = numbers_of(structure);
  Grouping grouping(3);
  std::vector<Expression> source;
  std::vector<Expression> result;
  std::int64_t channels = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t group = d + 2 < rank ? 0 : d + 2 == rank ? 1 : 2;
    grouping[group].push_back(static_cast<int>(d));
    if (group == 0) {
      const std::string name = rank == 3 ? "C" : "C" + std::to_string(d);
      bound.problem.extents[name] = resizing.axes[d].extent;
      channels = checked_mul(channels, resizing.axes[d].extent, "resize");
      source.push_back(Expression::variable(name));
      result.push_back(Expression::variable(name));
    } else {
      source.push_back(Expression::variable(group == 1 ? "H" : "W"));
      result.push_back(Expression::variable(group == 1 ? "OH" : "OW"));
    }
  }
  bound.problem.extents["C"] = channels;
  bound.operands["src"] = {node.input_id(0), View::grouped({"C", "H", "W"}, grouping, source)};
  bound.operands["dst"] = {node.output_id(), View::grouped({"C", "OH", "OW"}, grouping, result)};
  return bound;
}

}  // namespace morton::ops
