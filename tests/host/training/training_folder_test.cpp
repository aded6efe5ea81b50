// SPDX-License-Identifier: Apache-2.0
//
// What a training keeps in its folder: the best parameters, what must not change, and what is not
// written over.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.hpp"
#include "host/fake_learner.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using Start = TrainingRunOptions::Start;

TEST(TrainingFolder, KeepsTheBestWhenPatienceEnds) {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  options.epochs = 20;
  options.patience = 2;
  std::vector<std::string> notes;
  options.log = [&](const std::string& note) { notes.push_back(note); };
  FakeLearner learner;
  learner.wrong_at = 15;
  learner.validation_loss = [](std::int64_t step) {
    return std::abs(15.0 - static_cast<double>(step));
  };
  const TrainingReport report = run(learner, options);
  EXPECT_EQ(report.end, TrainingReport::End::patience);
  EXPECT_EQ(report.steps, 25);
  EXPECT_EQ(report.best_step, 15);
  EXPECT_EQ(report.best_validation_loss, 0.0);
  // What is told of the validation data is of the parameters that are there now.
  EXPECT_EQ(report.validation_loss, 0.0);
  EXPECT_EQ(report.best_validation_accuracy, 0.0);
  EXPECT_EQ(report.validation_accuracy, 0.0);
  EXPECT_EQ(learner.steps(), 15);
  EXPECT_THAT(notes.back(), HasSubstr("those of step 15"));
  // Whoever resumes is out of patience as well, and has the best again.
  FakeLearner later;
  const TrainingReport again = run(later, options);
  EXPECT_EQ(again.end, TrainingReport::End::patience);
  EXPECT_EQ(again.validation_loss, 0.0);
  EXPECT_EQ(again.validation_accuracy, 0.0);
  EXPECT_EQ(later.steps(), 15);
  EXPECT_EQ(later.state()[0].tensor.at(0), learner.state()[0].tensor.at(0));
}

TEST(TrainingFolder, TheBestMayBeTheLastStepOfAnUnfinishedEpoch) {
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
  // Both files agree with that.
  EXPECT_EQ(read_checkpoint(folder / "best.safetensors").integer("steps"), 7);
  EXPECT_EQ(CheckpointStore(folder.path()).read()->checkpoint.integer("best.step"), 7);
  EXPECT_EQ(CheckpointStore(folder.path()).read()->checkpoint.integer("best.waited"), 0);
}

TEST(TrainingFolder, AWorseEndOfAnUnfinishedEpochIsNotTheBest) {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  options.steps = 7;
  options.patience = 2;
  FakeLearner learner;
  learner.validation_loss = [](std::int64_t step) { return static_cast<double>(step); };
  EXPECT_EQ(run(learner, options).best_step, 5);
  EXPECT_EQ(learner.steps(), 5);
  EXPECT_EQ(read_checkpoint(folder / "best.safetensors").integer("steps"), 5);
  EXPECT_EQ(CheckpointStore(folder.path()).read()->checkpoint.integer("steps"), 7);
}

/// A training of 20 epochs whose validation loss is lowest after step 15.
struct Valley {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  std::vector<std::string> notes;

  Valley() {
    options.epochs = 20;
    options.log = [this](const std::string& note) { notes.push_back(note); };
  }
  TrainingReport go(FakeLearner& learner, std::int64_t steps, std::int64_t patience) {
    learner.validation_loss = [](std::int64_t step) {
      return 1.0 + std::abs(15.0 - static_cast<double>(step));
    };
    options.steps = steps;
    options.patience = patience;
    notes.clear();
    return run(learner, options);
  }
  [[nodiscard]] std::filesystem::path best() const { return folder / "best.safetensors"; }
};

TEST(TrainingFolder, PatienceMayComeLater) {
  Valley valley;
  FakeLearner without, with;
  (void)valley.go(without, 20, 0);
  EXPECT_FALSE(std::filesystem::exists(valley.best()));
  const TrainingReport report = valley.go(with, 100, 2);
  EXPECT_THAT(valley.notes, Contains(AllOf(HasSubstr("of step 15"), HasSubstr("are not kept"),
                                           HasSubstr("anew from step 20 on"))));
  // From there on the loss grows, so the first epoch is the best.
  EXPECT_EQ(report.best_step, 25);
  EXPECT_EQ(report.steps, 35);
  EXPECT_EQ(with.steps(), 25);
}

TEST(TrainingFolder, PatienceMayComeRightAfterTheBest) {
  Valley valley;
  FakeLearner without, with;
  (void)valley.go(without, 15, 0);
  const TrainingReport report = valley.go(with, 100, 2);
  EXPECT_EQ(report.best_step, 15);
  EXPECT_EQ(with.steps(), 15);
  EXPECT_TRUE(std::filesystem::exists(valley.best()));
}

/// The last parameters never take the place of the best ones unasked.
TEST(TrainingFolder, TheBestIsNotLostWithoutPatience) {
  Valley valley;
  FakeLearner first, second, third;
  (void)valley.go(first, 20, 9);
  EXPECT_THAT(message_of<UsageError>([&] { (void)valley.go(second, 20, 0); }),
              AllOf(HasSubstr("of step 15, the best"), HasSubstr("ask for patience again")));
  EXPECT_EQ(valley.go(second, 20, 9).best_step, 15);
  EXPECT_EQ(second.steps(), 15);
  EXPECT_EQ(valley.go(third, 25, 0).steps, 25);
  EXPECT_THAT(valley.notes, Contains(AllOf(HasSubstr("of step 15, the best"),
                                           HasSubstr("without patience the last ones"))));
  EXPECT_EQ(third.steps(), 25);
}

TEST(TrainingFolder, NothingToDoLeavesNothing) {
  Valley valley;
  FakeLearner first, second;
  (void)valley.go(first, 20, 9);
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(valley.folder.path()), {});
  };
  const auto before = files();
  (void)valley.go(second, 20, 9);
  EXPECT_EQ(files(), before);
}

TEST(TrainingFolder, AnOlderBestIsNotTakenForTheBest) {
  Valley valley;
  FakeLearner first, second, third;
  (void)valley.go(first, 10, 9);
  EXPECT_EQ(read_checkpoint(valley.best()).integer("steps"), 10);
  (void)valley.go(second, 20, 0);
  const TrainingReport report = valley.go(third, 100, 2);
  EXPECT_THAT(valley.notes, Contains(AllOf(HasSubstr("of step 15"), HasSubstr("is of step 10"))));
  EXPECT_EQ(report.best_step, 25);
  EXPECT_EQ(third.steps(), 25);
}

TEST(TrainingFolder, ADamagedBestIsNotTaken) {
  Valley valley;
  FakeLearner first, second;
  (void)valley.go(first, 20, 9);
  std::string bytes = bytes_of_file(valley.best());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file_atomically(valley.best(), bytes);
  // With no step left the last ones would take its place.
  EXPECT_THAT(message_of<UsageError>([&] { (void)valley.go(second, 20, 9); }),
              AllOf(HasSubstr("are not kept"), HasSubstr("ask for more epochs")));
  (void)valley.go(second, 100, 2);
  EXPECT_THAT(valley.notes, Contains(AllOf(HasSubstr("is damaged"), HasSubstr("are not kept"))));
  EXPECT_EQ(second.steps(), 25);
}

/// Killed after the checkpoint that is the best and before the best's own file was written.
TEST(TrainingFolder, AKillBeforeTheBestIsWrittenLosesNothing) {
  Valley valley;
  FakeLearner first, second;
  (void)valley.go(first, 10, 9);
  const std::string older = bytes_of_file(valley.best());
  (void)valley.go(first, 15, 9);
  write_file_atomically(valley.best(), older);
  const TrainingReport report = valley.go(second, 100, 2);
  EXPECT_EQ(report.best_step, 15);
  EXPECT_EQ(second.steps(), 15);
  EXPECT_EQ(read_checkpoint(valley.best()).integer("steps"), 15);
}

TEST(TrainingFolder, GoesOnOnlyAsItBegan) {
  TemporaryFolder folder;
  FakeLearner learner;
  (void)run(learner, options_in(folder.path()));
  TrainingRunOptions options = options_in(folder.path());
  options.learning_rate = 0.25;
  EXPECT_THAT(message_of<UsageError>([&] { (void)run(learner, options); }),
              HasSubstr("learning rate was 0.5, now it is 0.25"));
  const auto error_with = [&](const Dataset& training, const Dataset& validation,
                              const std::string& network) {
    FakeLearner other;
    other.network = network;
    return message_of<UsageError>(
        [&] { TrainingLoop(other, training, &validation, options_in(folder.path())).run(); });
  };
  Dataset changed = noise(17);
  changed.targets.set(3, 0.0);
  EXPECT_THAT(error_with(changed, noise(7), "network"),
              HasSubstr("the examples were others before"));
  changed = noise(17);
  changed.inputs.set(3, 0.0);
  EXPECT_THAT(error_with(changed, noise(7), "network"),
              HasSubstr("the examples were others before"));
  changed = noise(7);
  changed.targets.set(3, 0.0);
  EXPECT_THAT(error_with(noise(17), changed, "network"),
              AllOf(HasSubstr("the validation data were others before"),
                    HasSubstr("training and validation")));
  EXPECT_THAT(error_with(noise(17), noise(7), "other"),
              HasSubstr("the network were others before"));
  // What people read comes before digests.
  EXPECT_THAT(error_with(noise(14), noise(7), "other"),
              HasSubstr("examples was 17, now it is 14 (training and validation choose them)"));
  options = options_in(folder.path());
  options.start = TrainingRunOptions::Start::in_empty_folder;
  EXPECT_THAT(
      message_of<UsageError>([&] { (void)run(learner, options); }),
      HasSubstr("holds the checkpoint of an earlier training; resume it (start resume), start "
                "anew over it (start anew), or take another folder"));
  options.start = TrainingRunOptions::Start::anew;
  FakeLearner anew;
  EXPECT_EQ(run(anew, options).resumed_from, 0);
  // The same augmentation in other words.
  options = options_in(folder.path());
  options.augmentation = "flip,shift=1";
  EXPECT_EQ(run(anew, options).resumed_from, 20);
  // The same schedule in other words, and another one.
  options = options_in(folder.path());
  options.schedule = "plateau:factor=0.5,warmup=4steps,patience=1,least=0";
  EXPECT_EQ(run(anew, options).resumed_from, 20);
  options.schedule = "plateau:patience=1,factor=0.5,warmup=5";
  EXPECT_THAT(message_of<UsageError>([&] { (void)run(anew, options); }),
              HasSubstr("schedule was plateau:patience=1,factor=0.5,warmup=4, now it is"));
  // Another plan is told of.
  std::vector<std::string> notes;
  options = options_in(folder.path());
  options.log = [&](const std::string& note) { notes.push_back(note); };
  FakeLearner other;
  other.digest = "other";
  EXPECT_EQ(run(other, options).resumed_from, 20);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("another plan")));
}

/// What is there and is no training's is never lost.
TEST(TrainingFolder, WritesOverNothing) {
  TemporaryFolder folder;
  const auto error_in = [&](Start start) {
    TrainingRunOptions options = options_in(folder.path());
    options.start = start;
    FakeLearner learner;
    try {
      (void)run(learner, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* name : {"model.onnx", "best.safetensors", "log.csv", "log.jsonl"}) {
    const std::filesystem::path path = folder / name;
    write_file_atomically(path, "somebody's");
    const bool is_log = path.stem() == "log";
    for (const Start start : {Start::in_empty_folder, Start::resume}) {
      EXPECT_THAT(error_in(start), AllOf(HasSubstr(path.string()),
                                         HasSubstr(is_log ? "a training's log" : "already")));
    }
    if (is_log) {
      EXPECT_THAT(error_in(Start::anew), HasSubstr("a training's log"));
    }
    EXPECT_EQ(bytes_of_file(path), "somebody's");
    std::filesystem::remove(path);
  }
  std::filesystem::remove(folder / "log.csv");
  EXPECT_EQ(error_in(Start::in_empty_folder), "");
  // Logs without a checkpoint are what a kill at the beginning leaves.
  for (const Start start : {Start::resume, Start::in_empty_folder}) {
    std::filesystem::remove(folder / "checkpoint.safetensors");
    std::filesystem::remove(folder / "checkpoint.previous.safetensors");
    EXPECT_EQ(error_in(start), "");
    EXPECT_EQ(logged(folder.path()).size(), 21U);
  }
}

/// Nor does it keep a training from going on.
TEST(TrainingFolder, ADamagedLogIsSetAside) {
  TemporaryFolder folder;
  for (const char* aside : {"log.jsonl.damaged", "log.jsonl.damaged2"}) {
    FakeLearner first, later;
    TrainingRunOptions options = options_in(folder.path());
    options.start = Start::anew;
    (void)run(first, options);
    const std::string damaged = bytes_of_file(folder / "log.jsonl") + std::string(100, '\0') + "\n";
    write_file_atomically(folder / "log.jsonl", damaged);
    options = options_in(folder.path());
    options.epochs = 5;
    std::vector<std::string> notes;
    options.log = [&](const std::string& note) { notes.push_back(note); };
    EXPECT_EQ(run(later, options).resumed_from, 20);
    EXPECT_THAT(notes, Contains(AllOf(HasSubstr(aside), HasSubstr("begins after step 20"))));
    EXPECT_EQ(bytes_of_file(folder / aside), damaged);
    EXPECT_EQ(logged(folder.path()).size(), 1U + 25);
    EXPECT_TRUE(bytes_of_file(folder / "log.jsonl").starts_with("{\"step\":21,"));
  }
}

/// A new training that comes to nothing takes nothing away.
TEST(TrainingFolder, StartsAnewWhenItHasSomethingToKeep) {
  Valley valley;
  FakeLearner first, spoilt, later;
  (void)valley.go(first, 20, 9);
  valley.options.start = Start::anew;
  spoilt.spoilt_loss_at = 4;
  const std::vector<std::string> names{"log.csv", "log.jsonl", "best.safetensors",
                                       "checkpoint.safetensors", "checkpoint.previous.safetensors"};
  std::vector<std::string> before, after;
  for (const std::string& name : names) before.push_back(bytes_of_file(valley.folder / name));
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(valley.folder.path()), {});
  };
  const auto files_before = files();
  EXPECT_THAT(message_of<ModelError>([&] { (void)valley.go(spoilt, 20, 9); }),
              AllOf(HasSubstr("what an earlier training left in"), HasSubstr("is still there")));
  for (const std::string& name : names) after.push_back(bytes_of_file(valley.folder / name));
  EXPECT_EQ(after, before);
  EXPECT_EQ(files(), files_before);
  EXPECT_EQ(CheckpointStore(valley.folder.path()).read()->checkpoint.integer("steps"), 20);
  EXPECT_EQ(read_checkpoint(valley.best()).integer("steps"), 15);
  // Its first checkpoint takes the place of all.
  later.spoilt_loss_at = 8;
  EXPECT_THROW((void)valley.go(later, 20, 0), ModelError);
  EXPECT_EQ(CheckpointStore(valley.folder.path()).read()->checkpoint.integer("steps"), 5);
  EXPECT_EQ(logged(valley.folder.path()).size(), 1U + 7);
  EXPECT_FALSE(std::filesystem::exists(valley.best()));
  EXPECT_FALSE(std::filesystem::exists(valley.folder / "checkpoint.previous.safetensors"));
}

TEST(TrainingFolder, SaysWhatCannotBeRemoved) {
  TemporaryFolder folder;
  write_file_atomically(folder / "best.safetensors" / "file", "");
  TrainingRunOptions options = options_in(folder.path());
  options.start = Start::anew;
  FakeLearner learner;
  EXPECT_THAT(message_of<UsageError>([&] { (void)run(learner, options); }),
              HasSubstr("best.safetensors: cannot remove"));
}

TEST(TrainingFolder, BelongsToOneTraining) {
  TemporaryFolder folder;
  TrainingRunOptions options = options_in(folder.path());
  std::vector<std::string> errors;
  options.progress = [&](const TrainingProgress&) {
    if (!errors.empty()) return;
    FakeLearner second;
    errors.push_back(message_of<UsageError>([&] { check_run_options(options); }));
    errors.push_back(message_of<UsageError>([&] { (void)run(second, options_in(folder.path())); }));
  };
  FakeLearner first;
  (void)run(first, options);
  EXPECT_THAT(errors, testing::Each(AllOf(HasSubstr(folder.path().string()),
                                          HasSubstr("another training writes to this folder"))));
  // It is free again, and asking creates nothing.
  options.progress = nullptr;
  check_run_options(options);
  options.folder = (folder / "new").string();
  check_run_options(options);
  EXPECT_FALSE(std::filesystem::exists(options.folder));
  write_file_atomically(folder / "file", "");
  EXPECT_THAT(message_of<UsageError>([&] { const FolderLock lock(folder / "file"); }),
              HasSubstr((folder / "file").string()));
}

/// Who looks whether a folder is free does not keep a training from it.
TEST(TrainingFolder, LookingHindersNoStart) {
  TemporaryFolder folder;
  { const FolderLock first(folder.path()); }
  const int looking = ::open((folder / "training.lock").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(looking, LOCK_SH | LOCK_NB), 0);
  EXPECT_NO_THROW(require_unlocked(folder.path()));
  std::thread looker([looking] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ::close(looking);
  });
  EXPECT_NO_THROW(const FolderLock training(folder.path()));
  looker.join();
}

TEST(TrainingFolder, RemovesWhatAKillHasLeft) {
  TemporaryFolder folder;
  const std::vector<std::string> files{"model.onnx", "best.safetensors", "log.csv", "log.jsonl",
                                       "checkpoint.safetensors.new"};
  for (const std::string& name : files) {
    write_file_atomically(folder / (name + ".unfinished-a1B2c3"), "half");
  }
  write_file_atomically(folder / "checkpoint.safetensors.new", "whole, but not renamed");
  write_file_atomically(folder / "model.onnx.backup", "somebody's");
  FakeLearner learner;
  (void)run(learner, options_in(folder.path()));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(name.find(".unfinished-"), std::string::npos) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint.safetensors.new"));
  EXPECT_EQ(bytes_of_file(folder / "model.onnx.backup"), "somebody's");
}

}  // namespace
}  // namespace morton::test
