// SPDX-License-Identifier: Apache-2.0
//
// Random numbers. They are made when the model is planned, each from its place alone, so they are
// the same in every run, every session and on every device (docs/numerics.md#random-numbers).
#include "ops/signals/random.hpp"

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "ops/core/expansion.hpp"
#include "ops/math/type_number.hpp"

namespace morton::ops {
namespace {

/// A model of a few bytes may ask for any amount.
constexpr std::int64_t kMostRandomNumbers = std::int64_t{1} << 26;

Shape checked_shape(const NodeView& node, Shape shape) {
  for (const std::int64_t extent : shape) {
    if (extent < 0) node.fail("the shape " + to_string(shape) + " has a negative extent");
  }
  if (element_count(shape, "random numbers") > kMostRandomNumbers) {
    node.unsupported("makes more than " + std::to_string(kMostRandomNumbers) + " random numbers");
  }
  return shape;
}

/// The type of the numbers, which must be real.
DType real_type(const NodeView& node, DType otherwise) {
  const DType type = type_attribute(node, "dtype", otherwise);
  if (!is_real(type))
    node.fail("dtype is " + std::string(name_of(type)) + ", expected a real type");
  return type;
}

/// A whole tensor of numbers that `number` makes of the place.
template <typename Number>
Tensor filled(DType type, const Shape& shape, const Number& number) {
  Tensor result = Tensor::allocate(type, shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result.set(i, number(static_cast<std::uint64_t>(i)));
  }
  return result;
}

Tensor normal_numbers(const NodeView& node, DType type, const Shape& shape) {
  const RandomPlaces places(node);
  const double mean = node.real("mean", 0.0);
  const double scale = node.real("scale", 1.0);
  return filled(type, checked_shape(node, shape),
                [&](std::uint64_t i) { return mean + scale * places.normal(i); });
}

Tensor uniform_numbers(const NodeView& node, DType type, const Shape& shape) {
  const RandomPlaces places(node);
  const double low = node.real("low", 0.0);
  const double high = node.real("high", 1.0);
  return filled(type, checked_shape(node, shape),
                [&](std::uint64_t i) { return low + (high - low) * places.uniform(i); });
}

using Make = Tensor (*)(const NodeView& node, DType type, const Shape& shape);

template <Make kMake>
std::vector<TensorId> expand_numbers(Expansion& expansion) {
  const NodeView& node = expansion.node();
  if (!node.has("shape")) node.fail("the attribute 'shape' is missing");
  return {expansion.constant(kMake(node, real_type(node, DType::f32), node.integers("shape", {})))};
}

template <Make kMake>
std::vector<TensorId> expand_numbers_like(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const TensorType like = node.input(0);
  return {expansion.constant(kMake(node, real_type(node, like.dtype), like.shape))};
}

/// 1 where the number of the place is below the probability.
std::vector<TensorId> expand_bernoulli(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const TensorType given = node.input(0);
  if (!is_real(given.dtype)) node.fail("the probabilities are expected to be of a real type");
  const RandomPlaces places(node);
  const Tensor numbers = filled(given.dtype, checked_shape(node, given.shape),
                                [&](std::uint64_t i) { return places.uniform(i); });
  Chain draw;
  draw.input_count = 2;
  const ScalarRef drawn = draw.append(ScalarOp::less, {ScalarRef::input(1), ScalarRef::input(0)});
  const DType type = type_attribute(node, "dtype", given.dtype);
  if (type != DType::boolean) draw.append_conversion(ScalarOp::cast, drawn, type);
  return {expansion.chain(draw, {expansion.input(0), expansion.constant(numbers)})};
}

/// The class in whose part of the sum the number of the place falls.
std::vector<TensorId> expand_multinomial(Expansion& expansion) {
  const NodeView& node = expansion.node();
  const TensorType given = node.input(0);
  const std::int64_t samples = node.integer("sample_size", 1);
  if (given.shape.size() != 2 || given.shape[1] < 1) {
    node.fail("the input is " + to_string(given.shape) + ", expected batch x classes");
  }
  if (samples < 1) node.fail("sample_size is " + std::to_string(samples) + ", expected 1 or more");
  const DType type = type_attribute(node, "dtype", DType::i32);
  if (type != DType::i32 && type != DType::i64) {
    node.fail("dtype is " + std::string(name_of(type)) + ", expected i32 or i64");
  }
  const std::int64_t batch = given.shape[0];
  const std::int64_t classes = given.shape[1];
  const RandomPlaces places(node);
  const Tensor numbers = filled(given.dtype, checked_shape(node, {batch, samples, 1}),
                                [&](std::uint64_t i) { return places.uniform(i); });
  // The input is logarithms of weights. The last class takes what is left, whatever was rounded.
  TensorId sums = expansion.add("Softmax", {expansion.input(0)}, {{"axis", std::int64_t{1}}});
  sums = expansion.add("CumSum", {sums, expansion.scalar(DType::i64, 1.0)});
  sums = expansion.sliced(sums, {0, 0}, {batch, classes - 1}, {1, 1});
  if (classes == 1) {
    return {expansion.constant(Tensor::allocate(type, {batch, samples}))};
  }
  sums = expansion.expanded(expansion.reshaped(sums, {batch, 1, classes - 1}),
                            {batch, samples, classes - 1});
  Chain passed;
  passed.input_count = 2;
  const ScalarRef beyond =
      passed.append(ScalarOp::less_equal, {ScalarRef::input(0), ScalarRef::input(1)});
  passed.append_conversion(ScalarOp::cast, beyond, type);
  const TensorId steps = expansion.chain(passed, {sums, expansion.constant(numbers)});
  return {expansion.reshaped(expansion.sum(steps, {2}), {batch, samples})};
}

}  // namespace

const OperatorTable& random_operators() {
  static const OperatorTable kTable{
      {.name = "RandomNormal",
       .inputs = {.least = 0, .most = 0},
       .attributes = {"dtype", "mean", "scale", "seed", "shape"},
       .since_opset = 1,
       .expand = expand_numbers<normal_numbers>,
       .takes_epilogue = false},
      {.name = "RandomNormalLike",
       .inputs = {.least = 1, .most = 1},
       .attributes = {"dtype", "mean", "scale", "seed"},
       .since_opset = 1,
       .expand = expand_numbers_like<normal_numbers>,
       .takes_epilogue = false},
      {.name = "RandomUniform",
       .inputs = {.least = 0, .most = 0},
       .attributes = {"dtype", "low", "high", "seed", "shape"},
       .since_opset = 1,
       .expand = expand_numbers<uniform_numbers>,
       .takes_epilogue = false},
      {.name = "RandomUniformLike",
       .inputs = {.least = 1, .most = 1},
       .attributes = {"dtype", "low", "high", "seed"},
       .since_opset = 1,
       .expand = expand_numbers_like<uniform_numbers>,
       .takes_epilogue = false},
      {.name = "Bernoulli",
       .inputs = {.least = 1, .most = 1},
       .attributes = {"dtype", "seed"},
       .since_opset = 15,
       .expand = expand_bernoulli,
       .types = {DType::f32, DType::f64},
       .takes_epilogue = false},
      {.name = "Multinomial",
       .inputs = {.least = 1, .most = 1},
       .attributes = {"dtype", "sample_size", "seed"},
       .since_opset = 7,
       .expand = expand_multinomial,
       .types = {DType::f32, DType::f64},
       .takes_epilogue = false},
  };
  return kTable;
}

}  // namespace morton::ops
