// SPDX-License-Identifier: Apache-2.0
#include "training/loop/training_loop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"

namespace morton::training {
namespace {

/// "nan" whatever its sign.
std::string loss_text(double loss) { return std::isnan(loss) ? "nan" : exact_text(loss); }

std::optional<double> share(std::int64_t right, std::int64_t rows) {
  if (right < 0 || rows == 0) return std::nullopt;
  return static_cast<double>(right) / static_cast<double>(rows);
}

}  // namespace

TrainingLoop::TrainingLoop(Learner& learner, const Dataset& training, const Dataset* validation,
                           TrainingRunOptions options)
    : learner_(learner),
      options_(options_for(learner, std::move(options))),
      batches_(training, learner.input().shape, batch_options(options_, learner.ranks())),
      steps_(steps_of(options_, batches_.per_epoch())),
      schedule_(options_.schedule, {batches_.per_epoch(), steps_}),
      inputs_(Tensor::allocate(DType::f32, learner.input().shape)),
      targets_(Tensor::allocate(learner.target().dtype, learner.target().shape)) {
  check_run_options(options_);
  check_examples(options_, {batches_.batch_size(), learner_.accumulate(), {}}, training,
                 validation);
  require_labels_for(learner_, training);
  if (validation != nullptr) {
    require_labels_for(learner_, *validation);
    validation_.emplace(*validation, learner_.input().shape,
                        Normalization{options_.mean, options_.deviation});
  }
  if (!options_.folder.empty()) files_.store.emplace(options_.folder);
  settings_ = current_settings();
  report_.left_over = batches_.left_over();
}

TrainingReport TrainingLoop::run() {
  start();
  look_before_the_first_step();
  // What was built so far is no part of the steps' time.
  run_.begun = Stopwatch();
  report_.end = TrainingReport::End::finished;
  while (standing_.steps < steps_) {
    if (out_of_patience()) {
      report_.end = TrainingReport::End::patience;
      break;
    }
    if (learner_.ranks().any(options_.stop && options_.stop())) {
      report_.end = TrainingReport::End::stopped;
      break;
    }
    one_step();
  }
  if (files_.saved_step != standing_.steps) save();
  if (!files_.store) (void)finite_state();
  report_.best_step = standing_.best.step;
  if (standing_.best.step > 0) {
    report_.best_validation_loss = standing_.best.loss;
    report_.best_validation_accuracy = standing_.best.accuracy;
  }
  if (report_.end != TrainingReport::End::stopped) {
    say_unused_gradients();
    restore();
  }
  report_.steps = standing_.steps;
  report_.seconds = standing_.seconds;
  if (run_.builds_at_first_step >= 0) {
    report_.builds_after_first_step = learner_.program_builds() - run_.builds_at_first_step;
  }
  if (run_.all.seconds > 0.0) {
    report_.images_per_second = static_cast<double>(run_.all.rows) / run_.all.seconds;
  }
  return report_;
}

void TrainingLoop::look_before_the_first_step() {
  if (standing_.steps >= steps_) return;
  // What evaluation needs is built here, so that nothing is built between steps.
  if (!validation_) {
    if (options_.after_end != TrainingRunOptions::AfterEnd::evaluation) return;
    std::memset(inputs_.mutable_data(), 0, inputs_.bytes());
    std::memset(targets_.mutable_data(), 0, targets_.bytes());
    (void)learner_.evaluate(inputs_, targets_, inputs_.shape()[0]);
    return;
  }
  const BatchResult before = evaluate_all(learner_, *validation_, inputs_, targets_);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "before step %lld: validation loss %.4f",
                static_cast<long long>(standing_.steps + 1), before.loss);
  std::string line = text.data();
  if (const auto right = share(before.right, before.rows)) {
    std::snprintf(text.data(), text.size(), " (%.2f %%)", 100.0 * *right);
    line += text.data();
  }
  note(line);
}

void TrainingLoop::one_step() {
  const Stopwatch watch;
  const BatchPlace place = batches_.place();
  const double rate = options_.learning_rate * schedule_.factor(standing_.steps);
  batches_.next(inputs_, targets_);
  const BatchResult result = learner_.step(inputs_, targets_, rate);
  const double seconds = watch.seconds();
  if (run_.builds_at_first_step < 0) run_.builds_at_first_step = learner_.program_builds();
  if (!std::isfinite(result.loss)) fail_not_finite("the loss is " + loss_text(result.loss));
  count(result, seconds);
  const EpochSums epoch = standing_.epoch;
  LogRow row = row_of(result, place, rate, seconds);
  evaluate_if_due(row, place);
  standing_.seconds = run_.seconds_before + run_.begun.seconds();
  row.seconds = standing_.seconds;
  if (files_.log) files_.log->add(row);
  if (ends_epoch(place)) {
    end_epoch(row);
  } else if (validation_ && standing_.steps == steps_) {
    end_within_epoch(row);
  } else if (options_.checkpoint_every > 0 && standing_.steps % options_.checkpoint_every == 0) {
    save();
  }
  tell(row, epoch, place);
  if (ends_epoch(place)) run_.epoch = {};
}

void TrainingLoop::count(const BatchResult& result, double seconds) {
  ++standing_.steps;
  if (result.update == BatchResult::Update::overflowed) {
    ++report_.overflows;
    note("step " + std::to_string(standing_.steps) +
         ": gradients overflowed as halves; the update is left out and the loss scaled by half as "
         "much from here on");
  }
  EpochSums& sums = standing_.epoch;
  ++sums.batches;
  sums.rows += result.rows;
  sums.loss += result.loss;
  sums.right = result.right < 0 ? -1 : sums.right + result.right;
  report_.loss = sums.mean_loss();
  report_.accuracy = share(sums.right, sums.rows);
  run_.all.add(seconds, result.rows);
  run_.epoch.add(seconds, result.rows);
}

LogRow TrainingLoop::row_of(const BatchResult& result, const BatchPlace& place, double rate,
                            double seconds) const {
  LogRow row;
  row.step = standing_.steps;
  row.epoch = std::int64_t{place.epoch} + 1;
  row.loss = result.loss;
  row.accuracy = share(result.right, result.rows);
  row.learning_rate = rate;
  row.images_per_second = static_cast<double>(result.rows) / std::max(seconds, 1e-9);
  return row;
}

void TrainingLoop::evaluate(LogRow& row) {
  const BatchResult all = evaluate_all(learner_, *validation_, inputs_, targets_);
  row.validation_loss = all.loss;
  row.validation_accuracy = share(all.right, all.rows);
  report_.validation_loss = row.validation_loss;
  report_.validation_accuracy = row.validation_accuracy;
}

void TrainingLoop::evaluate_if_due(LogRow& row, const BatchPlace& place) {
  const bool last = standing_.steps == steps_;
  const bool tested = options_.test_every > 0 && standing_.steps % options_.test_every == 0;
  if (validation_ && (ends_epoch(place) || last || tested)) evaluate(row);
}

void TrainingLoop::end_epoch(const LogRow& row) {
  schedule_.observe(row.validation_loss.value_or(standing_.epoch.mean_loss()));
  if (row.validation_loss) keep_best(row);
  standing_.epoch = {};
  save();
  // In this order, so that a kill in between leaves a checkpoint that is the best itself.
  if (options_.patience > 0 && standing_.best.step == standing_.steps) save_best();
}

void TrainingLoop::end_within_epoch(const LogRow& row) {
  BestLoss& best = standing_.best;
  // Patience counts epochs, so a loss that is no better is none of them.
  if (*row.validation_loss < best.loss) {
    best = {*row.validation_loss, row.validation_accuracy, standing_.steps, 0};
  }
  save();
  if (options_.patience > 0 && best.step == standing_.steps) save_best();
}

void TrainingLoop::keep_best(const LogRow& row) {
  const double loss = *row.validation_loss;
  if (loss >= standing_.best.loss || std::isnan(loss)) {
    ++standing_.best.waited;
    return;
  }
  standing_.best = {loss, row.validation_accuracy, standing_.steps, 0};
}

bool TrainingLoop::out_of_patience() const {
  return options_.patience > 0 && standing_.best.waited >= options_.patience;
}

void TrainingLoop::tell(const LogRow& row, const EpochSums& epoch, const BatchPlace& place) {
  if (!options_.progress) return;
  TrainingProgress progress;
  progress.step = standing_.steps;
  progress.steps = steps_;
  progress.epoch = row.epoch;
  progress.epochs = ceil_div(steps_, batches_.per_epoch());
  progress.batch = place.batch + 1;
  progress.batches = batches_.per_epoch();
  progress.loss = epoch.mean_loss();
  progress.accuracy = share(epoch.right, epoch.rows);
  progress.learning_rate = *row.learning_rate;
  progress.validation_loss = row.validation_loss;
  progress.validation_accuracy = row.validation_accuracy;
  progress.images_per_second =
      static_cast<double>(run_.epoch.rows) / std::max(run_.epoch.seconds, 1e-9);
  const std::int64_t done = standing_.steps - report_.resumed_from;
  progress.seconds_left = run_.begun.seconds() / static_cast<double>(done) *
                          static_cast<double>(steps_ - standing_.steps);
  options_.progress(progress);
}

void TrainingLoop::note(const std::string& text) const {
  if (options_.log) options_.log(text);
}

void TrainingLoop::say_unused_gradients() const {
  const std::int64_t unused = standing_.steps % learner_.accumulate();
  if (unused == 0 || standing_.steps == report_.resumed_from) return;
  note("the gradients of the last " + std::to_string(unused) + (unused == 1 ? " step" : " steps") +
       " are not used: an update takes those of " + std::to_string(learner_.accumulate()));
}

void TrainingLoop::fail_not_finite(const std::string& what) const {
  std::string kept = "; no checkpoint was written";
  if (may_lose_an_earlier_training()) {
    kept += ", and what an earlier training left in " + options_.folder + " is still there";
  }
  if (files_.saved_step >= 0) {
    kept = "; the last good checkpoint, of step " + std::to_string(files_.saved_step) +
           ", is kept in " + options_.folder;
  }
  const std::string where = "training: step " + std::to_string(standing_.steps + 1) + ": " + what;
  if (standing_.steps == 0) {
    throw ModelError(where + " before anything was learned: expected finite numbers. Look at " +
                     "the model's weights and at the examples' values, which a mean and a " +
                     "deviation bring near 0" + kept);
  }
  throw ModelError(where + ", and what was learned is spoilt: expected finite numbers. A lower " +
                   "learning rate, a warm-up or clipped gradients help most often" + kept);
}

}  // namespace morton::training
