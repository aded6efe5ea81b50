// SPDX-License-Identifier: Apache-2.0
//
// When and how a training step renews the parameters: accumulation, the loss's scale, activations
// that are computed again.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/model_check.hpp"
#include "model/training_network.hpp"
#include "morton/error.hpp"
#include "morton/trainer.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Update = BatchResult::Update;

class ModelTrainerUpdates : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelTrainerUpdates);

/// A product, a Tanh and a product: rows do not meet, so parts of a batch add up to the whole.
Graph rowwise_network(std::int64_t batch) {
  SmallNetwork network({batch, 6});
  network.add("Gemm", {network.weights("first", {6, 9}), network.weights("offset", {9})});
  network.add("Tanh", {});
  network.add("Gemm", {network.weights("last", {9, kClasses})});
  network.add("Softmax", {}, {{"axis", std::int64_t{1}}});
  return network.finish();
}

Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  Shape shape = tensor.shape();
  shape[0] = count;
  Tensor part = Tensor::allocate(tensor.dtype(), shape);
  const std::size_t row = tensor.bytes() / static_cast<std::size_t>(tensor.shape()[0]);
  std::memcpy(part.mutable_data(), tensor.data() + row * static_cast<std::size_t>(first),
              part.bytes());
  return part;
}

Tensor filled(const Shape& shape, float value) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  std::ranges::fill(tensor.as_mutable<float>(), value);
  return tensor;
}

std::vector<NamedTensor> parameters(Trainer& trainer) {
  std::vector<NamedTensor> found;
  for (NamedTensor& state : trainer.state()) {
    if (state.name.find('/') == std::string::npos && state.name != "morton.progress") {
      found.push_back(std::move(state));
    }
  }
  return found;
}

void expect_same(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    ASSERT_EQ(a[i].tensor.bytes(), b[i].tensor.bytes());
    EXPECT_EQ(std::memcmp(a[i].tensor.data(), b[i].tensor.data(), a[i].tensor.bytes()), 0);
  }
}

TEST_P(ModelTrainerUpdates, AccumulatedBatchesAreOneLargeOne) {
  constexpr std::int64_t kPart = 5, kParts = 3;
  TrainerOptions options;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  options.clip_norm = 0.5;
  options.batch = kPart * kParts;
  Trainer whole(to_model(rowwise_network(options.batch)), device(), options);
  options.batch = kPart;
  options.accumulate = kParts;
  Trainer parts(to_model(rowwise_network(options.batch)), device(), options);
  const Tensor x = random_tensor({kPart * kParts, 6}, 7);
  const Tensor y = rows_of(labels(), 0, kPart * kParts);
  for (int round = 0; round < 2; ++round) {
    const double loss = whole.step(x, y, 0.01).loss;
    const auto before = parameters(parts);
    double sum = 0.0;
    for (std::int64_t part = 0; part < kParts; ++part) {
      if (part > 0) expect_same(parameters(parts), before);
      const BatchResult result =
          parts.step(rows_of(x, part * kPart, kPart), rows_of(y, part * kPart, kPart), 0.01);
      EXPECT_EQ(result.update, part + 1 == kParts ? Update::applied : Update::awaited);
      sum += result.loss / kParts;
    }
    EXPECT_NEAR(sum, loss, 1e-6 * loss);
  }
  const auto expected = parameters(whole);
  const auto got = parameters(parts);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    for (std::int64_t e = 0; e < got[i].tensor.size(); ++e) {
      EXPECT_NEAR(got[i].tensor.at(e), expected[i].tensor.at(e), 2e-5) << got[i].name;
    }
  }
}

TEST_P(ModelTrainerUpdates, AccumulationGoesOnFromItsStateBitForBit) {
  TrainerOptions options;
  options.batch = kBatch;
  options.accumulate = 3;
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  Trainer first(to_model(small_network()), device(), options);
  for (int i = 0; i < 2; ++i) (void)first.step(x, labels(), 0.02);
  Trainer second(to_model(small_network()), device(), options);
  second.set_state(first.state());
  for (int i = 0; i < 3; ++i) {
    (void)first.step(x, labels(), 0.02);
    EXPECT_EQ(second.step(x, labels(), 0.02).update, i == 0 ? Update::applied : Update::awaited);
  }
  expect_same(first.state(), second.state());
}

TEST_P(ModelTrainerUpdates, LearnsInHalfPrecisionWhateverTheScale) {
  std::vector<std::vector<NamedTensor>> learned;
  for (const double scale : {65536.0, 16.0}) {
    TrainerOptions options;
    options.batch = kBatch;
    options.optimizer.momentum = 0.9;
    options.compile.precision.operands = DType::f16;
    options.loss_scale = scale;
    Trainer trainer(to_model(small_network()), device(), options);
    EXPECT_EQ(trainer.loss_scale(), scale);
    const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
    const double first = trainer.step(x, labels(), 0.1).loss;
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(trainer.step(x, labels(), 0.1).update, Update::applied);
    }
    learned.push_back(parameters(trainer));
    BatchResult last;
    for (int i = 0; i < 200; ++i) last = trainer.step(x, labels(), 0.1);
    EXPECT_LT(last.loss, first / 5.0);
    EXPECT_EQ(last.right, kBatch);
  }
  // A scale is a power of two: only what is rounded to halves may differ.
  for (std::size_t i = 0; i < learned[0].size(); ++i) {
    for (std::int64_t e = 0; e < learned[0][i].tensor.size(); ++e) {
      const double value = learned[0][i].tensor.at(e);
      EXPECT_NEAR(learned[1][i].tensor.at(e), value, 1e-3 * std::max(1.0, std::fabs(value)))
          << learned[0][i].name;
    }
  }
}

/// y = 1e15 * x w (element by element, which no device does in halves), far from its targets: the
/// mean squared error is below the largest number, its gradient times the loss's scale is not.
TEST_P(ModelTrainerUpdates, GradientsThatOverflowAreLeftOutAndLowerTheScale) {
  SmallNetwork network({4, 2});
  network.add("MatMul", {network.weights("before", {2, 2}, {1.0F, 0.0F, 0.0F, 1.0F})});
  network.add("Mul", {network.weights("factor", {}, {1e15F})});
  network.add("Mul", {network.weights("w", {2})});
  TrainerOptions options;
  options.batch = 4;
  options.freeze = {"before"};
  options.loss = Loss::mean_squared_error;
  options.compile.precision.operands = DType::f16;
  options.loss_scale = 0x1p24;
  Trainer trainer(to_model(network.finish()), device(), options);
  const auto before = parameters(trainer);
  const Tensor x = filled({4, 2}, 1.0F);
  const Tensor y = filled({4, 2}, 1e18F);
  double scale = trainer.loss_scale();
  int overflows = 0;
  BatchResult result = trainer.step(x, y, 1e-36);
  for (; result.update == Update::overflowed; ++overflows) {
    EXPECT_TRUE(std::isfinite(result.loss));
    expect_same(parameters(trainer), before);
    scale /= 2.0;
    EXPECT_EQ(trainer.loss_scale(), scale);
    result = trainer.step(x, y, 1e-36);
  }
  EXPECT_GE(overflows, 1);
  EXPECT_GT(scale, 1.0);
  // -2 (y - x w) x / 2, the mean being over two elements, and the mean over the rows.
  for (std::int64_t i = 0; i < 2; ++i) {
    const double w = before[0].tensor.at(i);
    const double gradient = -(1e18 - 1e15 * w) * 1e15;
    EXPECT_NEAR(parameters(trainer)[0].tensor.at(i), w - 1e-36 * gradient, 1e-5);
  }
}

TEST_P(ModelTrainerUpdates, RefusesOptionsThatMakeNoSense) {
  const Model model = to_model(small_network());
  TrainerOptions options;
  options.batch = kBatch;
  options.accumulate = 0;
  EXPECT_THROW(Trainer(model, device(), options), UsageError);
  options.accumulate = 1;
  for (const double scale : {0.0, -2.0, 0.5, 3.0, 0x1p25, std::nan("")}) {
    options.loss_scale = scale;
    EXPECT_THROW(Trainer(model, device(), options), UsageError);
  }
  options.loss_scale = 1.0;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  for (const double epsilon : {0.0, -1e-8, 1e-50, 1e39, std::nan("")}) {
    options.optimizer.epsilon = epsilon;
    EXPECT_THROW(Trainer(model, device(), options), UsageError) << epsilon;
  }
  options.optimizer.epsilon = 1e-8;
  Trainer trainer(model, device(), options);
  EXPECT_THROW((void)trainer.step(random_tensor({kBatch, 2, 8, 8}, 99), labels(), 1e39),
               UsageError);
}

}  // namespace
}  // namespace morton::test
