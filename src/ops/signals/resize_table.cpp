// SPDX-License-Identifier: Apache-2.0
//
// Resizing one dimension after the other by tables of places and weights.
#include "ops/signals/resize_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/algebra/typed_chain.hpp"
#include "ops/core/made_constant.hpp"
#include "ops/signals/resize_matrix.hpp"

namespace morton::ops {
namespace {

using Kind = Resizing::Kind;

/// Where an element of the result lies.
struct Position {
  double whole = 0.0;  ///< rounded down
  double rest = 0.0;
};

Position position_of(const Resizing& resizing, std::size_t d, std::int64_t o) {
  const ResizeAxis& axis = resizing.axes[d];
  if (resizing.regions.empty()) {
    const std::int64_t below = axis.below(o);
    const double rest = static_cast<double>(axis.factor * o + axis.added - below * axis.divisor);
    return {static_cast<double>(below), rest / static_cast<double>(axis.divisor)};
  }
  const auto [start, end] = resizing.regions[d];
  const auto last = static_cast<double>(axis.extent - 1);
  const double at = axis.output > 1 ? static_cast<double>(o) * (end - start) * last /
                                              static_cast<double>(axis.output - 1) +
                                          start * last
                                    : 0.5 * (start + end) * last;
  return {std::floor(at), at - std::floor(at)};
}

double rounded_position(const Position& at, std::string_view mode) {
  if (mode == "floor") return at.whole;
  if (mode == "ceil") return at.whole + (at.rest > 0.0 ? 1.0 : 0.0);
  const bool up = mode == "round_prefer_ceil" ? at.rest >= 0.5 : at.rest > 0.5;
  return at.whole + (up ? 1.0 : 0.0);
}

/// The filter at distance x: a tent, or Keys' cubic.
double filter_at(const Resizing& resizing, double x) {
  x = std::fabs(x);
  if (resizing.kind == Kind::linear) return std::max(1.0 - x, 0.0);
  const double a = resizing.cubic_coefficient;
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  return x < 2.0 ? ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a : 0.0;
}

/// Appends the taps around one position. A filter that is to smooth is as wide as the elements of
/// the result lie apart.
void append_taps(const Resizing& resizing, std::size_t d, Position at, ResizeTable& table) {
  const std::int64_t extent = resizing.axes[d].extent;
  const double scale = resizing.antialias ? std::min(resizing.scales[d], 1.0) : 1.0;
  if (at.rest == 0.0) at = {at.whole - 1.0, 1.0};
  const auto first = static_cast<std::int64_t>(at.whole) + 1 - table.taps / 2;
  std::vector<double> weights;
  double total = 0.0;
  for (std::int64_t t = 0; t < table.taps; ++t) {
    const double distance = (static_cast<double>(first + t) - at.whole) - at.rest;
    const bool left_out = resizing.exclude_outside && (first + t < 0 || first + t >= extent);
    weights.push_back(left_out ? 0.0 : filter_at(resizing, distance * scale));
    total += weights.back();
    table.places.push_back(std::clamp<std::int64_t>(first + t, 0, extent - 1));
  }
  const bool divides = (resizing.antialias || resizing.exclude_outside) && total != 0.0;
  for (const double weight : weights) table.weights.push_back(divides ? weight / total : weight);
}

}  // namespace

ResizeTable table_of(const Resizing& resizing, std::size_t d, const std::string& where) {
  const ResizeAxis& axis = resizing.axes[d];
  ResizeTable table;
  table.output = axis.output;
  if (resizing.kind != Kind::nearest) {
    const double radius = resizing.kind == Kind::linear ? 1.0 : 2.0;
    const double scale = resizing.antialias ? std::min(resizing.scales[d], 1.0) : 1.0;
    table.taps = 2 - 2 * (static_cast<std::int64_t>(std::floor(-radius / scale)) + 1);
  }
  require_made(DType::i64, {table.output, table.taps}, where);
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const Position at = position_of(resizing, d, o);
    const double place = at.whole + at.rest;
    table.outside.push_back(place < 0.0 || place > static_cast<double>(axis.extent - 1));
    if (resizing.kind != Kind::nearest) {
      append_taps(resizing, d, at, table);
      continue;
    }
    const double nearest = rounded_position(at, resizing.nearest_mode);
    table.places.push_back(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(nearest), 0, axis.extent - 1));
  }
  return table;
}

bool keeps_dimension(const Resizing& resizing, std::size_t d) {
  if (resizing.axes[d].resized()) return false;
  return resizing.regions.empty() ||
         (resizing.regions[d].start == 0.0 && resizing.regions[d].end == 1.0);
}

namespace {

/// What lies outside of the source is the number that the model gives.
TensorId extrapolated(GraphWriter& writer, TensorId value, const Resizing& resizing,
                      const ResizeTable& table) {
  if (resizing.regions.empty() || std::ranges::find(table.outside, true) == table.outside.end()) {
    return value;
  }
  Tensor outside = Tensor::allocate(DType::boolean, {table.output, 1});
  for (std::int64_t o = 0; o < table.output; ++o) {
    outside.set(o, table.outside[static_cast<std::size_t>(o)] ? 1.0 : 0.0);
  }
  const TensorId number = writer.scalar(writer.type_of(value), resizing.extrapolation);
  Chain chain;
  chain.input_count = 3;
  chain.append(ScalarOp::select, {ScalarRef::input(1), ScalarRef::input(2), ScalarRef::input(0)});
  return writer.chain(chain, {value, writer.constant(std::move(outside)), number});
}

/// A product with a matrix of the weights is quicker than picking the elements, up to this size.
constexpr std::int64_t kLargestMatrix = std::int64_t{1} << 22;

/// `value`, M x extent x N, along its middle.
TensorId resized_middle(GraphWriter& writer, TensorId value, const Resizing& resizing,
                        const ResizeTable& table) {
  const Shape shape = writer.shape_of(value);
  Tensor places = Tensor::from({table.output * table.taps}, table.places);
  const GraphWriter::Attributes middle{{"axis", std::int64_t{1}}};
  if (table.weights.empty()) {
    const TensorId taken = writer.add("Gather", {value, writer.constant(places)}, middle);
    return extrapolated(writer, taken, resizing, table);
  }
  if (table.output * shape[1] <= kLargestMatrix) {
    const TensorId product = times_middle(writer, value, matrix_of(table, shape[1]), table.output);
    return extrapolated(writer, product, resizing, table);
  }
  const TensorId taken = writer.add(
      "Gather", {value, writer.constant(places.reshaped({table.output, table.taps}))}, middle);
  Tensor weights = Tensor::allocate(writer.type_of(value), {table.output, table.taps, 1});
  for (std::size_t i = 0; i < table.weights.size(); ++i) {
    weights.set(static_cast<std::int64_t>(i), table.weights[i]);
  }
  const TensorId weighted =
      writer.apply(ScalarOp::mul, {taken, writer.constant(std::move(weights))});
  const TensorId sum =
      writer.reshaped(writer.sum(weighted, {2}), {shape[0], table.output, shape[2]});
  return extrapolated(writer, sum, resizing, table);
}

/// Whole numbers are interpolated in f32.
bool converts(const Resizing& resizing) {
  return resizing.of_integers && resizing.kind != Kind::nearest;
}

TensorId by_tables(Expansion& expansion, const Resizing& resizing) {
  const DType type = expansion.node().input(0).dtype;
  TensorId value = expansion.input(0);
  const auto converted = [&](ScalarOp op, DType target) {
    Chain chain;
    chain.append_conversion(op, ScalarRef::input(0), target);
    value = expansion.chain(chain, {value});
  };
  if (converts(resizing)) converted(ScalarOp::cast, DType::f32);
  // The dimension that shrinks most first.
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < resizing.axes.size(); ++d) {
    if (!keeps_dimension(resizing, d)) order.push_back(d);
  }
  const auto growth = [&](std::size_t d) {
    return static_cast<double>(resizing.axes[d].output) /
           static_cast<double>(resizing.axes[d].extent);
  };
  std::ranges::stable_sort(order, {}, growth);
  for (const std::size_t d : order) {
    Shape shape = expansion.shape_of(value);
    value = expansion.reshaped(value, around_dimension(shape, d));
    value =
        resized_middle(expansion, value, resizing, table_of(resizing, d, expansion.node().where()));
    shape[d] = resizing.axes[d].output;
    value = expansion.reshaped(value, shape);
  }
  if (converts(resizing)) converted(ScalarOp::saturate, type);
  return value;
}

/// One kernel interpolates along the last two dimensions; the others follow one by one.
TensorId by_dimensions(Expansion& expansion, const Resizing& resizing) {
  const GraphWriter::Attributes attributes{
      {"mode", std::string(resizing.kind == Kind::linear ? "linear" : "cubic")},
      {"coordinate_transformation_mode", resizing.coordinates},
      {"cubic_coeff_a", resizing.cubic_coefficient},
      {"exclude_outside", std::int64_t{resizing.exclude_outside ? 1 : 0}}};
  TensorId value = expansion.input(0);
  for (std::size_t d = resizing.axes.size(); d-- > 0;) {
    if (keeps_dimension(resizing, d)) continue;
    const Shape shape = expansion.shape_of(value);
    const std::size_t first = d + 1 == shape.size() && d > 0 ? d - 1 : d;
    Shape apart{element_count({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first)})};
    Shape result = shape;
    std::vector<std::int64_t> sizes{apart[0]};
    std::vector<float> scales{1.0F};
    for (std::size_t i = first; i <= d; ++i) {
      apart.push_back(shape[i]);
      sizes.push_back(resizing.axes[i].output);
      scales.push_back(static_cast<float>(resizing.scales[i]));
      result[i] = resizing.axes[i].output;
    }
    const std::int64_t rest =
        element_count({shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end()});
    if (first == d) {
      apart.push_back(rest);
      sizes.push_back(rest);
      scales.push_back(1.0F);
    }
    value = expansion.reshaped(value, apart);
    const auto count = static_cast<std::int64_t>(scales.size());
    value =
        resizing.scales_given
            ? expansion.add("Resize",
                            {value, kNoTensor, expansion.constant(Tensor::from({count}, scales))},
                            attributes)
            : expansion.add("Resize", {value, kNoTensor, kNoTensor, expansion.list(sizes)},
                            attributes);
    value = expansion.reshaped(value, result);
    d = first;
  }
  return value;
}

bool interpolates_far(const Resizing& resizing) {
  for (std::size_t d = 0; d + 2 < resizing.axes.size(); ++d) {
    if (resizing.axes[d].resized()) return resizing.kind != Kind::nearest;
  }
  return false;
}

bool smooths(const Resizing& resizing) {
  if (!resizing.antialias || resizing.kind == Kind::nearest) return false;
  return std::ranges::any_of(resizing.scales, [](double scale) { return scale < 1.0; });
}

}  // namespace

bool is_composed(const Resizing& resizing) {
  return !resizing.regions.empty() || smooths(resizing) || interpolates_far(resizing) ||
         converts(resizing);
}

std::vector<TensorId> expand_resizing(Expansion& expansion, const Resizing& resizing) {
  if (!is_composed(resizing)) return {};
  const bool plain = resizing.regions.empty() && !smooths(resizing) && !resizing.keeps_aspect &&
                     !resizing.of_integers;
  return {plain ? by_dimensions(expansion, resizing) : by_tables(expansion, resizing)};
}

}  // namespace morton::ops
