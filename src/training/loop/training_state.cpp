// SPDX-License-Identifier: Apache-2.0
//
// What a training loop keeps on disk: how it starts, goes on, saves and takes the best back.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "training/loop/first_rank.hpp"
#include "training/loop/training_folder.hpp"
#include "training/loop/training_loop.hpp"

namespace morton::training {
namespace {

/// Of a checkpoint: the epochs of patience, with which the best parameters are kept.
constexpr const char* kPatienceFact = "patience";

/// The first tensor that holds a number that is not finite, or nothing.
const NamedTensor* not_finite(const std::vector<NamedTensor>& tensors) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [](const NamedTensor& named) {
    if (named.tensor.dtype() != DType::f32) return false;
    const auto values = named.tensor.as<float>();
    return !std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  });
  return found == tensors.end() ? nullptr : &*found;
}

/// The name of the first constant that holds a nan, or "". Infinities can be meant, as in a mask.
std::string constant_with_nan(const Graph& graph) {
  const auto found = std::ranges::find_if(graph.tensors, [](const GraphTensor& tensor) {
    if (tensor.kind != GraphTensor::Kind::constant || tensor.data.dtype() != DType::f32) {
      return false;
    }
    return std::ranges::any_of(tensor.data.as<float>(), [](float v) { return std::isnan(v); });
  });
  return found == graph.tensors.end() ? "" : found->name;
}

/// Whether its training had patience; older checkpoints do not say it.
bool kept_its_best(const Checkpoint& checkpoint) {
  return checkpoint.facts.contains(kPatienceFact) && checkpoint.integer(kPatienceFact) > 0;
}

}  // namespace

std::filesystem::path TrainingLoop::best_path() const {
  return std::filesystem::path(options_.folder) / kBestFile;
}

void TrainingLoop::start() {
  using Start = TrainingRunOptions::Start;
  require_alike(learner_.ranks(), settings_, learner_);
  std::optional<FoundCheckpoint> found;
  if (files_.store) {
    files_.lock.emplace(options_.folder);
    // Once more, now that no other training changes what is there.
    check_folder(options_);
    remove_unfinished_files(options_.folder);
    if (options_.start == Start::anew) files_.store->begin_anew();
    if (options_.start == Start::resume) {
      found = files_.store->read();
      if (!found) note(options_.folder + ": holds no checkpoint yet; the training begins");
    }
  }
  found = from_first_rank(learner_.ranks(), std::move(found));
  if (found) resume(*found);
  if (files_.saved_step < 0) require_finite_start();
  if (files_.store) {
    if (files_.saved_step >= 0) {
      for (const std::string& text : set_damaged_logs_aside(options_.folder, files_.saved_step)) {
        note(text);
      }
    }
    const bool holds = may_lose_an_earlier_training();
    files_.log.emplace(options_.folder, standing_.steps,
                       holds ? TrainingLog::Rows::held : TrainingLog::Rows::written);
  }
  run_.seconds_before = standing_.seconds;
}

bool TrainingLoop::may_lose_an_earlier_training() const {
  return options_.start == TrainingRunOptions::Start::anew && files_.saved_step < 0 &&
         files_.store && has_checkpoint(*files_.store);
}

void TrainingLoop::require_finite_start() {
  const std::vector<NamedTensor> state = learner_.state();
  const NamedTensor* spoilt = not_finite(state);
  const std::string name = spoilt != nullptr ? spoilt->name : constant_with_nan(learner_.graph());
  if (name.empty()) return;
  throw ModelError("training: the model's '" + name +
                   "' has numbers that are not finite, so nothing can be learned from there: " +
                   "expected finite numbers; take a model without them");
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
  files_.saved_step = standing_.steps;
  report_.resumed_from = standing_.steps;
  look_for_lost_best(checkpoint);
  if (standing_.steps >= steps_) {
    note("all " + std::to_string(standing_.steps) +
         " steps are done; more epochs go on from there");
  }
}

void TrainingLoop::look_for_lost_best(const Checkpoint& checkpoint) const {
  if (!kept_its_best(checkpoint) || options_.patience > 0) return;
  const std::int64_t best = standing_.best.step;
  if (best == 0 || best == standing_.steps) return;
  const std::string what = checkpoint.where +
                           ": the training had patience and kept the parameters of step " +
                           std::to_string(best) + ", the best";
  if (standing_.steps >= steps_) {
    throw UsageError(
        what + ", and without it those of step " + std::to_string(standing_.steps) +
        ", the last, would take their place; no step is left to do: ask for patience " +
        "again, or for more epochs");
  }
  note(what + "; without patience the last ones are kept from here on");
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
    Checkpoint kept = read_on_first_rank(learner_.ranks(), best_path());
    if (kept.integer("steps") == best.step) {
      best_state_ = std::move(kept.tensors);
      return;
    }
    why = kept.where + ": is of step " + kept.text("steps");
  } catch (const DeviceError&) {
    throw;  // of what joins the ranks
  } catch (const Error& error) {
    why = error.what();
  }
  const std::string lost = "the parameters of step " + std::to_string(best.step) +
                           ", whose loss on the validation data was the lowest, are not kept (" +
                           why + ")";
  if (standing_.steps >= steps_ && kept_its_best(checkpoint)) {
    throw UsageError(lost + ", and those of step " + std::to_string(standing_.steps) +
                     ", the last, do not take their place: no step is left in which better ones " +
                     "can be found; ask for more epochs");
  }
  note(lost + "; the best ones are sought anew from step " + std::to_string(standing_.steps) +
       " on");
  best = {};
}

Checkpoint TrainingLoop::present() const {
  Checkpoint checkpoint;
  for (const auto& [name, value] : settings_) checkpoint.put(kSettingFact + name, value);
  checkpoint.put(kParametersFact, learner_.parameters());
  checkpoint.put("steps", standing_.steps);
  return checkpoint;
}

std::vector<NamedTensor> TrainingLoop::finite_state() {
  std::vector<NamedTensor> state = learner_.state();
  const NamedTensor* spoilt = not_finite(state);
  if (spoilt != nullptr) fail_not_finite(spoilt->name + " is not finite after the step before");
  return state;
}

void TrainingLoop::save_best() {
  if (!files_.store) return;
  Checkpoint checkpoint = present();
  checkpoint.tensors = best_state_;
  write_checkpoint(best_path(), checkpoint);
}

void TrainingLoop::replace_earlier_training() {
  if (files_.log) {
    files_.log->write_held();
    files_.log->add_graph(learner_.graph());
  }
  if (options_.start != TrainingRunOptions::Start::anew) return;
  std::error_code status;
  std::filesystem::remove(best_path(), status);
  if (status) throw UsageError(best_path().string() + ": cannot remove: " + status.message());
}

void TrainingLoop::save() {
  const BestLoss& best = standing_.best;
  const bool is_best = options_.patience > 0 && best.step > 0 && best.step == standing_.steps;
  if (!files_.store && !is_best) return;
  Checkpoint checkpoint = present();
  checkpoint.tensors = finite_state();
  if (is_best) best_state_ = checkpoint.tensors;
  if (!files_.store) return;
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
  checkpoint.put(kPatienceFact, options_.patience);
  files_.store->write(checkpoint);
  const bool is_first = files_.saved_step < 0;
  files_.saved_step = standing_.steps;
  if (is_first) replace_earlier_training();
  log_histograms(checkpoint.tensors);
}

void TrainingLoop::log_histograms(const std::vector<NamedTensor>& state) {
  if (!files_.log) return;
  for (const std::string& name : learner_.trained()) {
    const auto named = std::ranges::find(state, name, &NamedTensor::name);
    if (named != state.end() && named->tensor.dtype() == DType::f32) {
      files_.log->add_histogram(standing_.steps, name, named->tensor);
    }
  }
}

void TrainingLoop::restore() {
  const BestLoss& best = standing_.best;
  if (best_state_.empty()) return;
  report_.validation_loss = best.loss;
  report_.validation_accuracy = best.accuracy;
  if (best.step == standing_.steps) return;
  learner_.set_state(best_state_);
  note("the parameters are those of step " + std::to_string(best.step) +
       ", whose loss on the validation data was the lowest");
}

}  // namespace morton::training
