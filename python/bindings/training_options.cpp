// SPDX-License-Identifier: Apache-2.0
#include "training_options.hpp"

#include "taking.hpp"

namespace morton::python {

TrainerOptions trainer_options(py::dict given) {
  TrainerOptions options;
  take(given, "batch", options.batch);
  take(given, "accumulate", options.accumulate);
  take(given, "freeze", options.freeze);
  take(given, "seed", options.seed);
  take(given, "loss_scale", options.loss_scale);
  if (given.contains("clip_norm")) {
    double norm = 0.0;
    take(given, "clip_norm", norm);
    options.clip_norm = norm;
  }
  using Targets = TrainerOptions::Targets;
  take_word<Targets>(given, "targets", options.targets,
                     {{"labels", Targets::labels}, {"shares", Targets::shares}});
  using Activations = TrainerOptions::Activations;
  take_word<Activations>(given, "activations", options.activations,
                         {{"keep", Activations::keep}, {"recompute", Activations::recompute}});
  take_word<Loss>(given, "loss", options.loss,
                  {{"softmax_cross_entropy", Loss::softmax_cross_entropy},
                   {"binary_cross_entropy", Loss::binary_cross_entropy},
                   {"mean_squared_error", Loss::mean_squared_error},
                   {"mean_absolute_error", Loss::mean_absolute_error}});
  using Kind = OptimizerOptions::Kind;
  take_word<Kind>(given, "optimizer", options.optimizer.kind,
                  {{"sgd", Kind::sgd},
                   {"adam", Kind::adam},
                   {"adamw", Kind::adamw},
                   {"rmsprop", Kind::rmsprop}});
  take(given, "momentum", options.optimizer.momentum);
  take(given, "beta1", options.optimizer.beta1);
  take(given, "beta2", options.optimizer.beta2);
  take(given, "epsilon", options.optimizer.epsilon);
  take(given, "weight_decay", options.optimizer.weight_decay);
  std::vector<py::array> kept;
  options.compile = compile_options(given, kept);
  return options;
}

TrainingRunOptions run_options(py::dict given) {
  TrainingRunOptions options;
  take(given, "epochs", options.epochs);
  take(given, "steps", options.steps);
  take(given, "learning_rate", options.learning_rate);
  take(given, "schedule", options.schedule);
  take(given, "augmentation", options.augmentation);
  take(given, "mean", options.mean);
  take(given, "deviation", options.deviation);
  take(given, "seed", options.seed);
  take(given, "patience", options.patience);
  take(given, "test_every", options.test_every);
  take(given, "folder", options.folder);
  take(given, "checkpoint_every", options.checkpoint_every);
  using Start = TrainingRunOptions::Start;
  take_word<Start>(given, "start", options.start,
                   {{"in_empty_folder", Start::in_empty_folder},
                    {"resume", Start::resume},
                    {"anew", Start::anew}});
  require_taken(given, "a training");
  return options;
}

TrainingRunOptions evaluation_options(py::dict given) {
  TrainingRunOptions options;
  take(given, "mean", options.mean);
  take(given, "deviation", options.deviation);
  require_taken(given, "an evaluation");
  return options;
}

}  // namespace morton::python
