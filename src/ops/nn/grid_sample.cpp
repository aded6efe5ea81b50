// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/core/operator.hpp"
#include "ops/math/along.hpp"
#include "ops/math/movement.hpp"
#include "ops/math/scattering.hpp"
#include "ops/math/summation.hpp"
#include "ops/nn/grid_sample_gradient.hpp"

namespace morton::ops {
namespace {

using Sampling = GridSampleStructure;

/// Before opset 20 the modes had the names of an image's.
Sampling::Taps taps_of_mode(const NodeView& node) {
  const bool early = node.opset() < 20;
  const std::string mode = node.text("mode", early ? "bilinear" : "linear");
  if (mode == "nearest") return Sampling::Taps::nearest;
  if (mode == (early ? "bilinear" : "linear")) return Sampling::Taps::linear;
  if (mode == (early ? "bicubic" : "cubic")) return Sampling::Taps::cubic;
  node.fail("mode '" + mode + "' is unknown; expected nearest, " +
            (early ? "bilinear or bicubic" : "linear or cubic"));
}

}  // namespace

Sampling sampling_of(const NodeView& node) {
  Sampling sampling;
  sampling.dimensions = static_cast<std::int64_t>(node.input(0).shape.size()) - 2;
  sampling.taps = taps_of_mode(node);
  sampling.ends = node.flag("align_corners", 0) ? Sampling::Ends::centres : Sampling::Ends::edges;
  const std::string padding = node.text("padding_mode", "zeros");
  if (padding == "border") {
    sampling.outside = Sampling::Outside::border;
  } else if (padding == "reflection") {
    sampling.outside = Sampling::Outside::reflection;
  } else if (padding != "zeros") {
    node.fail("padding_mode '" + padding + "' is unknown; expected zeros, border or reflection");
  }
  return sampling;
}

namespace {

std::vector<TensorType> infer_grid_sample(const NodeView& node) {
  const Shape image = node.input(0).shape;
  const Shape grid = node.input(1).shape;
  if (image.size() < 3) node.fail("its input needs a batch, channels and an image");
  if (image.size() > 5) node.unsupported("images of more than 3 dimensions");
  const bool fits = grid.size() == image.size() && grid[0] == image[0] &&
                    grid.back() == static_cast<std::int64_t>(image.size()) - 2;
  if (!fits) {
    node.fail("a grid of " + to_string(grid) + " does not fit an input of " + to_string(image));
  }
  for (std::size_t d = 2; d < image.size(); ++d) {
    if (image[d] < 1) node.fail("its input of " + to_string(image) + " has no elements");
  }
  if (!is_real(node.input(1).dtype)) node.fail("its grid is of whole numbers");
  (void)sampling_of(node);
  Shape shape{image[0], image[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return {{node.input(0).dtype, shape}};
}

/// One element of the result: how places, weights and sums may err.
class SampledPlace {
 public:
  SampledPlace(const Sampling& sampling, const Shape& image) : sampling_(sampling) {
    for (std::size_t k = 0; k < count(); ++k) extents_[k] = image[image.size() - 1 - k];
  }

  /// Place k of the grid. Its arithmetic rounds some eight times, reflections included.
  void set(std::size_t k, const Bounded& place) {
    const double exact = unrounded(place.value, k);
    const auto extent = static_cast<double>(extents_[k]);
    off_[k] = place.error * extent / 2.0 + 8.0 * kUnitRoundoff * (std::fabs(exact) + extent + 1.0);
    position_[k] =
        sampling_.moved_inside(sampling_.position(place.value, extents_[k]), extents_[k]);
    const double to_half = std::fabs(std::fabs(exact - std::floor(exact)) - 0.5);
    const bool rounds = sampling_.taps == Sampling::Taps::nearest;
    // The border's cubic and the nearest element jump.
    const double least = sampling_.least();
    const double to_border =
        std::min(std::fabs(exact - least), std::fabs(exact - (extent - 1.0 - least)));
    jumps_ = jumps_ || (rounds && to_half <= off_[k]) ||
             (sampling_.taps == Sampling::Taps::cubic && to_border <= off_[k]);
  }

  /// `load(d, h, w)` is an element of the image with its error.
  template <typename Load>
  [[nodiscard]] Bounded value(const Load& load) const {
    const auto taps = static_cast<std::int64_t>(sampling_.taps);
    BoundedSum sum;
    double nearby = 0.0;
    // One more on each side, where rounding may move the place.
    for_taps(taps + 2, [&](const Coordinates3& tap) {
      Coordinates3 element{0, 0, 0};
      double weight = 1.0;
      bool takes_part = true;
      for (std::size_t k = 0; k < count(); ++k) {
        const std::int64_t own = tap[k] - 1;
        const std::int64_t at = sampling_.first_tap(position_[k]) + own;
        element[k] = sampling_.element(at, extents_[k]);
        if (element[k] < 0) return;
        takes_part = takes_part && own >= 0 && own < taps;
        if (takes_part) weight *= sampling_.weight(position_[k], at);
      }
      const Bounded found = load(element);
      nearby = std::max(nearby, std::fabs(found.value) + found.error);
      // A weight is a product of three at most, each of a few roundings.
      if (takes_part) {
        sum.add_product({weight, 16.0 * kUnitRoundoff * std::max(1.0, std::fabs(weight))}, found);
      }
    });
    if (sampling_.taps == Sampling::Taps::nearest) {
      const Bounded exact = sum.result();
      const double error = jumps_ ? 2.0 * nearby : 0.0;
      return {exact.value, error + carried(load)};
    }
    Bounded result = sum.result();
    // Between two elements the value moves by their distance at most. A cubic's weights of a
    // dimension change by 3 at most, those of the others add up to 3 at most.
    const double steepest = sampling_.taps == Sampling::Taps::linear ? 2.0 : 27.0;
    double slope = jumps_ ? 2.0 : 0.0;
    for (std::size_t k = 0; k < count(); ++k) slope += steepest * off_[k];
    result.error += slope * nearby;
    return result;
  }

 private:
  using Coordinates3 = std::array<std::int64_t, 3>;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(sampling_.dimensions); }

  [[nodiscard]] double unrounded(double place, std::size_t k) const {
    Sampling linear = sampling_;
    linear.taps = Sampling::Taps::linear;
    return linear.position(place, extents_[k]);
  }

  /// The error of the one element that is read.
  template <typename Load>
  [[nodiscard]] double carried(const Load& load) const {
    Coordinates3 element{0, 0, 0};
    for (std::size_t k = 0; k < count(); ++k) {
      element[k] = sampling_.element(sampling_.first_tap(position_[k]), extents_[k]);
      if (element[k] < 0) return 0.0;
    }
    return load(element).error;
  }

  template <typename Visit>
  void for_taps(std::int64_t taps, const Visit& visit) const {
    std::int64_t all = 1;
    for (std::size_t k = 0; k < count(); ++k) all *= taps;
    for (std::int64_t t = 0; t < all; ++t) visit({t % taps, t / taps % taps, t / taps / taps});
  }

  Sampling sampling_;
  std::array<std::int64_t, 3> extents_{1, 1, 1};
  std::array<double, 3> position_{0.0, 0.0, 0.0};
  std::array<double, 3> off_{0.0, 0.0, 0.0};
  bool jumps_ = false;
};

ReferenceTensor reference_grid_sample(const NodeView& node,
                                      std::span<const ReferenceTensor> inputs) {
  const Sampling sampling = sampling_of(node);
  const Shape image = node.input(0).shape;
  const auto count = static_cast<std::size_t>(sampling.dimensions);
  ReferenceTensor result;
  result.shape = infer_grid_sample(node)[0].shape;
  const std::int64_t plane = element_count({image.begin() + 2, image.end()});
  const std::int64_t places = element_count({result.shape.begin() + 2, result.shape.end()});
  const std::int64_t all = element_count(result.shape);
  for (std::int64_t e = 0; e < all; ++e) {
    const std::int64_t sample = e / places / image[1];
    SampledPlace place(sampling, image);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = static_cast<std::size_t>(sample * places + e % places) * count + k;
      place.set(k, {inputs[1].value[at], inputs[1].error[at]});
    }
    const Bounded value = place.value([&](const std::array<std::int64_t, 3>& at) {
      const std::int64_t rows = count > 1 ? image[image.size() - 2] : 1;
      const std::int64_t element =
          e / places * plane + (at[2] * rows + at[1]) * image.back() + at[0];
      return Bounded{inputs[0].value[static_cast<std::size_t>(element)],
                     inputs[0].error[static_cast<std::size_t>(element)]};
    });
    result.value.push_back(value.value);
    result.error.push_back(value.error);
  }
  return result;
}

BoundProblem lower_grid_sample(const NodeView& node) {
  const Shape image = node.input(0).shape;
  const Shape grid = node.input(1).shape;
  const Shape result = node.output().shape;
  const auto rank = static_cast<int>(image.size());
  BoundProblem bound;
  Problem& problem = bound.problem;
  problem.family = families::grid_sample;
  const bool wide = node.input(0).dtype == DType::f64 || node.input(1).dtype == DType::f64;
  problem.types["acc"] = wide ? DType::f64 : DType::f32;
  problem.structure = numbers_of(sampling_of(node));
  problem.extents = {{"N", image[0]}, {"C", image[1]}, {"D", 1}, {"H", 1}, {"W", image.back()}};
  Grouping dimensions{{0}, {1}, {}, {}, {rank - 1}};
  std::vector<Expression> extents{Expression::variable("N"), Expression::variable("C")};
  if (rank > 4) {
    problem.extents["D"] = image[2];
    dimensions[2] = {2};
    extents.push_back(Expression::variable("D"));
  }
  if (rank > 3) {
    problem.extents["H"] = image[image.size() - 2];
    dimensions[3] = {rank - 2};
    extents.push_back(Expression::variable("H"));
  }
  extents.push_back(Expression::variable("W"));
  bound.operands["src"] = {
      node.input_id(0), View::grouped({"N", "C", "D", "H", "W"}, std::move(dimensions), extents)};
  std::vector<int> places(image.size() - 2);
  std::iota(places.begin(), places.end(), 2);
  std::vector<Expression> joined = joined_extents(problem, "P", result, places);
  Grouping of_grid{{0}, {}, {rank - 1}};
  Grouping of_result{{0}, {1}, {}};
  for (const int place : places) {
    of_grid[1].push_back(place - 1);
    of_result[2].push_back(place);
  }
  joined.insert(joined.begin(), Expression::variable("N"));
  std::vector<Expression> of_places = joined;
  of_places.push_back(Expression::variable("R"));
  bound.operands["grid"] = {node.input_id(1),
                            View::grouped({"N", "P", "R"}, std::move(of_grid), of_places)};
  joined.insert(joined.begin() + 1, Expression::variable("C"));
  bound.operands["dst"] = {node.output_id(),
                           View::grouped({"N", "C", "P"}, std::move(of_result), joined)};
  return bound;
}

}  // namespace

const Operator& operator_GridSample() {
  static const Operator kOperator{
      .name = "GridSample",
      .inputs = {.least = 2, .most = 2},
      .attributes = {"align_corners", "mode", "padding_mode"},
      .since_opset = 16,
      .infer = infer_grid_sample,
      .host = {.reference = reference_grid_sample},
      .lower = lower_grid_sample,
      .types = {DType::f32, DType::f16, DType::bf16, DType::f64},
      .gradient = gradient_of_grid_sample,
  };
  return kOperator;
}

}  // namespace morton::ops
