// SPDX-License-Identifier: Apache-2.0
#include "api/training/trainer_options.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/text/number_text.hpp"
#include "training/loop/step_progress.hpp"

namespace morton::api {
namespace {

/// Throws UsageError unless `value` is a number from 0 on below `below`.
void require_range(const char* what, double value, double below) {
  if (value >= 0.0 && value < below) return;
  throw UsageError(setting(what) + ": expected a number of 0 or more" +
                   (std::isinf(below) ? "" : ", and below " + exact_text(below)) + ", got " +
                   exact_text(value));
}

}  // namespace

void check_trainer_options(const TrainerOptions& options) {
  if (options.batch < 1) throw UsageError("train: a batch has at least one example");
  if (options.ranks.communicator && options.ranks.communicator->size() > 1 &&
      options.accumulate > 1) {
    throw UsageError("train: " + setting("accumulate") +
                     ": ranks add up the gradients of one step; leave it out, and let each rank " +
                     "have fewer rows where memory is short");
  }
  (void)StepProgress(options, options.compile.precision.operands == DType::f16);
  const OptimizerOptions& optimizer = options.optimizer;
  require_range("momentum", optimizer.momentum, 1.0);
  using Kind = OptimizerOptions::Kind;
  if (optimizer.momentum != 0.0 && optimizer.kind != Kind::sgd && optimizer.kind != Kind::rmsprop) {
    throw UsageError("train: momentum belongs to sgd and rmsprop; adam and adamw have beta1");
  }
  if (optimizer.form == OptimizerOptions::Momentum::nesterov &&
      (optimizer.kind != Kind::sgd || optimizer.momentum == 0.0)) {
    throw UsageError("train: Nesterov's form takes sgd with a momentum");
  }
  require_range("beta1", optimizer.beta1, 1.0);
  require_range("beta2", optimizer.beta2, 1.0);
  require_range("decay", optimizer.decay, 1.0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  require_range("weight_decay", optimizer.weight_decay, kInfinity);
  // Where a gradient has always been 0, what is divided by is epsilon alone, as f32.
  const auto epsilon = static_cast<float>(optimizer.epsilon);
  if (!(epsilon > 0.0F && std::isfinite(epsilon))) {
    throw UsageError("epsilon: expected a number above 0 that f32 can hold, got " +
                     exact_text(optimizer.epsilon));
  }
  if (options.clip_norm && !(*options.clip_norm > 0.0)) {
    throw UsageError(setting("clip_norm") + ": expected a length above 0, got " +
                     exact_text(*options.clip_norm));
  }
}

TrainingStepOptions training_step_options(const TrainerOptions& options, const Ranks& ranks) {
  TrainingStepOptions step;
  step.batch = ranks.share().count;
  if (ranks.are_several()) {
    step.examples = options.batch;
    step.update = TrainingStepOptions::Update::apart;
  }
  step.shapes = options.compile.shapes;
  for (auto& [input, shape] : step.shapes) {
    // A model may have its batch last.
    if (shape.empty()) continue;
    std::int64_t& extent = shape.front() == options.batch ? shape.front() : shape.back();
    if (extent == options.batch) extent = step.batch;
  }
  step.loss = options.loss;
  const bool labels = options.loss == Loss::softmax_cross_entropy &&
                      options.targets == TrainerOptions::Targets::labels;
  step.targets = labels ? TargetKind::labels : TargetKind::values;
  step.optimizer = options.optimizer;
  step.clip_norm = options.clip_norm;
  step.freeze = options.freeze;
  step.accumulate = options.accumulate;
  if (options.activations == TrainerOptions::Activations::recompute) {
    step.activations = TrainingStepOptions::Activations::recompute;
  }
  // Of the precisions only f16 has a smaller range than f32.
  if (options.compile.precision.operands == DType::f16) {
    step.loss_scale = TrainingStepOptions::LossScale::given;
  }
  return step;
}

CompileOptions step_compile_options(const TrainerOptions& options) {
  if (options.compile.precision.sums != DType::f32) {
    throw UsageError("train: sums stay in f32; leave out " + setting("sums"));
  }
  CompileOptions compile = options.compile;
  compile.batch = 0;
  compile.shapes.clear();
  compile.also.clear();
  compile.other_shapes = CompileOptions::OtherShapes::leave;
  // A session with another one's memory keeps its plan.
  if (options.ranks.communicator || options.accumulate > 1)
    compile.start = CompileOptions::Start::ready;
  return compile;
}

}  // namespace morton::api
