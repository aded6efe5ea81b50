// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "autodiff/gradients.hpp"
#include "autodiff/losses.hpp"
#include "base/error.hpp"
#include "ops/core/graph_writer.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using LossValues = std::vector<double>;

TensorId input_of(Graph& graph, const std::string& name, DType type, const Shape& shape) {
  GraphTensor tensor;
  tensor.name = name;
  tensor.kind = GraphTensor::Kind::input;
  tensor.dtype = type;
  tensor.shape = shape;
  const TensorId id = graph.add_tensor(std::move(tensor));
  graph.inputs.push_back(id);
  return id;
}

/// Losses of the rows, and their gradient with respect to what the model's last operator reads.
struct Found {
  LossValues losses, gradient, right;
};

Found look_at(Loss loss, const std::string& last, const Tensor& x, const Tensor& target) {
  Graph graph;
  graph.opset = 13;
  const TensorId input = input_of(graph, "x", DType::f32, x.shape());
  const TensorId targets = input_of(graph, "t", target.dtype(), target.shape());
  GraphWriter writer(graph, "model");
  const TensorId output = last.empty() ? input : writer.add(last, {input});
  const LossTensors tensors = add_loss(graph, loss, {output, targets});
  const auto gradients = add_gradients(graph, tensors.rows, std::vector<TensorId>{input});
  graph.outputs = {tensors.rows, gradients[0]};
  if (tensors.right != kNoTensor) graph.outputs.push_back(tensors.right);
  const auto values =
      test::reference_outputs(graph, std::vector<NamedTensor>{{"x", x}, {"t", target}});
  return {values[0].value, values[1].value, values.size() > 2 ? values[2].value : LossValues{}};
}

Tensor reals(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from(shape, values);
}

void expect_near(const LossValues& got, const LossValues& expected, double within) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], within) << i;
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST(Losses, BinaryCrossEntropyHasTheSlopeOfASigmoidEverywhere) {
  // 0 is where a head that starts with zeros begins.
  const std::vector<float> x{0.0F, 0.0F, 0.0F, -3.0F, 2.0F, -200.0F, 200.0F, 0.5F};
  const std::vector<float> t{0.0F, 1.0F, 0.25F, 1.0F, 0.0F, 1.0F, 0.0F, 0.75F};
  const auto count = static_cast<std::int64_t>(x.size());
  const Found found =
      look_at(Loss::binary_cross_entropy, "Sigmoid", reals({count, 1}, x), reals({count, 1}, t));
  LossValues losses, slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    losses.push_back(std::max(v, 0.0) - v * t[i] + std::log1p(std::exp(-std::fabs(v))));
    slopes.push_back(sigmoid(v) - t[i]);
  }
  expect_near(found.losses, losses, 1e-9);
  expect_near(found.gradient, slopes, 1e-9);
}

TEST(Losses, CrossEntropyOfLabelsIsThatOfTheirShares) {
  const Tensor x = reals({2, 3}, {1.0F, -2.0F, 0.5F, 0.0F, 0.0F, 3.0F});
  Tensor labels = Tensor::allocate(DType::i32, {2});
  labels.set(0, 1);
  labels.set(1, 2);
  const Tensor shares = reals({2, 3}, {0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F});
  for (const char* last : {"", "Softmax", "LogSoftmax"}) {
    const Found by_label = look_at(Loss::softmax_cross_entropy, last, x, labels);
    const Found by_share = look_at(Loss::softmax_cross_entropy, last, x, shares);
    LossValues losses, slopes;
    for (std::int64_t row = 0; row < 2; ++row) {
      double sum = 0.0;
      for (std::int64_t c = 0; c < 3; ++c) sum += std::exp(x.at(row * 3 + c));
      for (std::int64_t c = 0; c < 3; ++c) {
        slopes.push_back(std::exp(x.at(row * 3 + c)) / sum - shares.at(row * 3 + c));
      }
      const auto label = static_cast<std::int64_t>(labels.at(row));
      losses.push_back(std::log(sum) - x.at(row * 3 + label));
    }
    expect_near(by_label.losses, losses, 1e-9);
    expect_near(by_label.gradient, slopes, 1e-9);
    expect_near(by_share.losses, losses, 1e-9);
    expect_near(by_share.gradient, slopes, 1e-9);
    expect_near(by_label.right, {0.0, 1.0}, 0.0);
  }
}

TEST(Losses, ErrorsOfValuesAreMeansOverARow) {
  const Tensor x = reals({2, 2}, {1.0F, -2.0F, 0.5F, 4.0F});
  const Tensor t = reals({2, 2}, {0.0F, -4.0F, 1.0F, 1.0F});
  const Found squared = look_at(Loss::mean_squared_error, "", x, t);
  expect_near(squared.losses, {(1.0 + 4.0) / 2.0, (0.25 + 9.0) / 2.0}, 1e-12);
  expect_near(squared.gradient, {1.0, 2.0, -0.5, 3.0}, 1e-12);
  const Found absolute = look_at(Loss::mean_absolute_error, "", x, t);
  expect_near(absolute.losses, {1.5, 1.75}, 1e-12);
  expect_near(absolute.gradient, {0.5, 0.5, -0.5, 0.5}, 1e-12);
}

TEST(Losses, AnotherShapeBehindTheSoftmaxChangesNothing) {
  Graph graph;
  graph.opset = 13;
  const TensorId x = input_of(graph, "x", DType::f32, {2, 3});
  const TensorId labels = input_of(graph, "t", DType::i32, {2});
  GraphWriter writer(graph, "model");
  const TensorId pixels = writer.reshaped(x, {2, 3, 1, 1});
  const TensorId shares = writer.add("Softmax", {pixels}, {{"axis", std::int64_t{1}}});
  const LossTensors direct = add_loss(graph, Loss::softmax_cross_entropy, {x, labels});
  const LossTensors reshaped =
      add_loss(graph, Loss::softmax_cross_entropy, {writer.reshaped(shares, {2, 3}), labels});
  graph.outputs = {direct.rows, reshaped.rows};
  const Tensor values = reals({2, 3}, {1.0F, -2.0F, 0.5F, 0.0F, 0.0F, 3.0F});
  Tensor target = Tensor::allocate(DType::i32, {2});
  target.set(1, 2);
  const auto losses =
      test::reference_outputs(graph, std::vector<NamedTensor>{{"x", values}, {"t", target}});
  expect_near(losses[0].value, losses[1].value, 1e-12);
}

TEST(Losses, CrossEntropyTakesOneNumberForEachClass) {
  Graph graph;
  graph.opset = 13;
  const TensorId x = input_of(graph, "x", DType::f32, {2, 3, 4, 4});
  const TensorId labels = input_of(graph, "t", DType::i32, {2});
  EXPECT_THROW((void)add_loss(graph, Loss::softmax_cross_entropy, {x, labels}), UsageError);
  GraphWriter writer(graph, "model");
  const TensorId rows = writer.reshaped(x, {2, 48});
  const TensorId along_rows = writer.add("Softmax", {rows}, {{"axis", std::int64_t{0}}});
  EXPECT_THROW((void)add_loss(graph, Loss::softmax_cross_entropy, {along_rows, labels}),
               UsageError);
  const TensorId pixels = writer.reshaped(rows, {2, 48, 1, 1});
  const TensorId along_classes = writer.add("Softmax", {pixels}, {{"axis", std::int64_t{1}}});
  EXPECT_NO_THROW((void)add_loss(graph, Loss::softmax_cross_entropy, {along_classes, labels}));
  const TensorId one = input_of(graph, "one", DType::f32, {2, 1});
  EXPECT_THROW((void)add_loss(graph, Loss::softmax_cross_entropy, {one, labels}), UsageError);
}

TEST(Losses, RefusesTheOtherLossesActivation) {
  Graph graph;
  graph.opset = 13;
  const TensorId x = input_of(graph, "x", DType::f32, {2, 3});
  const TensorId values = input_of(graph, "t", DType::f32, {2, 3});
  GraphWriter writer(graph, "model");
  const auto error = [&](Loss loss, const std::string& last) {
    const TensorId output = writer.reshaped(writer.add(last, {x}), {2, 3, 1});
    const TensorId target = writer.reshaped(values, {2, 3, 1});
    try {
      (void)add_loss(graph, loss, {output, target});
    } catch (const UsageError& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  using testing::HasSubstr;
  for (const char* last : {"Softmax", "LogSoftmax"}) {
    EXPECT_THAT(error(Loss::binary_cross_entropy, last),
                testing::AllOf(HasSubstr(std::string("ends in ") + last),
                               HasSubstr("softmax-cross-entropy, not binary-cross-entropy")));
  }
  EXPECT_THAT(error(Loss::softmax_cross_entropy, "Sigmoid"),
              testing::AllOf(HasSubstr("ends in Sigmoid"),
                             HasSubstr("binary-cross-entropy, not softmax-cross-entropy")));
  for (const char* last : {"Softmax", "Sigmoid", "Relu"}) {
    EXPECT_EQ(error(Loss::mean_squared_error, last), "");
    EXPECT_EQ(error(Loss::mean_absolute_error, last), "");
  }
  EXPECT_EQ(error(Loss::binary_cross_entropy, "Sigmoid"), "");
  EXPECT_EQ(error(Loss::softmax_cross_entropy, "Softmax"), "");
}

}  // namespace
}  // namespace morton::test
