// SPDX-License-Identifier: Apache-2.0
//
// Trainers of several ranks, as threads of this process, beside one trainer that accumulates.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/model_check.hpp"
#include "model/training_network.hpp"
#include "morton/error.hpp"
#include "morton/trainer.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/thread_ranks.hpp"

namespace morton::test {
namespace {

class ModelTrainerRanks : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelTrainerRanks);

constexpr std::int64_t kRankRows = 6, kStepsOfRanks = 3;
constexpr double kRate = 0.05;

/// Products, a Dropout and, where it is asked for, a BatchNormalization.
enum class Norm : std::uint8_t { none, batch };

Graph network_with_dropout(std::int64_t batch, Norm norm) {
  SmallNetwork network({batch, 6});
  network.add("Gemm", {network.weights("first", {6, 9}), network.weights("offset", {9})});
  if (norm == Norm::batch) network.add_batch_norm(9);
  network.add("Tanh", {});
  network.add("Dropout", {network.weights("ratio", {}, {0.25F})});
  network.add("Gemm", {network.weights("last", {9, kClasses})});
  network.add("Softmax", {}, {{"axis", std::int64_t{1}}});
  return network.finish();
}

Tensor some_rows(std::int64_t part, std::int64_t rows) {
  return random_tensor({rows, 6}, static_cast<std::uint64_t>(part) + 50);
}

Tensor some_labels(std::int64_t part, std::int64_t rows) {
  Tensor tensor = Tensor::allocate(DType::i32, {rows});
  for (std::int64_t i = 0; i < rows; ++i) {
    tensor.set(i, static_cast<double>((i * 7 + part) % kClasses));
  }
  return tensor;
}

TrainerOptions adam_options() {
  TrainerOptions options;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  options.clip_norm = 0.5;
  return options;
}

struct Learned {
  std::vector<double> losses;
  std::vector<NamedTensor> state;
};

/// What one trainer learns that takes the parts of each batch one after the other. The loss of a
/// batch is added as ranks add it.
Learned accumulated(const Device& device, int parts, Norm norm) {
  TrainerOptions options = adam_options();
  options.batch = kRankRows;
  options.accumulate = parts;
  Trainer trainer(to_model(network_with_dropout(kRankRows, norm)), device, options);
  Learned learned;
  for (std::int64_t step = 0; step < kStepsOfRanks; ++step) {
    double loss = 0.0;
    for (std::int64_t part = step * parts; part < (step + 1) * parts; ++part) {
      loss += trainer.step(some_rows(part, kRankRows), some_labels(part, kRankRows), kRate).loss *
              kRankRows;
    }
    learned.losses.push_back(loss / static_cast<double>(kRankRows * parts));
  }
  learned.state = trainer.state();
  return learned;
}

/// The same of so many ranks; all of them end with the same state.
Learned learned_by_ranks(const Device& device, int size, Norm norm) {
  std::vector<Learned> all(static_cast<std::size_t>(size));
  ThreadRanks::run(size, [&](const std::shared_ptr<Communicator>& communicator) {
    TrainerOptions options = adam_options();
    options.batch = kRankRows * size;
    options.ranks.communicator = communicator;
    Trainer trainer(to_model(network_with_dropout(kRankRows, norm)), device, options);
    EXPECT_EQ(trainer.input().shape, (Shape{kRankRows, 6}));
    Learned& learned = all[static_cast<std::size_t>(communicator->rank())];
    for (std::int64_t step = 0; step < kStepsOfRanks; ++step) {
      const std::int64_t part = step * size + communicator->rank();
      const BatchResult result =
          trainer.step(some_rows(part, kRankRows), some_labels(part, kRankRows), kRate);
      EXPECT_EQ(result.rows, kRankRows * size);
      learned.losses.push_back(result.loss);
    }
    learned.state = trainer.state();
  });
  for (const Learned& one : all) {
    EXPECT_EQ(one.losses, all[0].losses);
    for (std::size_t i = 0; i < one.state.size(); ++i) {
      const Tensor& tensor = one.state[i].tensor;
      EXPECT_EQ(std::memcmp(tensor.data(), all[0].state[i].tensor.data(), tensor.bytes()), 0)
          << one.state[i].name;
    }
  }
  return all[0];
}

const Tensor& state_of(const Learned& learned, const std::string& name) {
  const auto found = std::ranges::find(learned.state, name, &NamedTensor::name);
  EXPECT_NE(found, learned.state.end()) << name;
  return found->tensor;
}

TEST_P(ModelTrainerRanks, LearnWhatOneThatAccumulatesDoes) {
  for (const Norm norm : {Norm::none, Norm::batch}) {
    for (const int size : {2, 3}) {
      const Learned one = accumulated(device(), size, norm);
      const Learned several = learned_by_ranks(device(), size, norm);
      EXPECT_EQ(several.losses, one.losses) << size;
      for (const char* name : {"first", "offset", "last", "first/mean", "last/square"}) {
        const Tensor& there = state_of(one, name);
        const Tensor& here = state_of(several, name);
        ASSERT_EQ(here.bytes(), there.bytes());
        EXPECT_EQ(std::memcmp(here.data(), there.data(), here.bytes()), 0) << name << ", " << size;
      }
    }
  }
}

/// Running statistics are the mean of what the ranks see, by their rows.
TEST_P(ModelTrainerRanks, MeanOfRunningStatistics) {
  TrainerOptions options;
  options.batch = kRankRows;
  options.freeze = {"first"};
  std::vector<float> expected(9, 0.0F);
  for (std::int64_t part = 0; part < 2; ++part) {
    Trainer one(to_model(network_with_dropout(kRankRows, Norm::batch)), device(), options);
    (void)one.step(some_rows(part, kRankRows), some_labels(part, kRankRows), kRate);
    const Learned learned{{}, one.state()};
    for (std::size_t i = 0; i < 9; ++i) {
      expected[i] += 0.5F * state_of(learned, "mean").as<float>()[i];
    }
  }
  ThreadRanks::run(2, [&](const std::shared_ptr<Communicator>& communicator) {
    TrainerOptions ranks = options;
    ranks.batch = 2 * kRankRows;
    ranks.ranks.communicator = communicator;
    Trainer trainer(to_model(network_with_dropout(kRankRows, Norm::batch)), device(), ranks);
    const int part = communicator->rank();
    (void)trainer.step(some_rows(part, kRankRows), some_labels(part, kRankRows), kRate);
    const Learned learned{{}, trainer.state()};
    const Tensor& mean = state_of(learned, "mean");
    for (std::size_t i = 0; i < 9; ++i) EXPECT_FLOAT_EQ(mean.as<float>()[i], expected[i]);
  });
}

/// What one trainer has learned several go on with, and the other way round.
TEST_P(ModelTrainerRanks, TakeOverAState) {
  TrainerOptions options = adam_options();
  options.batch = 2 * kRankRows;
  Trainer one(to_model(network_with_dropout(kRankRows, Norm::batch)), device(), options);
  (void)one.step(some_rows(1, 2 * kRankRows), some_labels(1, 2 * kRankRows), kRate);
  const std::vector<NamedTensor> before = one.state();
  std::mutex mutex;
  std::vector<double> losses;
  for (const std::int64_t rows : {8, 4}) {
    Tensor x = Tensor::allocate(DType::f32, {2 * kRankRows, 6});
    Tensor y = Tensor::allocate(DType::i32, {2 * kRankRows});
    std::memset(x.mutable_data(), 0, x.bytes());
    std::memset(y.mutable_data(), 0, y.bytes());
    const Tensor some_x = some_rows(9, rows), some_y = some_labels(9, rows);
    std::memcpy(x.mutable_data(), some_x.data(), some_x.bytes());
    std::memcpy(y.mutable_data(), some_y.data(), some_y.bytes());
    losses.push_back(one.evaluate(x, y, rows).loss);
  }
  ThreadRanks::run(2, [&](const std::shared_ptr<Communicator>& communicator) {
    TrainerOptions ranks = options;
    ranks.ranks.communicator = communicator;
    ranks.ranks.shares = {2, 1};
    Trainer trainer(to_model(network_with_dropout(kRankRows, Norm::batch)), device(), ranks);
    const std::int64_t rows = communicator->rank() == 0 ? 8 : 4;
    EXPECT_EQ(trainer.input().shape, (Shape{rows, 6}));
    trainer.set_state(before);
    EXPECT_EQ(trainer.steps_done(), 1);
    // In the order of their names: the graphs renew them in another.
    for (const NamedTensor& named : before) {
      const Learned now{{}, trainer.state()};
      const Tensor& taken = state_of(now, named.name);
      EXPECT_EQ(std::memcmp(taken.data(), named.tensor.data(), taken.bytes()), 0) << named.name;
    }
    // The evaluation uses what was taken over.
    const double loss = trainer.evaluate(some_rows(9, rows), some_labels(9, rows), rows).loss;
    const std::lock_guard lock(mutex);
    EXPECT_NEAR(loss, losses[communicator->rank() == 0 ? 0 : 1], 1e-6);
  });
}

TEST_P(ModelTrainerRanks, RefuseToAccumulate) {
  EXPECT_THROW(ThreadRanks::run(2,
                                [&](const std::shared_ptr<Communicator>& communicator) {
                                  TrainerOptions options;
                                  options.batch = 4;
                                  options.accumulate = 2;
                                  options.ranks.communicator = communicator;
                                  (void)Trainer(to_model(network_with_dropout(2, Norm::none)),
                                                device(), options);
                                }),
               UsageError);
}

}  // namespace
}  // namespace morton::test
