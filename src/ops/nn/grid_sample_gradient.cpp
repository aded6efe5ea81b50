// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/grid_sample_gradient.hpp"

#include <vector>

#include "base/algebra/derivative.hpp"
#include "base/rooms.hpp"
#include "ops/math/scattering.hpp"

namespace morton::ops {
namespace {

using Sampling = GridSampleStructure;

/// A chain over the grid's number (input 0) and that of a tap (input 1) along one dimension.
class TapChain {
 public:
  TapChain(const Sampling& sampling, std::int64_t extent)
      : sampling_(sampling), last_(static_cast<double>(extent - 1)), least_(sampling.least()) {
    chain_.input_count = 2;
    position_ = moved_inside(position());
    const ScalarRef whole = chain_.append(ScalarOp::floor, {position_});
    at_ = chain_.append(ScalarOp::add, {whole, ScalarRef::input(1)});
  }

  /// The tap's weight, 0 where it reads a zero outside.
  [[nodiscard]] Chain weight() && {
    const ScalarRef weight = weight_inside();
    if (sampling_.outside == Sampling::Outside::zeros) {
      const ScalarRef from = chain_.append(ScalarOp::less_equal, {number(0.0), at_});
      const ScalarRef to = chain_.append(ScalarOp::less_equal, {at_, number(last_)});
      const ScalarRef inside = chain_.append(ScalarOp::logical_and, {from, to});
      chain_.append(ScalarOp::select, {inside, weight, number(0.0)});
    } else {
      chain_.result = weight;
    }
    return std::move(chain_);
  }

  /// The element that the tap reads, kept within the image.
  [[nodiscard]] Chain element() && {
    ScalarRef element = at_;
    if (sampling_.outside == Sampling::Outside::reflection) element = reflected(element);
    chain_.append_conversion(ScalarOp::cast, kept(element, 0.0, last_), DType::i64);
    return std::move(chain_);
  }

 private:
  [[nodiscard]] static ScalarRef number(double value) { return ScalarRef::constant(value); }

  ScalarRef kept(ScalarRef value, double least, double most) {
    // Numbers that are none become the least.
    const ScalarRef raised = chain_.append(ScalarOp::max, {number(least), value});
    return chain_.append(ScalarOp::min, {raised, number(most)});
  }

  ScalarRef position() {
    const double stretch = (last_ - 2.0 * least_) / 2.0;
    const ScalarRef moved = chain_.append(ScalarOp::add, {ScalarRef::input(0), number(1.0)});
    const ScalarRef scaled = chain_.append(ScalarOp::mul, {moved, number(stretch)});
    const ScalarRef position = chain_.append(ScalarOp::add, {scaled, number(least_)});
    return sampling_.taps == Sampling::Taps::nearest ? chain_.append(ScalarOp::round, {position})
                                                     : position;
  }

  ScalarRef moved_inside(ScalarRef position) {
    if (sampling_.outside == Sampling::Outside::border) position = moved_to_border(position);
    if (sampling_.outside == Sampling::Outside::reflection) position = reflected(position);
    return kept(position, -Sampling::kBeyond, last_ + Sampling::kBeyond);
  }

  /// Up to the outer edges of the outer elements a place stays where it is.
  ScalarRef moved_to_border(ScalarRef position) {
    const ScalarRef from = chain_.append(ScalarOp::less_equal, {number(least_), position});
    const ScalarRef to = chain_.append(ScalarOp::less_equal, {position, number(last_ - least_)});
    const ScalarRef inside = chain_.append(ScalarOp::logical_and, {from, to});
    return chain_.append(ScalarOp::select, {inside, position, kept(position, 0.0, last_)});
  }

  /// Mirrored at both ends until it lies inside.
  ScalarRef reflected(ScalarRef position) {
    const double range = last_ - 2.0 * least_;
    if (range <= 0.0) return number(least_);
    const ScalarRef beyond = chain_.append(ScalarOp::sub, {position, number(least_)});
    const ScalarRef distance = chain_.append(ScalarOp::abs, {beyond});
    const ScalarRef turns = chain_.append(ScalarOp::div, {distance, number(range)});
    const ScalarRef whole = chain_.append(ScalarOp::floor, {turns});
    const ScalarRef turned = chain_.append(ScalarOp::mul, {whole, number(range)});
    const ScalarRef rest = chain_.append(ScalarOp::sub, {distance, turned});
    const ScalarRef half = chain_.append(ScalarOp::rem, {whole, number(2.0)});
    const ScalarRef is_even = chain_.append(ScalarOp::equal, {half, number(0.0)});
    const ScalarRef up = chain_.append(ScalarOp::add, {number(least_), rest});
    const ScalarRef down = chain_.append(ScalarOp::sub, {number(last_ - least_), rest});
    return chain_.append(ScalarOp::select, {is_even, up, down});
  }

  /// The distance is written without abs, which has no slope where a place is an element's.
  ScalarRef weight_inside() {
    if (sampling_.taps == Sampling::Taps::nearest) return number(1.0);
    const ScalarRef is_before =
        chain_.append(ScalarOp::less_equal, {ScalarRef::input(1), number(0.0)});
    const ScalarRef from = chain_.append(ScalarOp::sub, {position_, at_});
    const ScalarRef to = chain_.append(ScalarOp::sub, {at_, position_});
    const ScalarRef x = chain_.append(ScalarOp::select, {is_before, from, to});
    if (sampling_.taps == Sampling::Taps::linear) {
      return chain_.append(ScalarOp::sub, {number(1.0), x});
    }
    return cubic(x);
  }

  /// Keys' cubic, by Horner's rule within 1 and beyond.
  ScalarRef cubic(ScalarRef x) {
    constexpr double kKeys = Sampling::kCubic;
    const auto polynomial = [&](const std::vector<double>& coefficients) {
      ScalarRef value = number(coefficients.front());
      for (std::size_t i = 1; i < coefficients.size(); ++i) {
        const ScalarRef product = chain_.append(ScalarOp::mul, {value, x});
        value = chain_.append(ScalarOp::add, {product, number(coefficients[i])});
      }
      return value;
    };
    const ScalarRef near = polynomial({kKeys + 2.0, -(kKeys + 3.0), 0.0, 1.0});
    const ScalarRef far = polynomial({kKeys, -5.0 * kKeys, 8.0 * kKeys, -4.0 * kKeys});
    const ScalarRef is_near = chain_.append(ScalarOp::less_equal, {x, number(1.0)});
    return chain_.append(ScalarOp::select, {is_near, near, far});
  }

  Chain chain_;
  Sampling sampling_;
  double last_;   ///< element
  double least_;  ///< position that lies inside
  ScalarRef position_;
  ScalarRef at_;
};

/// All taps of all places, N x P x T: a place reads T elements.
class Taps {
 public:
  Taps(Gradient& gradient, DType type)
      : gradient_(gradient),
        sampling_(sampling_of(gradient.node())),
        image_(gradient.node().input(0).shape) {
    const NodeView& node = gradient.node();
    const std::int64_t batch = image_[0];
    for (std::size_t k = 0; k < count(); ++k) taps_ *= own_taps();
    const Shape result = node.output().shape;
    places_ = element_count({result.begin() + 2, result.end()});
    const TensorId grid = gradient.reshaped(gradient.converted(node.input_id(1), type),
                                            {batch, places_, sampling_.dimensions});
    for (std::size_t k = 0; k < count(); ++k) {
      const auto at = static_cast<std::int64_t>(k);
      const TensorId own = gradient.sliced(grid, {0, 0, at}, {batch, places_, at + 1}, {1, 1, 1});
      operands_.push_back({gradient.expanded(own, {batch, places_, taps_}), numbers(k, type)});
      weights_.push_back(gradient.chain(TapChain(sampling_, extent(k)).weight(), operands_[k]));
    }
  }

  [[nodiscard]] Shape shape() const { return {image_[0], places_, taps_}; }

  /// The element of a plane that each tap reads.
  [[nodiscard]] TensorId elements() const {
    TensorId sum = kNoTensor;
    std::int64_t stride = 1;
    for (std::size_t k = 0; k < count(); ++k) {
      const TensorId own = gradient_.chain(TapChain(sampling_, extent(k)).element(), operands_[k]);
      Chain chain;
      chain.input_count = 2;
      const ScalarRef moved = chain.append(
          ScalarOp::mul, {ScalarRef::input(0), ScalarRef::constant(static_cast<double>(stride))});
      if (k > 0) chain.append(ScalarOp::add, {moved, ScalarRef::input(1)});
      sum = k == 0 ? own : gradient_.chain(chain, {own, sum});
      stride *= extent(k);
    }
    return sum;
  }

  /// The product of the weights of all dimensions but `left_out`.
  [[nodiscard]] TensorId weight(std::size_t left_out) const {
    TensorId product = kNoTensor;
    for (std::size_t k = 0; k < count(); ++k) {
      if (k == left_out) continue;
      product = product == kNoTensor ? weights_[k]
                                     : gradient_.apply(ScalarOp::mul, {product, weights_[k]});
    }
    return product;
  }

  /// What `shares`, those of the taps, say of the grid's numbers.
  [[nodiscard]] TensorId grid_gradient(TensorId shares) const {
    std::vector<TensorId> columns;
    for (std::size_t k = 0; k < count(); ++k) {
      const auto slope = gradient_chain(TapChain(sampling_, extent(k)).weight(), 0);
      if (!slope) return kNoTensor;
      const TensorId others = weight(k);
      const TensorId share =
          others == kNoTensor ? shares : gradient_.apply(ScalarOp::mul, {shares, others});
      columns.push_back(
          gradient_.sum(gradient_.chain(*slope, {share, operands_[k][0], operands_[k][1]}), {2}));
    }
    return columns.size() == 1 ? columns.front()
                               : gradient_.add("Concat", columns, {{"axis", std::int64_t{2}}});
  }

 private:
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(sampling_.dimensions); }
  [[nodiscard]] std::int64_t own_taps() const { return static_cast<std::int64_t>(sampling_.taps); }
  [[nodiscard]] std::int64_t extent(std::size_t k) const { return image_[image_.size() - 1 - k]; }

  /// Which tap along dimension k each of all is.
  [[nodiscard]] TensorId numbers(std::size_t k, DType type) const {
    Tensor tensor = Tensor::allocate(type, {1, 1, taps_});
    const std::int64_t before = sampling_.taps == Sampling::Taps::cubic ? 1 : 0;
    for (std::int64_t t = 0; t < taps_; ++t) {
      std::int64_t rest = t;
      for (std::size_t d = 0; d < k; ++d) rest /= own_taps();
      tensor.set(t, static_cast<double>(rest % own_taps() - before));
    }
    return gradient_.constant(std::move(tensor));
  }

  Gradient& gradient_;
  Sampling sampling_;
  Shape image_;
  std::int64_t places_ = 0;
  std::int64_t taps_ = 1;
  std::vector<std::vector<TensorId>> operands_;  ///< of each dimension's TapChain
  std::vector<TensorId> weights_;                ///< of each dimension
};

}  // namespace

void gradient_of_grid_sample(Gradient& gradient) {
  const NodeView& node = gradient.node();
  const Shape image = node.input(0).shape;
  const bool is_wide = node.input(0).dtype == DType::f64 || node.input(1).dtype == DType::f64;
  const DType type = is_wide ? DType::f64 : DType::f32;
  const Taps taps(gradient, type);
  const Shape shape = taps.shape();
  const std::int64_t plane = element_count({image.begin() + 2, image.end()});
  const Shape all{image[0], image[1], shape[1], shape[2]};
  const Shape reads{image[0], image[1], shape[1] * shape[2]};
  const TensorId elements = gradient.expanded(
      gradient.reshaped(taps.elements(), {shape[0], 1, shape[1] * shape[2]}), reads);
  const TensorId above =
      gradient.expanded(gradient.reshaped(gradient.converted(gradient.of_output(), type),
                                          {all[0], all[1], all[2], 1}),
                        all);
  if (gradient.wants(0)) {
    const std::size_t none = image.size();
    const TensorId weight = gradient.reshaped(taps.weight(none), {shape[0], 1, shape[1], shape[2]});
    const TensorId updates = gradient.apply(ScalarOp::mul, {above, weight});
    const TensorId sums =
        gradient.add("ScatterElements",
                     {zeros(gradient, type, {image[0], image[1], plane}), elements,
                      gradient.reshaped(updates, reads)},
                     {{"axis", std::int64_t{2}}, {"reduction", std::string("add")}});
    gradient.give(0, gradient.converted(gradient.reshaped(sums, image), node.input(0).dtype));
  }
  if (!gradient.wants(1)) return;
  const TensorId planes =
      gradient.reshaped(gradient.converted(node.input_id(0), type), {image[0], image[1], plane});
  const TensorId read =
      gradient.add("GatherElements", {planes, elements}, {{"axis", std::int64_t{2}}});
  const TensorId products = gradient.apply(ScalarOp::mul, {above, gradient.reshaped(read, all)});
  const TensorId shares = gradient.reshaped(gradient.sum(products, {1}), shape);
  const TensorId sums = taps.grid_gradient(shares);
  if (sums == kNoTensor) return;
  gradient.give(
      1, gradient.converted(gradient.reshaped(sums, node.input(1).shape), node.input(1).dtype));
}

}  // namespace morton::ops
