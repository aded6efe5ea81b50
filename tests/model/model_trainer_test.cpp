// SPDX-License-Identifier: Apache-2.0
//
// Training by way of Trainer: a step against its reference, learning, state, freezing.
#include <gmock/gmock.h>

#include <cmath>

#include "api/inside.hpp"
#include "autodiff/training_step.hpp"
#include "model/model_check.hpp"
#include "model/training_network.hpp"
#include "morton/trainer.hpp"
#include "ops/core/graph_writer.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class ModelTrainer : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelTrainer);

/// What each state holds after one step, in double.
std::map<std::string, ReferenceTensor> reference_step(const Graph& model,
                                                      const TrainingStepOptions& options,
                                                      const std::vector<NamedTensor>& inputs) {
  Graph step = make_training_step(model, options).step;
  std::vector<std::string> names;
  step.outputs.clear();
  for (const StateUpdate& update : step.updates) {
    names.push_back(step.tensor(update.state).name);
    step.outputs.push_back(update.value);
  }
  for (GraphTensor& tensor : step.tensors) {
    if (tensor.kind == GraphTensor::Kind::state) tensor.kind = GraphTensor::Kind::constant;
  }
  step.updates.clear();
  auto values = reference_outputs(step, inputs);
  std::map<std::string, ReferenceTensor> named;
  for (std::size_t i = 0; i < names.size(); ++i) named[names[i]] = std::move(values[i]);
  return named;
}

Tensor scalar_of(double value) {
  Tensor tensor = Tensor::allocate(DType::f32, {});
  tensor.set(0, value);
  return tensor;
}

void expect_reference_step(const Device& device, const OptimizerOptions& optimizer) {
  const Graph model = small_network();
  TrainerOptions options;
  options.batch = kBatch;
  options.optimizer = optimizer;
  Trainer trainer(to_model(model), device, options);
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  (void)trainer.step(x, labels(), 0.1);
  std::vector<NamedTensor> inputs{
      {"x", x}, {"morton.target", labels()}, {"morton.rate", scalar_of(0.1)}};
  if (optimizer.kind == OptimizerOptions::Kind::adam) {
    inputs.push_back({"morton.correction1", scalar_of(1.0 / (1.0 - 0.9))});
    inputs.push_back({"morton.correction2", scalar_of(1.0 / std::sqrt(1.0 - 0.999))});
  }
  TrainingStepOptions step;
  step.batch = kBatch;
  step.optimizer = optimizer;
  const auto expected = reference_step(model, step, inputs);
  int compared = 0;
  for (const NamedTensor& state : trainer.state()) {
    if (state.name == "morton.progress") continue;
    const Comparison comparison = compare(expected.at(state.name), state.tensor.as<float>());
    EXPECT_TRUE(comparison.ok()) << state.name << ": " << comparison.text;
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(expected.size()));
}

TEST_P(ModelTrainer, AStepOfDescentIsTheReferences) {
  OptimizerOptions optimizer;
  optimizer.momentum = 0.9;
  optimizer.weight_decay = 0.01;
  expect_reference_step(device(), optimizer);
}

TEST_P(ModelTrainer, AStepOfAdamIsTheReferences) {
  OptimizerOptions optimizer;
  optimizer.kind = OptimizerOptions::Kind::adam;
  expect_reference_step(device(), optimizer);
}

TEST_P(ModelTrainer, LearnsABatchByHeart) {
  TrainerOptions options;
  options.batch = kBatch;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  Trainer trainer(to_model(small_network()), device(), options);
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  const double first = trainer.step(x, labels(), 0.02).loss;
  BatchResult last;
  for (int i = 0; i < 150; ++i) last = trainer.step(x, labels(), 0.02);
  EXPECT_LT(last.loss, first / 10.0);
  EXPECT_EQ(last.right, kBatch);
}

TEST_P(ModelTrainer, GoesOnFromItsStateBitForBit) {
  TrainerOptions options;
  options.batch = kBatch;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  Trainer first(to_model(small_network()), device(), options);
  for (int i = 0; i < 3; ++i) (void)first.step(x, labels(), 0.02);
  Trainer second(to_model(small_network()), device(), options);
  second.set_state(first.state());
  EXPECT_EQ(second.steps_done(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(first.step(x, labels(), 0.02).loss, second.step(x, labels(), 0.02).loss);
  }
}

/// A launch of several kernels computes what each of them does.
TEST_P(ModelTrainer, JoinedLaunchesGiveTheSameValues) {
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  std::vector<std::vector<NamedTensor>> states;
  std::vector<std::size_t> launches;
  for (const auto wanted : {CompileOptions::Launches::apart, CompileOptions::Launches::joined}) {
    TrainerOptions options;
    options.batch = kBatch;
    options.optimizer.kind = OptimizerOptions::Kind::adam;
    options.compile.launches = wanted;
    Trainer trainer(to_model(small_network()), device(), options);
    for (int i = 0; i < 5; ++i) (void)trainer.step(x, labels(), 0.01);
    states.push_back(trainer.state());
    launches.push_back(trainer.step_model().steps().size());
  }
  EXPECT_LT(launches[1], launches[0]);
  ASSERT_EQ(states[0].size(), states[1].size());
  for (std::size_t i = 0; i < states[0].size(); ++i) {
    ASSERT_EQ(states[0][i].name, states[1][i].name);
    if (states[0][i].tensor.dtype() != DType::f32) continue;
    const auto apart = states[0][i].tensor.as<float>();
    const auto joined = states[1][i].tensor.as<float>();
    EXPECT_THAT(joined, ::testing::Pointwise(::testing::FloatNear(1e-6F), apart))
        << states[0][i].name;
  }
}

/// A step reads the batch from the caller's memory, and has read all of it when it returns; one
/// that throws leaves nothing behind.
TEST_P(ModelTrainer, ABatchMayChangeAfterItsStep) {
  TrainerOptions options;
  options.batch = kBatch;
  Trainer kept(to_model(small_network()), device(), options);
  Trainer reused(to_model(small_network()), device(), options);
  Tensor x = random_tensor({kBatch, 2, 8, 8}, 0);
  Tensor wrong = labels();
  wrong.as_mutable<std::int32_t>()[0] = 1000;
  for (int i = 0; i < 5; ++i) {
    const Tensor batch = random_tensor({kBatch, 2, 8, 8}, 99 + i);
    std::copy_n(batch.data(), batch.bytes(), x.mutable_data());
    const double loss = kept.step(batch, labels(), 0.01).loss;
    EXPECT_EQ(reused.step(x, labels(), 0.01).loss, loss);
    EXPECT_EQ(reused.evaluate(x, labels(), kBatch).loss,
              kept.evaluate(batch, labels(), kBatch).loss);
    std::fill_n(x.mutable_data(), x.bytes(), std::byte{0x7f});
    EXPECT_THROW((void)reused.step(x, wrong, 0.01), UsageError);
  }
}

TEST_P(ModelTrainer, FrozenLayersHaveNoGradientAndStay) {
  TrainerOptions options;
  options.batch = kBatch;
  options.freeze = {"first", "bias", "s*", "second"};
  const Graph model = small_network();
  Trainer trainer(to_model(model), device(), options);
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  (void)trainer.step(x, labels(), 0.02);
  EXPECT_EQ(trainer.state().size(), 3U);  // last, offset, the number of steps
  const std::string plan = trainer.plan_text(CompiledModel::Detail::brief);
  EXPECT_THAT(plan, ::testing::Not(::testing::HasSubstr("MaxPoolGradient")));
  EXPECT_THAT(plan, ::testing::Not(::testing::HasSubstr("Conv_")));
  const Graph learned = Inside::of(trainer.model());
  const Tensor& before = model.tensor(model.find("second")).data;
  const Tensor& after = learned.tensor(learned.find("second")).data;
  EXPECT_THAT(after.as<float>(), ::testing::ElementsAreArray(before.as<float>()));
}

TEST_P(ModelTrainer, EvaluatesWhatItLearned) {
  TrainerOptions options;
  options.batch = kBatch;
  Trainer trainer(to_model(small_network()), device(), options);
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 99);
  for (int i = 0; i < 2; ++i) (void)trainer.step(x, labels(), 0.1);
  Tensor predictions;
  const BatchResult got = trainer.evaluate(x, labels(), kBatch - 3, &predictions);
  EXPECT_EQ(got.rows, kBatch - 3);
  CompileOptions plain;
  plain.batch = kBatch;
  Session session(compile(trainer.model(), device(), plain));
  const Tensor expected = session.run(std::vector<NamedTensor>{{"x", x}})[0].tensor;
  double loss = 0.0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(predictions.at(i), expected.at(i), 1e-5);
  }
  for (std::int64_t i = 0; i < got.rows; ++i) {
    loss -= std::log(expected.at(i * kClasses + static_cast<std::int64_t>(labels().at(i))));
  }
  EXPECT_NEAR(got.loss, loss / static_cast<double>(got.rows), 1e-4);
}

TEST_P(ModelTrainer, RefusesWhatDoesNotFit) {
  const Model model = to_model(small_network());
  TrainerOptions options;
  options.batch = kBatch;
  options.freeze = {"nothing"};
  EXPECT_THROW(Trainer(model, device(), options), UsageError);
  options.freeze = {"*"};
  EXPECT_THROW(Trainer(model, device(), options), UsageError);
  options.freeze = {};
  Trainer trainer(model, device(), options);
  EXPECT_THROW(trainer.set_state({}), UsageError);
  const Tensor x = random_tensor({kBatch, 2, 8, 8}, 1);
  EXPECT_THROW((void)trainer.step(x, Tensor(), 0.1), UsageError);
  EXPECT_EQ(trainer.classes(), kClasses);
  for (const double label : {-1.0, static_cast<double>(kClasses)}) {
    Tensor wrong = labels().clone();
    wrong.set(3, label);
    EXPECT_THROW((void)trainer.step(x, wrong, 0.1), UsageError);
    EXPECT_THROW((void)trainer.evaluate(x, wrong, kBatch), UsageError);
    EXPECT_NO_THROW((void)trainer.evaluate(x, wrong, 3));  // the rest does not count
  }
  for (const double rate : {-0.1, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW((void)trainer.step(x, labels(), rate), UsageError);
  }
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  options.optimizer.momentum = 0.9;
  EXPECT_THROW(Trainer(model, device(), options), UsageError);
  options.optimizer = {};
  options.optimizer.form = OptimizerOptions::Momentum::nesterov;
  EXPECT_THROW(Trainer(model, device(), options), UsageError);
}

}  // namespace
}  // namespace morton::test
