// SPDX-License-Identifier: Apache-2.0
#include "train/train_options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

using Kind = OptimizerOptions::Kind;

template <typename Enum>
using Names = std::vector<std::pair<std::string, Enum>>;

void add_optimizer(CLI::App& command, TrainOptions& options) {
  const Names<Kind> kinds{
      {"sgd", Kind::sgd}, {"adam", Kind::adam}, {"adamw", Kind::adamw}, {"rmsprop", Kind::rmsprop}};
  const Names<Loss> losses{{"softmax-cross-entropy", Loss::softmax_cross_entropy},
                           {"binary-cross-entropy", Loss::binary_cross_entropy},
                           {"mse", Loss::mean_squared_error},
                           {"l1", Loss::mean_absolute_error}};
  OptimizerOptions& optimizer = options.trainer.optimizer;
  command.add_option("--optimizer", optimizer.kind, "sgd, adam, adamw or rmsprop (adam)")
      ->option_text("NAME")
      ->transform(one_of(numbered(kinds)));
  command.add_option("--lr", options.run.learning_rate, "Learning rate (0.001)")->option_text("X");
  command
      .add_option("--schedule", options.run.schedule,
                  "Learning rate over time: constant, step:every=10,factor=0.1, cosine:warmup=500, "
                  "plateau:patience=3,factor=0.5 (constant)")
      ->option_text("TEXT")
      ->check(offers({"constant", "step:every=", "cosine:warmup=", "plateau:patience="}));
  command.add_option("--momentum", optimizer.momentum, "Momentum of sgd and rmsprop (0)")
      ->option_text("X");
  command.add_flag("--nesterov", options.nesterov, "Use Nesterov's momentum with sgd");
  command
      .add_option("--weight-decay", optimizer.weight_decay, "Decay of weights, not of biases (0)")
      ->option_text("X");
  command
      .add_option("--clip", options.trainer.clip_norm,
                  "Scale all gradients together down to this length")
      ->option_text("X");
  command
      .add_option("--loss", options.trainer.loss,
                  "softmax-cross-entropy, binary-cross-entropy, mse or l1 (softmax-cross-entropy)")
      ->option_text("NAME")
      ->transform(one_of(numbered(losses)));
  command
      .add_option("--classes", options.classes,
                  "Give the last layer so many outputs, with new weights; all other weights stay")
      ->option_text("N")
      ->check(whole_number(1));
  command
      .add_option("--freeze", options.trainer.freeze,
                  "Parameters to leave as they are: names with * and ?; repeatable")
      ->option_text("PATTERN,...")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void add_course(CLI::App& command, TrainOptions& options) {
  command
      .add_option("-b,--batch", options.batch,
                  "Examples of a step (100, or the file's fixed batch)")
      ->option_text("N")
      ->check(whole_number(1));
  command
      .add_option("--accumulate", options.trainer.accumulate,
                  "Update the parameters after every so many steps, by their mean gradient (1)")
      ->option_text("STEPS")
      ->check(whole_number(1));
  command.add_flag("--recompute", options.recompute,
                   "Compute results of elementwise operators again for the backward pass: less "
                   "memory, the same values");
  using Launches = CompileOptions::Launches;
  const Names<Launches> launches{{"joined", Launches::joined}, {"apart", Launches::apart}};
  command
      .add_option("--launches", options.launches,
                  "joined: small independent kernels share one launch; apart: each kernel has its "
                  "own (joined)")
      ->option_text("joined|apart")
      ->transform(one_of(numbered(launches)));
  command.add_option("--epochs", options.run.epochs, "Passes over the training examples (10)")
      ->option_text("N")
      ->check(whole_number(1));
  command.add_option("--steps", options.run.steps, "End after so many steps, instead of --epochs")
      ->option_text("N")
      ->check(whole_number(1))
      ->excludes("--epochs");
  command
      .add_option("--seed", options.run.seed,
                  "Seed of a new network's weights, the order, augmentation and dropout (1)")
      ->option_text("N")
      ->check(whole_number(0));
  command
      .add_option(
          "--augment", options.run.augmentation,
          "Random changes of pictures: any of shift=2,flip,crop=4,rotate=15,scale=10 (none)")
      ->option_text("TEXT");
  command
      .add_option("--validation", options.validation,
                  "Share of the training examples to hold back for validation after each epoch "
                  "(default: the test part, if there is one)")
      ->option_text("SHARE");
  command
      .add_option("--patience", options.run.patience,
                  "End after so many epochs without a lower validation loss, and restore the best "
                  "parameters")
      ->option_text("EPOCHS")
      ->check(whole_number(1));
  command
      .add_option("--test-every", options.run.test_every, "Validate after every so many steps too")
      ->option_text("STEPS")
      ->check(whole_number(1));
}

void add_ranks(CLI::App& command, TrainOptions& options) {
  using Ranks = TrainOptions::Ranks;
  RankOptions& ranks = options.trainer.ranks;
  command
      .add_option(
          "--ranks", options.ranks,
          "mpi: train with all processes of an MPI job; one: alone (mpi where mpirun starts "
          "Morton, else one)")
      ->option_text("mpi|one")
      ->transform(one_of(numbered(Names<Ranks>{{"mpi", Ranks::mpi}, {"one", Ranks::one}})));
  command
      .add_option("--shares", ranks.shares,
                  "Rows of a batch for each rank, as weights: 2,1 gives the first twice as many "
                  "(all alike)")
      ->option_text("X,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  using Sum = RankOptions::Sum;
  command
      .add_option("--sum", ranks.sum,
                  "How gradients of ranks are added. ordered: rank after rank, always the same "
                  "bits; fast: as MPI likes (ordered)")
      ->option_text("ordered|fast")
      ->transform(one_of(numbered(Names<Sum>{{"ordered", Sum::ordered}, {"fast", Sum::fast}})));
  using Wire = RankOptions::Wire;
  command.add_option("--wire", ranks.wire, "What gradients are on their way between ranks (f32)")
      ->option_text("f32|f16")
      ->transform(one_of(numbered(Names<Wire>{{"f32", Wire::f32}, {"f16", Wire::f16}})));
}

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& options) {
  options.trainer.optimizer.kind = Kind::adam;
  command
      .add_option("model", options.model.path,
                  "ONNX file, network definition (.json), or the name of an architecture of "
                  "`morton new`")
      ->option_text("MODEL")
      ->required();
  add_options(command, options.model.loading);
  add_options(command, options.data);
  add_optimizer(command, options);
  add_course(command, options);
  add_ranks(command, options);
  command
      .add_option("-o,--out", options.out,
                  "Folder of the trained model, checkpoints and logs (MODEL-trained)")
      ->option_text("FOLDER");
  command
      .add_option("--html", options.html, "Write a page for a browser: curves and confusion matrix")
      ->option_text("FILE");
  command.add_flag("--plan", options.plan.shown, "Show the plan of a training step, and end");
  command.add_flag(
      "--why", options.plan.why,
      "With --plan: show the reason of every choice, and the kernels of each joined launch");
  command.add_flag("--resume", options.beginning.resume, "Go on from the checkpoint in the folder");
  command.add_flag("--restart", options.beginning.restart,
                   "Start anew over an earlier training in the folder");
  command
      .add_option("--checkpoint-every", options.run.checkpoint_every,
                  "Save after every so many steps too, not only after each epoch")
      ->option_text("STEPS")
      ->check(whole_number(1));
  add_options(command, options.device);
  add_options(command, options.model.kernels);
  add_format(command, options.format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
}

void settle(TrainOptions& options) {
  require_one_device(options.device);
  if (options.beginning.resume && options.beginning.restart) {
    throw UsageError("--resume goes on, --restart starts anew: give one of them");
  }
  const OptimizerOptions& optimizer = options.trainer.optimizer;
  if (optimizer.momentum != 0.0 && optimizer.kind != Kind::sgd && optimizer.kind != Kind::rmsprop) {
    throw UsageError("--momentum: of sgd and rmsprop; give it with --optimizer sgd (or rmsprop)");
  }
  if (options.nesterov) {
    if (optimizer.kind != Kind::sgd || optimizer.momentum == 0.0) {
      throw UsageError(
          "--nesterov: a form of sgd's momentum; give it with --optimizer sgd and --momentum");
    }
    options.trainer.optimizer.form = OptimizerOptions::Momentum::nesterov;
  }
  if (options.recompute) {
    options.trainer.activations = TrainerOptions::Activations::recompute;
  }
  using Start = TrainingRunOptions::Start;
  options.run.start = options.beginning.resume    ? Start::resume
                      : options.beginning.restart ? Start::anew
                                                  : Start::in_empty_folder;
  if (options.out.empty()) {
    options.out = std::filesystem::path(options.model.path).stem().string() + "-trained";
  }
  require_writable("--html", options.html, options.out);
  options.run.folder = options.out;
  const Normalization normalization = normalization_of(options.data);
  options.run.mean = normalization.mean;
  options.run.deviation = normalization.deviation;
  options.trainer.seed = options.run.seed;
  options.trainer.compile = compile_options(options.model.kernels);
  options.trainer.compile.launches = options.launches;
}

}  // namespace morton::cli
