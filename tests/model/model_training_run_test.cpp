// SPDX-License-Identifier: Apache-2.0
//
// A training led through a data set on a device.
#include <gmock/gmock.h>

#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "model/training_network.hpp"
#include "morton/training_run.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

class ModelTrainingRun : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelTrainingRun);

/// Three batches of examples, each of this shape: by default for `small_network`.
Dataset examples(std::uint64_t seed, const Shape& of_one = {2, 8, 8}) {
  Dataset data;
  data.where = "random";
  Shape shape{3 * kBatch};
  shape.insert(shape.end(), of_one.begin(), of_one.end());
  data.inputs = random_tensor(shape, seed);
  data.targets = Tensor::allocate(DType::i32, {3 * kBatch});
  for (std::int64_t i = 0; i < data.targets.size(); ++i) {
    data.targets.set(i, static_cast<double>(i % kClasses));
  }
  data.classes = kClasses;
  return data;
}

/// A device that has built nothing yet, and keeps what it builds in a folder of its own.
Device fresh_device(const std::string& id, const test::TemporaryFolder& cache) {
  DeviceConfig config;
  config.cache_dir = cache.path().string();
  return Device::open(id, config);
}

TrainerOptions trainer_options() {
  TrainerOptions options;
  options.batch = kBatch;
  return options;
}

TrainingRunOptions two_epochs() {
  TrainingRunOptions options;
  options.epochs = 2;
  return options;
}

TEST_P(ModelTrainingRun, BuildsNothingAfterTheFirstStep) {
  for (const auto after_end :
       {TrainingRunOptions::AfterEnd::nothing, TrainingRunOptions::AfterEnd::evaluation}) {
    const test::TemporaryFolder cache;
    const Device device = fresh_device(GetParam(), cache);
    Trainer trainer(to_model(dense_network()), device, trainer_options());
    TrainingRunOptions options = two_epochs();
    options.after_end = after_end;
    const Dataset validation = examples(2, {6});
    const bool at_end = after_end == TrainingRunOptions::AfterEnd::evaluation;
    const TrainingReport report =
        train(trainer, examples(1, {6}), at_end ? nullptr : &validation, options);
    EXPECT_EQ(report.builds_after_first_step, 0);
    const int builds = device.program_builds();
    EXPECT_GT(builds, 0);
    (void)evaluate(trainer, validation, options);
    EXPECT_EQ(device.program_builds(), builds);
  }
}

/// What is told of programs can be another number: evaluation that comes unannounced builds some.
TEST_P(ModelTrainingRun, CountsWhatIsBuiltLater) {
  const test::TemporaryFolder cache;
  const Device device = fresh_device(GetParam(), cache);
  Trainer trainer(to_model(dense_network()), device, trainer_options());
  const Dataset validation = examples(2, {6});
  TrainingRunOptions options = two_epochs();
  int seen = 0;
  options.progress = [&](const TrainingProgress&) {
    if (seen++ == 0) (void)evaluate(trainer, validation, options);
  };
  const int builds = device.program_builds();
  const TrainingReport report = train(trainer, examples(1, {6}), nullptr, options);
  EXPECT_EQ(report.builds_after_first_step, device.program_builds() - builds);
  EXPECT_GT(report.builds_after_first_step, 0);
}

TEST_P(ModelTrainingRun, ACheckpointIsAModel) {
  const test::TemporaryFolder folder;
  Trainer trainer(to_model(small_network()), device(), trainer_options());
  TrainingRunOptions options = two_epochs();
  options.folder = folder.path().string();
  (void)train(trainer, examples(1), nullptr, options);
  const ModelAtCheckpoint at = with_checkpoint(to_model(small_network()), options.folder);
  EXPECT_EQ(at.step, 6);
  const Graph learned = Inside::of(trainer.model());
  int compared = 0;
  for (const GraphTensor& tensor : learned.tensors) {
    if (tensor.kind != GraphTensor::Kind::constant) continue;
    const Graph& taken = Inside::of(at.model);
    const Tensor& got = taken.tensor(taken.find(tensor.name)).data;
    for (std::int64_t i = 0; i < got.size(); ++i) EXPECT_EQ(got.at(i), tensor.data.at(i));
    ++compared;
  }
  // Weights, biases and offsets, and of the normalisation four.
  EXPECT_EQ(compared, 9);
}

/// Names of tensors may hold anything that ONNX allows.
TEST_P(ModelTrainingRun, ACheckpointKeepsNamesOfSeveralLines) {
  Graph network = small_network();
  network.tensor(network.find("second")).name = "second\nlast\n";
  const test::TemporaryFolder folder;
  Trainer trainer(to_model(network), device(), trainer_options());
  TrainingRunOptions options = two_epochs();
  options.folder = folder.path().string();
  (void)train(trainer, examples(1), nullptr, options);
  const Graph taken = Inside::of(with_checkpoint(to_model(network), options.folder).model);
  const Graph learned = Inside::of(trainer.model());
  for (const char* name : {"second\nlast\n", "last"}) {
    EXPECT_THAT(taken.tensor(taken.find(name)).data.as<float>(),
                ::testing::ElementsAreArray(learned.tensor(learned.find(name)).data.as<float>()));
  }
}

TEST_P(ModelTrainingRun, TargetsThatAreNoLabelsHaveNoClasses) {
  TrainerOptions options = trainer_options();
  EXPECT_EQ(Trainer(to_model(small_network()), device(), options).classes(), kClasses);
  options.targets = TrainerOptions::Targets::shares;
  Trainer trainer(to_model(small_network()), device(), options);
  EXPECT_EQ(trainer.classes(), 0);
  Dataset shares = examples(1);
  shares.targets = Tensor::allocate(DType::f32, {3 * kBatch, kClasses});
  shares.classes = 0;
  EXPECT_EQ(train(trainer, shares, nullptr, two_epochs()).steps, 6);
}

}  // namespace
}  // namespace morton::test
