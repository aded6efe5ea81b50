// SPDX-License-Identifier: Apache-2.0
#include "training_options.hpp"

#include <memory>

#include "taking.hpp"

namespace morton::python {

namespace {

/// Ends all ranks where an exception ends one: the others would wait for it.
void end_ranks_on_error(const std::shared_ptr<Communicator>& communicator) {
  const auto abort = [communicator] { communicator->abort(1); };
  py::module_::import("morton._training").attr("_end_ranks_on_error")(py::cpp_function(abort));
}

RankOptions rank_options(py::dict& given) {
  RankOptions options;
  enum class Ranks : std::uint8_t { one, mpi } ranks = Ranks::one;
  take_word<Ranks>(given, "ranks", ranks, {{"one", Ranks::one}, {"mpi", Ranks::mpi}});
  take(given, "shares", options.shares);
  using Sum = RankOptions::Sum;
  take_word<Sum>(given, "sum", options.sum, {{"ordered", Sum::ordered}, {"fast", Sum::fast}});
  using Wire = RankOptions::Wire;
  take_word<Wire>(given, "wire", options.wire, {{"f32", Wire::f32}, {"f16", Wire::f16}});
  if (ranks == Ranks::one) return options;
  // MPI ends with the process, not with the first trainer.
  static const std::shared_ptr<Communicator> communicator = [] {
    const std::shared_ptr<Communicator> made = mpi_communicator();
    end_ranks_on_error(made);
    return made;
  }();
  options.communicator = communicator;
  return options;
}

}  // namespace

TrainerOptions trainer_options(py::dict given) {
  TrainerOptions options;
  options.ranks = rank_options(given);
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
