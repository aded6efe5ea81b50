// SPDX-License-Identifier: Apache-2.0
//
// What is looked at before a training begins.
#include <algorithm>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "training/loop/training_folder.hpp"
#include "training/loop/training_loop.hpp"

namespace morton::training {
namespace {

void require_positive(const char* what, std::int64_t number) {
  if (number >= 1) return;
  throw UsageError(std::string(what) + ": expected 1 or more, got " + std::to_string(number));
}

void require_updates(std::int64_t steps, std::int64_t accumulate) {
  if (steps >= accumulate) return;
  throw UsageError("training: an update takes " + std::to_string(accumulate) + " steps, and the " +
                   "training has " + std::to_string(steps) +
                   ": the parameters would never change; train longer, or accumulate less");
}

void require_validation(const TrainingRunOptions& options, const Dataset& training) {
  if (options.patience == 0 && options.test_every == 0) return;
  throw UsageError(training.where +
                   ": patience and tests in between need validation data, and "
                   "there are none; hold back a share of the training examples");
}

}  // namespace

std::int64_t steps_of(const TrainingRunOptions& options, std::int64_t per_epoch) {
  if (options.steps > 0) return options.steps;
  require_positive("epochs", options.epochs);
  return checked_mul(options.epochs, per_epoch, "epochs");
}

BatchOptions batch_options(const TrainingRunOptions& options, const Ranks& ranks) {
  BatchOptions batches{options.seed,
                       parse_augmentation(options.augmentation),
                       {options.mean, options.deviation},
                       {}};
  if (ranks.are_several()) batches.part = {ranks.batch(), ranks.share().first};
  return batches;
}

TrainingRunOptions options_for(Learner& learner, TrainingRunOptions options) {
  if (learner.ranks().is_first()) return options;
  options.folder.clear();
  options.start = TrainingRunOptions::Start::in_empty_folder;
  options.log = nullptr;
  return options;
}

void check_run_options(const TrainingRunOptions& options) {
  // The device computes in f32.
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (!(options.learning_rate > 0.0 && options.learning_rate <= kLargest)) {
    throw UsageError(setting("learning_rate") +
                     ": expected a number above 0 that f32 can hold, got " +
                     exact_text(options.learning_rate));
  }
  if (options.steps <= 0) require_positive("epochs", options.epochs);
  (void)parse_augmentation(options.augmentation);
  // Whether a warm-up fits the training is known with the data.
  constexpr std::int64_t kLong = std::int64_t{1} << 40;
  (void)Schedule(options.schedule, {1, kLong});
  if (!options.folder.empty()) {
    require_unlocked(options.folder);
    check_folder(options);
  } else if (options.start == TrainingRunOptions::Start::resume) {
    throw UsageError("training: to resume, name the folder of the checkpoints");
  }
}

void check_examples(const TrainingRunOptions& options, const LearnerForm& learner,
                    const Dataset& training, const Dataset* validation) {
  if (validation == nullptr) require_validation(options, training);
  const std::int64_t per_epoch = training.size() / learner.batch;
  if (per_epoch > 0) {
    const std::int64_t steps = steps_of(options, per_epoch);
    require_updates(steps, learner.accumulate);
    (void)Schedule(options.schedule, {per_epoch, steps});
  }
  const auto is_open = [](std::int64_t extent) { return extent < 1; };
  if (learner.input.empty() || std::ranges::any_of(learner.input, is_open)) return;
  (void)Batches(training, learner.input, batch_options(options));
  if (validation == nullptr) return;
  (void)ExampleWriter(*validation, learner.input, {options.mean, options.deviation});
}

void require_labels_for(const Learner& learner, const Dataset& data) {
  if (learner.classes() > 0) return require_labels_below(data, learner.classes());
  if (!data.has_labels()) return;
  // Ones among zeros, or of a single output the label itself.
  const Shape shape = learner.target().shape;
  const bool single = element_count(shape) == shape[0];
  if (single || shape.size() == 2) require_labels_below(data, single ? 2 : shape[1]);
}

}  // namespace morton::training
