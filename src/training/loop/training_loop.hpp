// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "base/stopwatch.hpp"
#include "morton/training_run.hpp"
#include "training/data/batches.hpp"
#include "training/files/checkpoint.hpp"
#include "training/files/folder_lock.hpp"
#include "training/files/training_log.hpp"
#include "training/loop/learner.hpp"
#include "training/loop/schedule.hpp"

namespace morton::training {

/// Sums over the batches of an epoch.
struct EpochSums {
  std::int64_t batches = 0, rows = 0, right = 0;
  double loss = 0.0;

  [[nodiscard]] double mean_loss() const {
    return batches == 0 ? 0.0 : loss / static_cast<double>(batches);
  }
};

/// The lowest loss on the validation data so far.
struct BestLoss {
  double loss = std::numeric_limits<double>::infinity();
  std::optional<double> accuracy;
  std::int64_t step = 0;    ///< 0: none yet
  std::int64_t waited = 0;  ///< epochs since
};

/// Where a training stands, beside what the learner, the batches and the schedule keep.
struct Standing {
  std::int64_t steps = 0;
  double seconds = 0.0;
  EpochSums epoch;
  BestLoss best;
};

/// What `check_options` of morton/training_run.hpp does.
void check_run_options(const TrainingRunOptions& options);

/// What a trainer needs to know of a learner before there is one.
struct LearnerForm {
  std::int64_t batch = 1;
  std::int64_t accumulate = 1;  ///< steps of an update
  Shape input;                  ///< with the batch; -1 for extents that are open
};
/// Throws UsageError for options that do not fit the examples (`validation` may be null) or the
/// learner.
void check_examples(const TrainingRunOptions& options, const LearnerForm& learner,
                    const Dataset& training, const Dataset* validation);

/// Steps of the whole training. Throws UsageError for less than one epoch.
[[nodiscard]] std::int64_t steps_of(const TrainingRunOptions& options, std::int64_t per_epoch);
/// Without folder and messages, which are the first rank's.
[[nodiscard]] TrainingRunOptions options_for(Learner& learner, TrainingRunOptions options);
/// What the options say of batches. Throws UsageError for an augmentation that there is not.
[[nodiscard]] BatchOptions batch_options(const TrainingRunOptions& options,
                                         const Ranks& ranks = {});

/// Throws ModelError for labels that the learner cannot tell apart, UsageError for values where it
/// wants labels.
void require_labels_for(const Learner& learner, const Dataset& data);

/// The learner's loss and right answers on all examples, a batch at a time in `inputs` and
/// `targets`, which have its shapes. Each of several ranks looks at a part of the examples, in
/// proportion to its rows; all get the same result.
[[nodiscard]] BatchResult evaluate_all(Learner& learner, const ExampleWriter& examples,
                                       Tensor& inputs, Tensor& targets);

/// Steps of a stretch of a training, in time.
struct Pace {
  double seconds = 0.0;
  std::int64_t rows = 0;

  void add(double step_seconds, std::int64_t step_rows) {
    seconds += step_seconds;
    rows += step_rows;
  }
};

/// Leads a learner through a data set: steps, evaluations, logs, checkpoints, and the end.
class TrainingLoop {
 public:
  /// `validation` may be null. Throws as `train` does.
  TrainingLoop(Learner& learner, const Dataset& training, const Dataset* validation,
               TrainingRunOptions options);
  TrainingReport run();

 private:
  [[nodiscard]] std::map<std::string, std::string> current_settings() const;
  void start();
  /// It starts anew over a checkpoint, and has none of its own yet.
  [[nodiscard]] bool may_lose_an_earlier_training() const;
  /// Throws ModelError for parameters that are not finite before the first step.
  void require_finite_start();
  void resume(const FoundCheckpoint& found);
  /// Whether a setting is what it was `before`; the words of a schedule may differ.
  [[nodiscard]] bool is_same_setting(const std::string& name, const std::string& before) const;
  void require_same_settings(const Checkpoint& checkpoint) const;
  /// Throws UsageError, or says it, where the checkpoint's training kept its best parameters and
  /// this one would keep its last ones.
  void look_for_lost_best(const Checkpoint& checkpoint) const;
  void look_before_the_first_step();
  void one_step();
  /// Adds what a step found to the sums of its epoch and of this run.
  void count(const BatchResult& result, double seconds);
  [[nodiscard]] LogRow row_of(const BatchResult& result, const BatchPlace& place, double rate,
                              double seconds) const;
  void evaluate(LogRow& row);
  /// Looks at the validation data where they are looked at after this step.
  void evaluate_if_due(LogRow& row, const BatchPlace& place);
  [[nodiscard]] bool ends_epoch(const BatchPlace& place) const {
    return place.batch + 1 == batches_.per_epoch();
  }
  void end_epoch(const LogRow& row);
  /// Of a training whose last step, with its look at the validation data, is not an epoch's.
  void end_within_epoch(const LogRow& row);
  void keep_best(const LogRow& row);
  /// What a checkpoint of the present state says beside what only going on needs.
  [[nodiscard]] Checkpoint present() const;
  /// The learner's state. Throws ModelError where some of it is not finite.
  [[nodiscard]] std::vector<NamedTensor> finite_state();
  void save();
  void log_histograms(const std::vector<NamedTensor>& state);
  void save_best();
  /// What follows the first checkpoint: logs and best parameters of an earlier training go too.
  void replace_earlier_training();
  /// The best parameters of a training that was resumed from `checkpoint`.
  void find_best(const Checkpoint& checkpoint);
  /// Takes the best parameters back, unless the last ones are.
  void restore();
  void say_unused_gradients() const;
  [[nodiscard]] bool out_of_patience() const;
  void tell(const LogRow& row, const EpochSums& epoch, const BatchPlace& place);
  void note(const std::string& text) const;
  [[noreturn]] void fail_not_finite(const std::string& what) const;
  [[nodiscard]] std::filesystem::path best_path() const;

  Learner& learner_;
  TrainingRunOptions options_;
  Batches batches_;
  std::optional<ExampleWriter> validation_;
  std::int64_t steps_ = 0;  ///< of the whole training
  Schedule schedule_;
  std::map<std::string, std::string> settings_;  ///< what must be the same to go on
  Tensor inputs_, targets_;
  /// What it keeps in its folder; nothing without one.
  struct Files {
    std::optional<FolderLock> lock;
    std::optional<CheckpointStore> store;
    std::optional<TrainingLog> log;
    std::int64_t saved_step = -1;  ///< of the newest checkpoint; -1: none
  } files_;
  Standing standing_;
  std::vector<NamedTensor> best_state_;
  TrainingReport report_;
  /// The part of the training that this run does.
  struct ThisRun {
    Stopwatch begun;              ///< with its first step
    double seconds_before = 0.0;  ///< of the training, when it began
    Pace all, epoch;
    std::int64_t builds_at_first_step = -1;  ///< of the device; -1: no step yet
  } run_;
};

}  // namespace morton::training
