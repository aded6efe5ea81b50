// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/roi_gradient.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

using Align = RoiAlignStructure;

/// More points of a bin are no nearer than 1 to an element: they are more than half an element
/// apart, but where there is one only.
constexpr std::int64_t kPointsNearby = 6;

/// A chain over the corners of one side of a part (inputs 0 and 1), the number of a bin (2), of an
/// element (3) and of one of the bin's points (4).
class PointChain {
 public:
  PointChain(const Align& align, std::int64_t count, std::int64_t extent)
      : align_(align), extent_(extent) {
    chain_.input_count = 5;
    const double offset = align.corners == Align::Corners::shifted ? 0.5 : 0.0;
    const auto corner = [&](int input) {
      const auto scale = static_cast<double>(align.scale);
      return apply(ScalarOp::sub, apply(ScalarOp::mul, ScalarRef::input(input), number(scale)),
                   number(offset));
    };
    const ScalarRef start = corner(0);
    ScalarRef length = apply(ScalarOp::sub, corner(1), start);
    if (align.corners == Align::Corners::as_given) {
      length = apply(ScalarOp::max, number(1.0), length);
    }
    bin_ = apply(ScalarOp::div, length, number(static_cast<double>(count)));
    first_ = apply(ScalarOp::add, start, apply(ScalarOp::mul, ScalarRef::input(2), bin_));
  }

  /// What a point adds to the weight of an element in the mean of its bin.
  [[nodiscard]] Chain share() && {
    const ScalarRef samples = count_of_points();
    const ScalarRef apart = apply(ScalarOp::div, bin_, samples);
    const ScalarRef s = align_.samples > 0 ? ScalarRef::input(4) : point_nearby(apart);
    const ScalarRef middle = apply(ScalarOp::add, s, number(0.5));
    const ScalarRef point = apply(ScalarOp::add, first_, apply(ScalarOp::mul, middle, apart));
    const ScalarRef is_point = apply(ScalarOp::less, s, samples);
    const auto extent = static_cast<double>(extent_);
    const ScalarRef from = apply(ScalarOp::less_equal, number(-1.0), point);
    const ScalarRef to = apply(ScalarOp::less_equal, point, number(extent));
    const ScalarRef inside =
        apply(ScalarOp::min, apply(ScalarOp::max, number(0.0), point), number(extent - 1.0));
    const ScalarRef distance =
        chain_.append(ScalarOp::abs, {apply(ScalarOp::sub, inside, ScalarRef::input(3))});
    const ScalarRef weight =
        apply(ScalarOp::max, number(0.0), apply(ScalarOp::sub, number(1.0), distance));
    const ScalarRef counts =
        apply(ScalarOp::logical_and, is_point, apply(ScalarOp::logical_and, from, to));
    chain_.append(ScalarOp::select, {counts, apply(ScalarOp::div, weight, samples), number(0.0)});
    return std::move(chain_);
  }

 private:
  [[nodiscard]] static ScalarRef number(double value) { return ScalarRef::constant(value); }
  ScalarRef apply(ScalarOp op, ScalarRef a, ScalarRef b) { return chain_.append(op, {a, b}); }

  ScalarRef count_of_points() {
    if (align_.samples > 0) return number(static_cast<double>(align_.samples));
    const ScalarRef whole = chain_.append(ScalarOp::ceil, {bin_});
    const ScalarRef most =
        apply(ScalarOp::min, whole, number(static_cast<double>(Align::kMostSamples)));
    return apply(ScalarOp::max, number(0.0), most);
  }

  /// The first point that may lie less than 1 before the element, and those behind it.
  ScalarRef point_nearby(ScalarRef apart) {
    const ScalarRef before = apply(ScalarOp::sub, ScalarRef::input(3), number(1.0));
    const ScalarRef distance = apply(ScalarOp::div, apply(ScalarOp::sub, before, first_), apart);
    const ScalarRef whole =
        chain_.append(ScalarOp::floor, {apply(ScalarOp::sub, distance, number(0.5))});
    return apply(ScalarOp::add, apply(ScalarOp::max, number(0.0), whole), ScalarRef::input(4));
  }

  Chain chain_;
  Align align_;
  std::int64_t extent_ = 0;
  ScalarRef bin_;    ///< its length
  ScalarRef first_;  ///< where the bin begins
};

/// The whole numbers from 0 on along dimension d of four.
TensorId counted(Gradient& gradient, DType type, std::size_t d, std::int64_t count) {
  Shape shape(4, 1);
  shape[d] = count;
  return gradient.converted(gradient.numbered(0, shape), type);
}

/// The weights of the elements of one side in the bins' means: parts x bins x elements. Corners
/// `first` and `last` of the parts bound the side.
TensorId weights_of_side(Gradient& gradient, const Align& align, std::int64_t first,
                         std::int64_t bins, std::int64_t extent) {
  const NodeView& node = gradient.node();
  const DType type = gradient.type_of(node.input_id(1)) == DType::f64 ? DType::f64 : DType::f32;
  const std::int64_t parts = node.input(1).shape[0];
  const std::int64_t points = align.samples > 0 ? align.samples : kPointsNearby;
  const TensorId rois = gradient.converted(node.input_id(1), type);
  const Shape all{parts, bins, extent, points};
  const auto corner = [&](std::int64_t q) {
    const TensorId column = gradient.sliced(rois, {0, q}, {parts, q + 1}, {1, 1});
    return gradient.reshaped(column, {parts, 1, 1, 1});
  };
  const TensorId shares = gradient.chain(
      PointChain(align, bins, extent).share(),
      {gradient.expanded(corner(first), all), corner(first + 2), counted(gradient, type, 1, bins),
       counted(gradient, type, 2, extent), counted(gradient, type, 3, points)});
  return gradient.reshaped(gradient.sum(shares, {3}), {parts, bins, extent});
}

/// 1 where a part is of an image: images x parts x 1.
TensorId parts_of_images(Gradient& gradient, DType type, std::int64_t images) {
  const TensorId numbers = gradient.node().input_id(2);
  const std::int64_t parts = gradient.shape_of(numbers)[0];
  Chain chain;
  chain.input_count = 2;
  const ScalarRef is_it = chain.append(ScalarOp::equal, {ScalarRef::input(0), ScalarRef::input(1)});
  chain.append_conversion(ScalarOp::cast, is_it, type);
  const TensorId spread =
      gradient.expanded(gradient.reshaped(numbers, {1, parts, 1}), {images, parts, 1});
  return gradient.chain(chain, {spread, gradient.numbered(0, {images, 1, 1})});
}

}  // namespace

/// A mean of interpolated points is a product: weights of rows, image, weights of columns. So is
/// its gradient, summed over the parts of each image.
void gradient_of_roi_align(Gradient& gradient, const Align& align) {
  const NodeView& node = gradient.node();
  if (align.pool != Align::Pool::mean) {
    throw UnsupportedError(node.where() + ": mode avg has a gradient, mode max has none");
  }
  if (gradient.wants(1)) {
    throw UnsupportedError(node.where() +
                           ": its image (input 0) has a gradient, its regions (input 1) have none");
  }
  const Shape image = node.input(0).shape;
  const Shape result = node.output().shape;
  const DType own = node.input(0).dtype;
  const DType type = own == DType::f64 ? DType::f64 : DType::f32;
  const std::int64_t parts = result[0];
  const TensorId columns = weights_of_side(gradient, align, 0, result[3], image[3]);
  const TensorId rows = weights_of_side(gradient, align, 1, result[2], image[2]);
  // parts x (C x OH) x W, then (parts x OH) x (C x W).
  const TensorId above = gradient.reshaped(gradient.converted(gradient.of_output(), type),
                                           {parts, result[1] * result[2], result[3]});
  const TensorId wide = gradient.reshaped(gradient.add("MatMul", {above, columns}),
                                          {parts, result[1], result[2], image[3]});
  const TensorId lines = gradient.reshaped(gradient.transposed(wide, {0, 2, 1, 3}),
                                           {1, parts * result[2], image[1] * image[3]});
  const Shape all{image[0], parts, result[2] * image[2]};
  const TensorId of_images = gradient.expanded(parts_of_images(gradient, type, image[0]), all);
  const TensorId masked = gradient.apply(
      ScalarOp::mul, {of_images, gradient.reshaped(rows, {1, parts, result[2] * image[2]})});
  const TensorId down = gradient.transposed(
      gradient.reshaped(masked, {image[0], parts * result[2], image[2]}), {0, 2, 1});
  const TensorId sums = gradient.reshaped(gradient.add("MatMul", {down, lines}),
                                          {image[0], image[2], image[1], image[3]});
  gradient.give(0, gradient.converted(gradient.transposed(sums, {0, 2, 1, 3}), own));
}

/// What comes back to a bin goes to its largest element. A bin without elements has -1, which is
/// the place behind the image's elements.
void gradient_of_max_roi_pool(Gradient& gradient) {
  const NodeView& node = gradient.node();
  if (!gradient.wants(0)) return;
  const Shape image = node.input(0).shape;
  const std::int64_t elements = element_count(image);
  const Shape bins{element_count(node.output().shape)};
  const DType own = node.input(0).dtype;
  const DType type = own == DType::f64 ? own : DType::f32;  // parts may share elements
  const TensorId places =
      gradient.add("MaxRoiPlace", {node.input_id(0), node.input_id(1)}, node.node().attributes);
  const TensorId sums =
      gradient.add("ScatterElements",
                   {zeros(gradient, type, {elements + 1}), gradient.reshaped(places, bins),
                    gradient.reshaped(gradient.converted(gradient.of_output(), type), bins)},
                   {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
  const TensorId kept = gradient.sliced(sums, {0}, {elements}, {1});
  gradient.give(0, gradient.converted(gradient.reshaped(kept, image), own));
}

}  // namespace morton::ops
