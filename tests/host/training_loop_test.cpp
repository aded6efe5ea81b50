// SPDX-License-Identifier: Apache-2.0
#include "training/training_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "formats_files.hpp"

namespace morton {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A learner whose one weight and whose losses depend on every batch and rate so far.
class FakeLearner : public Learner {
 public:
  PortInfo input() const override { return {"input", DType::f32, {3, 1, 4, 4}, {}}; }
  PortInfo target() const override { return {"labels", DType::i32, {3}, {}}; }
  BatchResult step(const Tensor& inputs, const Tensor& targets, double learning_rate) override {
    double sum = 0.0;
    for (std::int64_t i = 0; i < inputs.size(); ++i) {
      sum = std::fmod(sum * 1.7 + inputs.at(i), 1.0);
    }
    for (std::int64_t i = 0; i < targets.size(); ++i) sum += targets.at(i);
    weight_ = static_cast<float>(std::fmod(weight_ * 0.9 + learning_rate * sum, 10.0));
    ++steps_;
    rates.push_back(learning_rate);
    const double loss = steps_ == spoilt_loss_at ? kNan : weight_;
    if (steps_ == spoilt_weight_at) weight_ = std::numeric_limits<float>::infinity();
    return {loss, steps_ % 4, 3};
  }
  BatchResult evaluate(const Tensor& /*inputs*/, const Tensor& /*targets*/,
                       std::int64_t rows) override {
    if (evaluated_rows == 0) evaluated_first = steps_;
    evaluated_rows += rows;
    return {validation_loss ? validation_loss(steps_) : weight_, rows, rows};
  }
  std::vector<NamedTensor> state() override {
    return {{"weight", Tensor::from({1}, std::vector<float>{weight_})},
            {"morton.progress", Tensor::from({1}, std::vector<std::int64_t>{steps_})}};
  }
  void set_state(const std::vector<NamedTensor>& state) override {
    weight_ = state[state[0].name == "weight" ? 0 : 1].tensor.as<float>()[0];
    steps_ = state[state[0].name == "weight" ? 1 : 0].tensor.as<std::int64_t>()[0];
  }
  std::int64_t classes() const override { return 10; }
  std::vector<std::string> trained() const override { return {"weight"}; }
  std::map<std::string, std::string> settings() const override { return {{"optimizer", "fake"}}; }
  std::string plan_digest() const override { return digest; }
  const Graph& graph() const override { return graph_; }

  std::int64_t steps() const { return steps_; }
  std::int64_t spoilt_loss_at = 0, spoilt_weight_at = 0, evaluated_rows = 0, evaluated_first = -1;
  std::function<double(std::int64_t)> validation_loss;
  std::vector<double> rates;
  std::string digest = "plan";

 private:
  float weight_ = 1.0F;
  std::int64_t steps_ = 0;
  Graph graph_;
};

/// `count` pictures of noise.
Dataset noise(std::int64_t count) {
  Dataset data;
  data.where = "noise";
  data.inputs = Tensor::allocate(DType::u8, {count, 1, 4, 4});
  for (std::int64_t i = 0; i < data.inputs.size(); ++i) {
    data.inputs.set(i, static_cast<double>(i * i % 251));
  }
  data.targets = Tensor::allocate(DType::i32, {count});
  for (std::int64_t i = 0; i < count; ++i) data.targets.set(i, static_cast<double>(i % 10));
  data.classes = 10;
  return data;
}

TrainingRunOptions options_in(const std::filesystem::path& folder) {
  TrainingRunOptions options;
  options.epochs = 4;
  options.learning_rate = 0.5;
  options.schedule = "plateau:patience=1,factor=0.5,warmup=4";
  options.augmentation = "shift=1,flip";
  options.folder = folder.string();
  options.start = TrainingRunOptions::Start::resume;
  return options;
}

TrainingReport run(FakeLearner& learner, const TrainingRunOptions& options,
                   std::optional<Dataset> validation = noise(7)) {
  return TrainingLoop(learner, noise(17), validation ? &*validation : nullptr, options).run();
}

/// The lines of log.csv without the two columns that tell of time.
std::vector<std::string> logged(const std::filesystem::path& folder) {
  std::istringstream lines(bytes_of_file(folder / "log.csv"));
  std::vector<std::string> kept;
  for (std::string line; std::getline(lines, line);) {
    for (int i = 0; i < 2; ++i) line.resize(line.rfind(','));
    kept.push_back(line);
  }
  return kept;
}

TEST(TrainingLoop, RunsThroughItsEpochs) {
  TemporaryFolder folder;
  FakeLearner learner;
  std::vector<TrainingProgress> told;
  TrainingRunOptions options = options_in(folder.path());
  options.progress = [&](const TrainingProgress& progress) { told.push_back(progress); };
  const TrainingReport report = run(learner, options);
  EXPECT_EQ(report.end, TrainingReport::End::finished);
  EXPECT_EQ(report.steps, 4 * 5);
  EXPECT_EQ(report.left_over, 2);
  EXPECT_EQ(report.resumed_from, 0);
  EXPECT_EQ(report.validation_accuracy, 1.0);
  EXPECT_EQ(learner.evaluated_rows, (1 + 4) * 7);
  EXPECT_EQ(learner.evaluated_first, 0);
  ASSERT_EQ(told.size(), 20U);
  EXPECT_EQ(told[6].epoch, 2);
  EXPECT_EQ(told[6].batch, 2);
  EXPECT_EQ(told[6].batches, 5);
  EXPECT_FALSE(told[6].validation_loss.has_value());
  EXPECT_TRUE(told[9].validation_loss.has_value());
  EXPECT_EQ(told[19].step, 20);
  EXPECT_EQ(told[19].epochs, 4);
  EXPECT_EQ(logged(folder.path()).size(), 21U);
  EXPECT_DOUBLE_EQ(learner.rates[0], 0.125);
  EXPECT_DOUBLE_EQ(learner.rates[3], 0.5);
}

/// Stopped at any step, or killed there, and resumed: the same losses.
TEST(TrainingLoop, ResumesAsIfNeverStopped) {
  TemporaryFolder folder;
  const std::filesystem::path whole = folder / "whole";
  FakeLearner uninterrupted;
  (void)run(uninterrupted, options_in(whole));
  for (const int every : {0, 3}) {
    for (int stop_after = 1; stop_after < 20; stop_after += 4) {
      const std::filesystem::path parts =
          folder / "parts" / std::to_string(every * 100 + stop_after);
      TrainingRunOptions options = options_in(parts);
      options.checkpoint_every = every;
      FakeLearner learner;
      int left = stop_after;
      if (every == 0) {
        options.stop = [&] { return left-- == 0; };
        EXPECT_EQ(run(learner, options).end, TrainingReport::End::stopped);
      } else {
        // As a kill leaves it: what was logged stays, and nothing is saved.
        options.progress = [&](const TrainingProgress&) {
          if (--left == 0) throw std::runtime_error("killed");
        };
        EXPECT_THROW((void)run(learner, options), std::runtime_error);
      }
      options = options_in(parts);
      options.checkpoint_every = every;
      FakeLearner later;
      const TrainingReport report = run(later, options);
      EXPECT_EQ(report.steps, 20);
      EXPECT_EQ(later.state()[0].tensor.at(0), uninterrupted.state()[0].tensor.at(0));
      EXPECT_EQ(logged(parts), logged(whole)) << stop_after;
    }
  }
}

TEST(TrainingLoop, MoreEpochsGoOnAsOneTraining) {
  TemporaryFolder folder;
  FakeLearner whole, part, later;
  TrainingRunOptions options = options_in(folder / "whole");
  (void)run(whole, options);
  options = options_in(folder / "parts");
  options.epochs = 2;
  (void)run(part, options);
  options.epochs = 4;
  EXPECT_EQ(run(later, options).resumed_from, 10);
  EXPECT_EQ(logged(folder / "parts"), logged(folder / "whole"));
}

TEST(TrainingLoop, KeepsTheBestWhenPatienceEnds) {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  options.epochs = 20;
  options.patience = 2;
  std::vector<std::string> notes;
  options.log = [&](const std::string& note) { notes.push_back(note); };
  FakeLearner learner;
  learner.validation_loss = [](std::int64_t step) {
    return std::abs(15.0 - static_cast<double>(step));
  };
  const TrainingReport report = run(learner, options);
  EXPECT_EQ(report.end, TrainingReport::End::patience);
  EXPECT_EQ(report.steps, 25);
  EXPECT_EQ(report.best_step, 15);
  EXPECT_EQ(report.best_validation_loss, 0.0);
  EXPECT_EQ(learner.steps(), 15);
  EXPECT_THAT(notes.back(), HasSubstr("those of step 15"));
  // Whoever resumes is out of patience as well, and has the best again.
  FakeLearner later;
  EXPECT_EQ(run(later, options).end, TrainingReport::End::patience);
  EXPECT_EQ(later.steps(), 15);
  EXPECT_EQ(later.state()[0].tensor.at(0), learner.state()[0].tensor.at(0));
}

TEST(TrainingLoop, TheBestMayBeTheLastStepOfAnUnfinishedEpoch) {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  options.steps = 7;
  options.patience = 2;
  FakeLearner learner;
  learner.validation_loss = [](std::int64_t step) { return 1.0 / static_cast<double>(step + 1); };
  const TrainingReport report = run(learner, options);
  EXPECT_EQ(report.best_step, 7);
  EXPECT_EQ(report.best_validation_loss, 0.125);
  EXPECT_EQ(learner.steps(), 7);
}

TEST(TrainingLoop, LooksInBetween) {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  options.steps = 8;
  options.test_every = 3;
  FakeLearner learner;
  EXPECT_EQ(run(learner, options).steps, 8);
  std::vector<int> tested;
  const auto lines = logged(folder.path());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream fields(lines[i]);
    std::string step, field;
    std::getline(fields, step, ',');
    for (int skip = 0; skip < 4; ++skip) std::getline(fields, field, ',');
    if (!field.empty()) tested.push_back(std::stoi(step));
  }
  EXPECT_THAT(tested, testing::ElementsAre(3, 5, 6, 8));
}

TEST(TrainingLoop, ALossThatIsNotFiniteEndsItAndKeepsTheLastCheckpoint) {
  TemporaryFolder folder;
  FakeLearner learner;
  learner.spoilt_loss_at = 8;
  EXPECT_THAT(message_of<ModelError>([&] { (void)run(learner, options_in(folder.path())); }),
              AllOf(HasSubstr("step 8: the loss is nan"), HasSubstr("of step 5"),
                    HasSubstr(folder.path().string())));
  EXPECT_EQ(CheckpointStore(folder.path()).read()->checkpoint.integer("steps"), 5);
  FakeLearner early;
  early.spoilt_loss_at = 1;
  TrainingRunOptions options = options_in("");
  options.folder.clear();
  options.start = TrainingRunOptions::Start::anew;
  EXPECT_THAT(message_of<ModelError>([&] { (void)run(early, options); }),
              HasSubstr("no checkpoint was written"));
}

TEST(TrainingLoop, SavesNoWeightsThatAreNotFinite) {
  TemporaryFolder folder;
  FakeLearner learner;
  learner.spoilt_weight_at = 10;
  EXPECT_THAT(message_of<ModelError>([&] { (void)run(learner, options_in(folder.path())); }),
              AllOf(HasSubstr("weight is not finite"), HasSubstr("of step 5")));
  EXPECT_EQ(CheckpointStore(folder.path()).read()->checkpoint.integer("steps"), 5);
}

TEST(TrainingLoop, GoesOnOnlyAsItBegan) {
  TemporaryFolder folder;
  FakeLearner learner;
  (void)run(learner, options_in(folder.path()));
  TrainingRunOptions options = options_in(folder.path());
  options.learning_rate = 0.25;
  EXPECT_THAT(message_of<UsageError>([&] { (void)run(learner, options); }),
              HasSubstr("learning rate was 0.5, now it is 0.25"));
  options = options_in(folder.path());
  options.start = TrainingRunOptions::Start::in_empty_folder;
  EXPECT_THAT(message_of<UsageError>([&] { (void)run(learner, options); }),
              HasSubstr("holds the checkpoint of an earlier training"));
  options.start = TrainingRunOptions::Start::anew;
  FakeLearner anew;
  EXPECT_EQ(run(anew, options).resumed_from, 0);
  // Another plan is told of.
  std::vector<std::string> notes;
  options = options_in(folder.path());
  options.log = [&](const std::string& note) { notes.push_back(note); };
  FakeLearner other;
  other.digest = "other";
  EXPECT_EQ(run(other, options).resumed_from, 20);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("another plan")));
}

TEST(TrainingLoop, RefusesWhatCannotBe) {
  FakeLearner learner;
  const auto error = [&](const std::function<void(TrainingRunOptions&)>& change,
                         const std::optional<Dataset>& validation) {
    TrainingRunOptions options;
    change(options);
    return message_of<UsageError>([&] { (void)run(learner, options, validation); });
  };
  EXPECT_THAT(error([](auto& o) { o.learning_rate = 0.0; }, noise(3)), HasSubstr("learning rate"));
  EXPECT_THAT(error([](auto& o) { o.epochs = 0; }, noise(3)), HasSubstr("epochs"));
  EXPECT_THAT(error([](auto& o) { o.patience = 1; }, std::nullopt), HasSubstr("validation data"));
  EXPECT_THAT(error([](auto& o) { o.start = TrainingRunOptions::Start::resume; }, noise(3)),
              HasSubstr("name the folder"));
  Dataset bad = noise(17);
  bad.targets.set(5, 10.0);
  EXPECT_THAT(message_of<ModelError>(
                  [&] { TrainingLoop(learner, bad, nullptr, TrainingRunOptions{}).run(); }),
              HasSubstr("example 5 has the label 10"));
}

}  // namespace
}  // namespace morton
