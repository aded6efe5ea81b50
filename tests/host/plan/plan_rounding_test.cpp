// SPDX-License-Identifier: Apache-2.0
//
// Which tensors may lie in memory as halves: none whose numbers a half lacks, and no angle.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ops/core/graph_writer.hpp"
#include "plan/tasks/rounding.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

/// A graph with an f32 input, whose results are looked at by name.
class PlanRounding : public ::testing::Test {
 protected:
  TensorId input(const std::string& name, const Shape& shape, DType type = DType::f32) {
    const TensorId id = graph_.add_tensor(
        {.name = name, .dtype = type, .kind = GraphTensor::Kind::input, .shape = shape});
    graph_.inputs.push_back(id);
    return id;
  }
  TensorId constant(const Shape& shape, const std::vector<float>& numbers) {
    Tensor tensor = Tensor::allocate(DType::f32, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      tensor.set(i, numbers[static_cast<std::size_t>(i) % numbers.size()]);
    }
    return writer_.constant(std::move(tensor));
  }
  /// Why the tensor stays f32; empty where it may be a half.
  std::string why(TensorId id, TensorId output, DType type) {
    graph_.outputs = {output};
    TaskList list = make_tasks(graph_);
    const Rounding rounding = mark_rounded(list, type);
    const auto kept = rounding.kept.find(graph_.tensor(id).name);
    EXPECT_EQ(kept == rounding.kept.end(), list.tensors[id].is_rounded);
    return kept == rounding.kept.end() ? "" : kept->second;
  }

  Graph graph_;
  ops::GraphWriter writer_{graph_, "t"};
};

TEST_F(PlanRounding, SumsWithAMaskBeyondTheRangeStayF32) {
  const TensorId x = input("x", {3, 5});
  for (const float low : {-1e9F, kLowest}) {
    const TensorId scores = writer_.scaled(x, 2.0);
    const TensorId mask = constant({3, 5}, {0.0F, 0.0F, low});
    const TensorId masked = writer_.apply(ScalarOp::add, {scores, mask});
    const TensorId shares = writer_.add("Softmax", {masked});
    const TensorId last = writer_.scaled(shares, 2.0);
    EXPECT_EQ(why(mask, last, DType::f16), "some of its numbers are beyond 65504");
    EXPECT_EQ(why(masked, last, DType::f16), "may hold numbers beyond 65504");
    EXPECT_EQ(why(shares, last, DType::f16), "");
    // bfloat16 has -1e9, but its least number is above f32's.
    const bool has = low == -1e9F;
    EXPECT_EQ(why(mask, last, DType::bf16), has ? "" : "some of its numbers are beyond 3.39e38");
    EXPECT_EQ(why(masked, last, DType::bf16), has ? "" : "may hold numbers beyond 3.39e38");
  }
}

TEST_F(PlanRounding, ChoicesOfALowNumberStayF32) {
  const TensorId x = input("x", {3, 5}), keep = input("keep", {3, 5}, DType::boolean);
  Chain choice;
  choice.input_count = 2;
  choice.append(ScalarOp::select,
                {ScalarRef::input(1), ScalarRef::input(0), ScalarRef::constant(kLowest)});
  const TensorId scores = writer_.scaled(x, 2.0);
  const TensorId masked = writer_.chain(choice, {scores, keep});
  const TensorId turned = writer_.transposed(masked, {1, 0});
  const TensorId last = writer_.add("Softmax", {turned});
  EXPECT_EQ(why(masked, last, DType::f16), "may hold numbers beyond 65504");
  EXPECT_EQ(why(turned, last, DType::f16), "may hold numbers beyond 65504");
  EXPECT_EQ(why(scores, last, DType::f16), "");
}

TEST_F(PlanRounding, BoundsAndInfinitiesAreNoReason) {
  const TensorId x = input("x", {3, 5});
  Chain bounds;
  const ScalarRef least =
      bounds.append(ScalarOp::max, {ScalarRef::input(0), ScalarRef::constant(kLowest)});
  bounds.append(ScalarOp::min, {least, ScalarRef::constant(-kLowest)});
  const TensorId bounded = writer_.chain(bounds, {writer_.scaled(x, 2.0)});
  const TensorId mask = constant({3, 5}, {0.0F, -std::numeric_limits<float>::infinity()});
  const TensorId masked = writer_.apply(ScalarOp::add, {bounded, mask});
  const TensorId last = writer_.add("Softmax", {masked});
  for (const DType type : {DType::f16, DType::bf16}) {
    for (const TensorId id : {bounded, mask, masked}) EXPECT_EQ(why(id, last, type), "");
  }
}

TEST_F(PlanRounding, AnglesAndWhatTheyAreMadeOfStayF32) {
  const std::string place = "holds places or angles, or what they are made of";
  const TensorId places = writer_.scaled(input("places", {17, 1}), 0.5);
  const TensorId steps = constant({1, 3}, {1.0F, 0.1F, 0.01F});
  const TensorId product = writer_.add("MatMul", {places, steps});
  const TensorId angles = writer_.transposed(product, {1, 0});
  const TensorId sines = writer_.apply(ScalarOp::sin, {angles});
  const TensorId last = writer_.scaled(sines, 2.0);
  for (const TensorId id : {places, steps, product, angles}) {
    EXPECT_EQ(why(id, last, DType::f16), place) << graph_.tensor(id).name;
  }
  EXPECT_EQ(why(sines, last, DType::f16), "");
}

TEST_F(PlanRounding, AProductOfManyTermsBeforeASineMayBeAHalf) {
  const TensorId x = writer_.scaled(input("x", {17, 33}), 2.0);
  const TensorId weights = constant({33, 3}, {0.5F, 0.1F});
  const TensorId product = writer_.add("MatMul", {x, weights});
  const TensorId sines = writer_.apply(ScalarOp::sin, {product});
  const TensorId last = writer_.scaled(sines, 2.0);
  for (const TensorId id : {x, weights, product, sines}) {
    EXPECT_EQ(why(id, last, DType::bf16), "") << graph_.tensor(id).name;
  }
}

}  // namespace
}  // namespace morton::test
