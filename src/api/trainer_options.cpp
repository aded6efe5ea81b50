// SPDX-License-Identifier: Apache-2.0
#include "api/trainer_options.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "training/step_progress.hpp"

namespace morton {
namespace {

void require_range(const char* what, double value, double least, double below) {
  if (value >= least && value < below) return;
  throw UsageError("train: " + std::string(what) + " is " + std::to_string(value) +
                   ", expected a number from " + std::to_string(least) + " to below " +
                   std::to_string(below));
}

}  // namespace

void check_trainer_options(const TrainerOptions& options) {
  if (options.batch < 1) throw UsageError("train: a batch has at least one example");
  (void)StepProgress(options, options.compile.precision == DType::f16);
  const OptimizerOptions& optimizer = options.optimizer;
  require_range("the momentum", optimizer.momentum, 0.0, 1.0);
  using Kind = OptimizerOptions::Kind;
  if (optimizer.momentum != 0.0 && optimizer.kind != Kind::sgd && optimizer.kind != Kind::rmsprop) {
    throw UsageError("train: momentum belongs to sgd and rmsprop; adam and adamw have beta1");
  }
  if (optimizer.form == OptimizerOptions::Momentum::nesterov &&
      (optimizer.kind != Kind::sgd || optimizer.momentum == 0.0)) {
    throw UsageError("train: Nesterov's form takes sgd with a momentum");
  }
  require_range("beta1", optimizer.beta1, 0.0, 1.0);
  require_range("beta2", optimizer.beta2, 0.0, 1.0);
  require_range("the decay", optimizer.decay, 0.0, 1.0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  require_range("the weight decay", optimizer.weight_decay, 0.0, kInfinity);
  // Where a gradient has always been 0, what is divided by is epsilon alone, as f32.
  const auto epsilon = static_cast<float>(optimizer.epsilon);
  if (!(epsilon > 0.0F && std::isfinite(epsilon))) {
    throw UsageError("train: epsilon is " + exact_text(optimizer.epsilon) +
                     ", expected a number above 0 that f32 can hold");
  }
  if (options.clip_norm && !(*options.clip_norm > 0.0)) {
    throw UsageError("train: gradients cannot be clipped to a length of " +
                     std::to_string(*options.clip_norm));
  }
}

TrainingStepOptions training_step_options(const TrainerOptions& options) {
  TrainingStepOptions step;
  step.batch = options.batch;
  step.shapes = options.compile.shapes;
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
  if (options.compile.precision == DType::f16) {
    step.loss_scale = TrainingStepOptions::LossScale::given;
  }
  return step;
}

CompileOptions step_compile_options(const TrainerOptions& options) {
  CompileOptions compile = options.compile;
  compile.batch = 0;
  compile.shapes.clear();
  compile.also.clear();
  compile.other_shapes = CompileOptions::OtherShapes::leave;
  return compile;
}

}  // namespace morton
