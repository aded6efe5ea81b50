// SPDX-License-Identifier: Apache-2.0
//
// What a training loop keeps on disk: how it starts, goes on, saves and takes the best back.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "training/training_loop.hpp"

namespace morton {
namespace {

constexpr const char* kModelFile = "model.onnx";
constexpr const char* kBestFile = "best.safetensors";

/// The first tensor that holds a number that is not finite, or nothing.
const NamedTensor* not_finite(const std::vector<NamedTensor>& tensors) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [](const NamedTensor& named) {
    if (named.tensor.dtype() != DType::f32) return false;
    const auto values = named.tensor.as<float>();
    return !std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace

void check_folder(const TrainingRunOptions& options) {
  using Start = TrainingRunOptions::Start;
  const std::filesystem::path folder = options.folder;
  const CheckpointStore store(folder);
  const bool has_checkpoint =
      std::filesystem::exists(store.newest()) || std::filesystem::exists(store.previous());
  if (options.start == Start::anew || (options.start == Start::resume && has_checkpoint)) return;
  if (has_checkpoint) {
    throw UsageError(options.folder +
                     ": holds the checkpoint of an earlier training; resume it, start anew over "
                     "it, or take another folder");
  }
  std::vector<std::string> names{kModelFile, kBestFile};
  // A training that was killed before its first checkpoint has left logs; it may be resumed.
  if (options.start == Start::in_empty_folder) names.insert(names.end(), {"log.csv", "log.jsonl"});
  for (const std::string& name : names) {
    if (!std::filesystem::exists(folder / name)) continue;
    throw UsageError((folder / name).string() +
                     ": is there already, without a checkpoint, and a training would write over "
                     "it; start anew over it, or take another folder");
  }
}

std::filesystem::path TrainingLoop::best_path() const {
  return std::filesystem::path(options_.folder) / kBestFile;
}

void TrainingLoop::start() {
  using Start = TrainingRunOptions::Start;
  if (store_) {
    lock_.emplace(options_.folder);
    // Once more, now that no other training changes what is there.
    check_folder(options_);
    if (options_.start == Start::anew) store_->begin_anew();
    if (options_.start == Start::resume) {
      const std::optional<FoundCheckpoint> found = store_->read();
      if (found) resume(*found);
      if (!found) note(options_.folder + ": holds no checkpoint yet; the training begins");
    }
    log_.emplace(options_.folder, standing_.steps);
    if (standing_.steps == 0) log_->add_graph(learner_.graph());
  }
  begun_ = Clock::now();
  seconds_before_ = standing_.seconds;
}

void TrainingLoop::resume(const FoundCheckpoint& found) {
  const Checkpoint& checkpoint = found.checkpoint;
  if (!found.damage.empty()) note(found.damage + "; going on from " + checkpoint.where);
  require_same_settings(checkpoint);
  if (checkpoint.text("plan") != learner_.plan_digest()) {
    note(checkpoint.where +
         ": was written by another plan (another device, driver or version of "
         "Morton): from here on losses may differ in their last digits");
  }
  learner_.set_state(checkpoint.tensors);
  standing_.steps = checkpoint.integer("steps");
  standing_.seconds = checkpoint.real("seconds");
  standing_.epoch = {checkpoint.integer("epoch.batches"), checkpoint.integer("epoch.rows"),
                     checkpoint.integer("epoch.right"), checkpoint.real("epoch.loss")};
  standing_.best = {checkpoint.real("best.loss"), std::nullopt, checkpoint.integer("best.step"),
                    checkpoint.integer("best.waited")};
  if (checkpoint.facts.contains("best.accuracy")) {
    standing_.best.accuracy = checkpoint.real("best.accuracy");
  }
  const std::uint64_t epoch = checkpoint.natural("epoch");
  if (epoch > std::numeric_limits<std::uint32_t>::max()) {
    throw ModelError(checkpoint.where + ": epoch " + std::to_string(epoch) + " is none");
  }
  batches_.move_to({static_cast<std::uint32_t>(epoch), checkpoint.integer("batch")});
  schedule_.restore({checkpoint.real("schedule.best"), checkpoint.integer("schedule.waited"),
                     checkpoint.integer("schedule.reductions")});
  if (options_.patience > 0 && standing_.best.step > 0) find_best(checkpoint);
  saved_step_ = standing_.steps;
  report_.resumed_from = standing_.steps;
  if (standing_.steps >= steps_) {
    note("all " + std::to_string(standing_.steps) +
         " steps are done; more epochs go on from there");
  }
}

void TrainingLoop::find_best(const Checkpoint& checkpoint) {
  BestLoss& best = standing_.best;
  if (best.step == standing_.steps) {
    best_state_ = checkpoint.tensors;
    save_best();
    return;
  }
  std::string why;
  try {
    Checkpoint kept = read_checkpoint(best_path());
    if (kept.integer("steps") == best.step) {
      best_state_ = std::move(kept.tensors);
      return;
    }
    why = kept.where + ": is of step " + kept.text("steps");
  } catch (const Error& error) {
    why = error.what();
  }
  note("the parameters of step " + std::to_string(best.step) +
       ", whose loss on the validation data was the lowest, are not kept (" + why +
       "); the best ones are sought anew from step " + std::to_string(standing_.steps) + " on");
  best = {};
}

Checkpoint TrainingLoop::present() const {
  Checkpoint checkpoint;
  for (const auto& [name, value] : settings_) checkpoint.put(kSettingFact + name, value);
  std::string names;
  for (const std::string& name : learner_.parameters()) names += name + "\n";
  checkpoint.put(kParametersFact, names);
  checkpoint.put("steps", standing_.steps);
  return checkpoint;
}

void TrainingLoop::save_best() {
  if (!store_) return;
  Checkpoint checkpoint = present();
  checkpoint.tensors = best_state_;
  write_checkpoint(best_path(), checkpoint);
}

void TrainingLoop::remove_old_best() const {
  std::error_code status;
  std::filesystem::remove(best_path(), status);
  if (status) throw UsageError(best_path().string() + ": cannot remove: " + status.message());
}

void TrainingLoop::save() {
  const BestLoss& best = standing_.best;
  const bool is_best = options_.patience > 0 && best.step > 0 && best.step == standing_.steps;
  if (!store_ && !is_best) return;
  Checkpoint checkpoint = present();
  checkpoint.tensors = learner_.state();
  if (is_best) best_state_ = checkpoint.tensors;
  if (!store_) return;
  const NamedTensor* spoilt = not_finite(checkpoint.tensors);
  if (spoilt != nullptr) fail_not_finite(spoilt->name + " is not finite after the step before");
  checkpoint.put("plan", learner_.plan_digest());
  checkpoint.put("seconds", standing_.seconds);
  checkpoint.put("epoch", std::uint64_t{batches_.place().epoch});
  checkpoint.put("batch", batches_.place().batch);
  checkpoint.put("epoch.batches", standing_.epoch.batches);
  checkpoint.put("epoch.rows", standing_.epoch.rows);
  checkpoint.put("epoch.right", standing_.epoch.right);
  checkpoint.put("epoch.loss", standing_.epoch.loss);
  checkpoint.put("best.loss", standing_.best.loss);
  if (standing_.best.accuracy) checkpoint.put("best.accuracy", *standing_.best.accuracy);
  checkpoint.put("best.step", standing_.best.step);
  checkpoint.put("best.waited", standing_.best.waited);
  const ScheduleState& schedule = schedule_.state();
  checkpoint.put("schedule.best", schedule.best);
  checkpoint.put("schedule.waited", schedule.waited);
  checkpoint.put("schedule.reductions", schedule.reductions);
  if (saved_step_ < 0 && options_.start == TrainingRunOptions::Start::anew) remove_old_best();
  store_->write(checkpoint);
  saved_step_ = standing_.steps;
  if (!log_) return;
  for (const std::string& name : learner_.trained()) {
    const auto named = std::find_if(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                                    [&](const NamedTensor& t) { return t.name == name; });
    if (named != checkpoint.tensors.end() && named->tensor.dtype() == DType::f32) {
      log_->add_histogram(standing_.steps, name, named->tensor);
    }
  }
}

void TrainingLoop::restore(const BestLoss& best) {
  if (best_state_.empty()) return;
  report_.validation_loss = best.loss;
  report_.validation_accuracy = best.accuracy;
  if (best.step == standing_.steps) return;
  learner_.set_state(best_state_);
  note("the parameters are those of step " + std::to_string(best.step) +
       ", whose loss on the validation data was the lowest");
}

}  // namespace morton
