// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "morton/dataset.hpp"
#include "morton/export.hpp"
#include "morton/trainer.hpp"

namespace morton {

/// How far a training is, told after each step.
struct TrainingProgress {
  std::int64_t step = 0, steps = 0;     ///< done, and of the whole training
  std::int64_t epoch = 0, epochs = 0;   ///< the one of this step, from 1
  std::int64_t batch = 0, batches = 0;  ///< of the epoch: done, and all
  double loss = 0.0;                    ///< mean over the epoch's batches so far
  std::optional<double> accuracy;       ///< likewise, from 0 to 1; nothing without labels
  double learning_rate = 0.0;           ///< of this step
  /// Of the validation data; only where they were looked at after this step.
  std::optional<double> validation_loss, validation_accuracy;
  double images_per_second = 0.0;  ///< of this epoch, without evaluations
  double seconds_left = 0.0;       ///< at the speed so far
};

/// How a trainer is led through a data set.
struct TrainingRunOptions {
  std::int64_t epochs = 10;
  std::int64_t steps = 0;  ///< ends after so many; 0: as the epochs say
  double learning_rate = 0.001;
  /// A factor of the rate over time: constant, step, cosine or plateau, with options
  /// ("cosine:warmup=500"; docs/training.md).
  std::string schedule = "constant";
  /// Random changes of pictures: "shift=2,flip,crop=4,rotate=15,scale=10", some of them (pixels,
  /// degrees, per cent); or "none".
  std::string augmentation = "none";
  /// Taken from each value (pictures: level / 255), and what the rest is divided by: one number, or
  /// one for each channel; empty: nothing.
  std::vector<float> mean, deviation;
  std::uint64_t seed = 1;  ///< of the order of examples and of their changes
  /// Ends after so many epochs in a row whose loss on the validation data is no better than the
  /// best one, and keeps the parameters of the best; 0: never. An end within an epoch may be the
  /// best place too.
  std::int64_t patience = 0;
  /// Looks at the validation data after every so many steps, beside each epoch's end; 0: only then.
  std::int64_t test_every = 0;
  /// Where checkpoints, logs (CSV, JSONL) and TensorBoard's events go; empty: nowhere.
  std::string folder;
  std::int64_t checkpoint_every = 0;  ///< steps, beside each epoch's end; 0: only then
  /// Whether `folder` may hold what a training writes: it may not (UsageError), the training goes
  /// on from its checkpoint as if never stopped (where there is none it begins), or it is written
  /// over. One training at a time has a folder; another one is a UsageError.
  enum class Start : std::uint8_t { in_empty_folder, resume, anew } start = Start::in_empty_folder;
  /// Whether `evaluate` is asked for when the training has ended: what that needs is then built
  /// before the first step, as it is for validation data.
  enum class AfterEnd : std::uint8_t { nothing, evaluation } after_end = AfterEnd::nothing;
  /// Told after each step. May be empty.
  std::function<void(const TrainingProgress&)> progress;
  /// Told what a user should know (one line each). May be empty.
  std::function<void(const std::string&)> log;
  /// Asked before each step: true saves a checkpoint and stops. May be empty.
  std::function<bool()> stop;
};

/// The result of a training.
struct TrainingReport {
  enum class End : std::uint8_t { finished, patience, stopped } end = End::finished;
  std::int64_t steps = 0;         ///< done, those before a resumption included
  std::int64_t resumed_from = 0;  ///< the step of the checkpoint; 0: none
  std::int64_t left_over = 0;     ///< examples that each epoch leaves out, others each time
  std::int64_t overflows = 0;     ///< updates of this run that were left out (precision f16)
  /// Means over the last epoch's batches; nothing where there was nothing left to do.
  std::optional<double> loss, accuracy;
  /// When last looked at; where patience took the best parameters back, of those.
  std::optional<double> validation_loss, validation_accuracy;
  std::int64_t best_step = 0;  ///< of the lowest validation loss; 0: none
  std::optional<double> best_validation_loss, best_validation_accuracy;
  /// Programs that were built for the device between the first step of this run and its end; each
  /// would have been a wait.
  std::int64_t builds_after_first_step = 0;
  double seconds = 0.0;            ///< from the first step on, with those before a resumption
  double images_per_second = 0.0;  ///< in steps, of this run
};

/// Throws UsageError for what is wrong with the options whatever the model and the data are: a
/// schedule's or an augmentation's text, a folder with a checkpoint or a model that is neither
/// resumed nor started over, or that another training writes to. `train` does so too; it may be
/// told long before a trainer is made.
MORTON_API void check_options(const TrainingRunOptions& options);

/// The same, and for what does not fit the examples: a training that ends before its first update
/// or within its warm-up, patience without `validation` (which may be null), and, unless an extent
/// of `input` is open (-1), means, deviations and an augmentation that these examples do not have.
/// `input` is the shape of the model's input, batch included.
MORTON_API void check_options(const TrainingRunOptions& options, const TrainerOptions& trainer,
                              const Shape& input, const Dataset& training,
                              const Dataset* validation);

/// Trains on `training`, looking at `validation` (unless null) after each epoch. Batches are drawn
/// in an order that follows from the seed, so the same training gives the same losses on the same
/// device and driver, stopped and resumed or not. Throws UsageError for options and data that do
/// not fit, ModelError for labels out of range, for damaged checkpoints, and where a loss or what
/// was learned is not finite: the last good checkpoint is then kept.
MORTON_API TrainingReport train(Trainer& trainer, const Dataset& training,
                                const Dataset* validation, const TrainingRunOptions& options);

/// Loss and right answers of what `trainer` has learned, on all examples, prepared as `options`
/// says; without right answers where the loss is not finite. Throws UsageError for data that do
/// not fit, ModelError for labels out of range.
[[nodiscard]] MORTON_API BatchResult evaluate(Trainer& trainer, const Dataset& data,
                                              const TrainingRunOptions& options);

/// A model as it was in the course of a training.
struct ModelAtCheckpoint {
  Model model;
  std::string where;      ///< the file that was read
  std::int64_t step = 0;  ///< after so many
  std::string damage;     ///< why the folder's newest file was not taken; empty when it was
};

/// `model`, in the form in which it is used (Trainer::model), with the parameters of a checkpoint
/// that `train` wrote: of a file, or of a folder's newest good one. Throws ModelError for damaged
/// files and checkpoints of another model.
[[nodiscard]] MORTON_API ModelAtCheckpoint with_checkpoint(const Model& model,
                                                           const std::string& path);

}  // namespace morton
