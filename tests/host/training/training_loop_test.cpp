// SPDX-License-Identifier: Apache-2.0
#include "training/loop/training_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/files/file.hpp"
#include "host/fake_learner.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  // The fake builds one program at each step, and five more at the second.
  EXPECT_EQ(report.builds_after_first_step, 25 - 1);
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

/// Without validation data too, what evaluation needs is there before the first step.
TEST(TrainingLoop, PreparesTheEvaluationAtTheEnd) {
  using AfterEnd = TrainingRunOptions::AfterEnd;
  for (const AfterEnd after_end : {AfterEnd::nothing, AfterEnd::evaluation}) {
    FakeLearner learner;
    TrainingRunOptions options;
    options.epochs = 1;
    options.after_end = after_end;
    (void)run(learner, options, std::nullopt);
    const bool prepared = after_end == AfterEnd::evaluation;
    EXPECT_EQ(learner.evaluated_first, prepared ? 0 : -1);
    EXPECT_EQ(learner.evaluated_rows, prepared ? 3 : 0);
  }
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
              AllOf(HasSubstr("step 1: the loss is nan before anything was learned"),
                    HasSubstr("no checkpoint was written")));
}

TEST(TrainingLoop, SaysWhichParameterWasNotFiniteFromTheStart) {
  TemporaryFolder folder;
  FakeLearner learner, later;
  learner.begin_at(static_cast<float>(kNan));
  EXPECT_THAT(message_of<ModelError>([&] { (void)run(learner, options_in(folder.path())); }),
              AllOf(HasSubstr("the model's 'weight' has numbers that are not finite"),
                    Not(HasSubstr("learning rate"))));
  EXPECT_EQ(learner.steps(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "log.csv"));
  TrainingRunOptions options = options_in(folder.path());
  options.start = TrainingRunOptions::Start::in_empty_folder;
  // What is no parameter may be infinite, as a mask is, but no nan.
  GraphTensor constant;
  constant.name = "mask";
  constant.kind = GraphTensor::Kind::constant;
  constant.data = Tensor::from({2}, std::vector<float>{INFINITY, NAN});
  later.model.add_tensor(constant);
  EXPECT_THAT(message_of<ModelError>([&] { (void)run(later, options); }), HasSubstr("'mask'"));
  later.model.tensor(TensorId(0)).data.set(1, -INFINITY);
  EXPECT_EQ(run(later, options).steps, 20);
}

/// The largest of numbers that are not finite is no right answer.
TEST(TrainingLoop, TellsNoAccuracyOfALossThatIsNotFinite) {
  TemporaryFolder folder;
  FakeLearner learner;
  learner.validation_loss = [](std::int64_t) { return std::copysign(kNan, -1.0); };
  std::vector<std::string> notes;
  TrainingRunOptions options = options_in(folder.path());
  options.epochs = 1;
  options.log = [&](const std::string& note) { notes.push_back(note); };
  const TrainingReport report = run(learner, options);
  EXPECT_TRUE(std::isnan(report.validation_loss.value()));
  EXPECT_FALSE(report.validation_accuracy.has_value());
  EXPECT_EQ(notes.back(), "before step 1: validation loss nan");
  EXPECT_THAT(logged(folder.path()).back(), HasSubstr(",nan,,"));
}

TEST(TrainingLoop, SaysWhichGradientsAreNotUsed) {
  const auto notes_of = [](std::int64_t steps, std::int64_t stop_after) {
    FakeLearner learner;
    learner.accumulated = 3;
    std::vector<std::string> notes;
    TrainingRunOptions options;
    options.steps = steps;
    options.stop = [&] { return learner.steps() == stop_after; };
    options.log = [&](const std::string& note) { notes.push_back(note); };
    (void)run(learner, options, std::nullopt);
    return notes;
  };
  EXPECT_THAT(notes_of(8, -1), testing::ElementsAre(HasSubstr("the last 2 steps are not used")));
  EXPECT_THAT(notes_of(7, -1), testing::ElementsAre(HasSubstr("the last 1 step are not used")));
  EXPECT_THAT(notes_of(6, -1), testing::IsEmpty());
  // Whoever goes on from there uses them.
  EXPECT_THAT(notes_of(8, 5), testing::IsEmpty());
}

/// What the first look at the validation data builds says nothing of the steps.
TEST(TrainingLoop, MeasuresFromTheFirstStepOn) {
  FakeLearner learner;
  learner.first_evaluation = std::chrono::milliseconds(500);
  TrainingRunOptions options;
  options.steps = 20;
  std::vector<double> left;
  options.progress = [&](const TrainingProgress& progress) {
    left.push_back(progress.seconds_left);
  };
  EXPECT_LT(run(learner, options).seconds, 0.5);
  ASSERT_EQ(left.size(), 20U);
  EXPECT_LT(left[0], 19 * 0.5);
  EXPECT_EQ(left[19], 0.0);
}

TEST(TrainingLoop, SavesNoWeightsThatAreNotFinite) {
  TemporaryFolder folder;
  FakeLearner learner;
  learner.spoilt_weight_at = 10;
  EXPECT_THAT(message_of<ModelError>([&] { (void)run(learner, options_in(folder.path())); }),
              AllOf(HasSubstr("weight is not finite"), HasSubstr("of step 5")));
  EXPECT_EQ(CheckpointStore(folder.path()).read()->checkpoint.integer("steps"), 5);
}

/// Without a folder too, what was learned is finite or there is an error.
TEST(TrainingLoop, ReturnsNoWeightsThatAreNotFinite) {
  for (const std::int64_t patience : {0, 3}) {
    FakeLearner learner;
    learner.spoilt_weight_at = 10;
    learner.validation_loss = [](std::int64_t step) { return 1.0 / static_cast<double>(step + 1); };
    TrainingRunOptions options;
    options.epochs = 2;
    options.patience = patience;
    EXPECT_THAT(message_of<ModelError>([&] { (void)run(learner, options); }),
                AllOf(HasSubstr("weight is not finite"), HasSubstr("no checkpoint was written")));
  }
}

TEST(TrainingLoop, RefusesWhatCannotBe) {
  FakeLearner learner;
  const auto error = [&](const std::function<void(TrainingRunOptions&)>& change,
                         const std::optional<Dataset>& validation) {
    TrainingRunOptions options;
    change(options);
    return message_of<UsageError>([&] { (void)run(learner, options, validation); });
  };
  EXPECT_THAT(error([](auto& o) { o.learning_rate = 0.0; }, noise(3)), HasSubstr("learning_rate"));
  EXPECT_THAT(error([](auto& o) { o.learning_rate = 1e39; }, noise(3)),
              HasSubstr("f32 can hold, got 1e+39"));
  EXPECT_THAT(error([](auto& o) { o.epochs = 0; }, noise(3)), HasSubstr("epochs"));
  EXPECT_THAT(error([](auto& o) { o.patience = 1; }, std::nullopt), HasSubstr("validation data"));
  learner.accumulated = 11;
  EXPECT_THAT(error([](auto& o) { o.epochs = 2; }, noise(3)),
              AllOf(HasSubstr("an update takes 11 steps, and the training has 10"),
                    HasSubstr("would never change")));
  learner.accumulated = 1;
  EXPECT_THAT(error([](auto& o) { o.start = TrainingRunOptions::Start::resume; }, noise(3)),
              HasSubstr("name the folder"));
  Dataset bad = noise(17);
  bad.targets.set(5, 10.0);
  EXPECT_THAT(message_of<ModelError>(
                  [&] { TrainingLoop(learner, bad, nullptr, TrainingRunOptions{}).run(); }),
              HasSubstr("example 5 has the label 10"));
}

/// What can be known before there is a learner.
TEST(TrainingLoop, RefusesWhatDoesNotFitTheExamples) {
  const Dataset training = noise(17);
  const auto error = [&](const std::function<void(TrainingRunOptions&)>& change,
                         std::int64_t height) {
    TrainingRunOptions options;
    change(options);
    try {
      check_examples(options, {3, 7, {3, 1, height, 4}}, training, nullptr);
    } catch (const UsageError& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  EXPECT_EQ(error([](auto&) {}, 4), "");
  EXPECT_THAT(error([](auto& o) { o.patience = 1; }, -1), HasSubstr("need validation data"));
  EXPECT_THAT(error([](auto& o) { o.steps = 6; }, -1), HasSubstr("takes 7 steps"));
  EXPECT_THAT(error([](auto& o) { o.schedule = "cosine:warmup=50"; }, -1),
              HasSubstr("a warm-up of 50 steps leaves nothing of 50"));
  EXPECT_THAT(error([](auto& o) { o.mean = {0.5F, 0.5F}; }, 4), HasSubstr("mean: expected one"));
  EXPECT_EQ(error([](auto& o) { o.mean = {0.5F, 0.5F}; }, -1), "");
  EXPECT_THAT(error([](auto& o) { o.augmentation = "crop=0"; }, 9), HasSubstr("crop of 3"));
  Dataset other = noise(3);
  other.inputs = Tensor::allocate(DType::f32, {3, 2, 4, 4});
  EXPECT_THAT(message_of<UsageError>([&] {
                check_examples(TrainingRunOptions{}, {3, 1, {3, 1, 4, 4}}, training, &other);
              }),
              HasSubstr("the network takes"));
}

TEST(TrainingLoop, SaysEarlyThatAFolderCannotBeMade) {
  TemporaryFolder folder;
  write_file_atomically(folder / "file", "");
  TrainingRunOptions options;
  options.folder = (folder / "file" / "out").string();
  EXPECT_THAT(message_of<UsageError>([&] { check_run_options(options); }),
              AllOf(HasSubstr(options.folder + ": cannot be created"),
                    HasSubstr((folder / "file").string() + " is no folder")));
}

/// A learner whose targets are values, as those of binary cross entropy.
class ValueLearner : public FakeLearner {
 public:
  explicit ValueLearner(Shape target) : target_(std::move(target)) {}
  PortInfo target() const override { return {"values", DType::f32, target_, {}}; }
  std::int64_t classes() const override { return 0; }

 private:
  Shape target_;
};

TEST(TrainingLoop, LabelsMustFitValuesToo) {
  const auto error = [](const Shape& target, double label) {
    ValueLearner learner(target);
    Dataset data = noise(17);
    for (std::int64_t i = 0; i < 17; ++i) data.targets.set(i, static_cast<double>(i % 2));
    data.targets.set(5, label);
    try {
      (void)TrainingLoop(learner, data, nullptr, TrainingRunOptions{}).run();
    } catch (const ModelError& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  EXPECT_EQ(error({3, 1}, 1.0), "");
  EXPECT_THAT(error({3, 1}, 2.0), HasSubstr("example 5 has the label 2; expected 0 to 1"));
  EXPECT_EQ(error({3, 4}, 3.0), "");
  EXPECT_THAT(error({3, 4}, 4.0), HasSubstr("example 5 has the label 4; expected 0 to 3"));
}

}  // namespace
}  // namespace morton::test
