// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/data_options.hpp"
#include "common/options.hpp"
#include "morton/trainer.hpp"
#include "morton/training_run.hpp"

namespace morton::cli {

/// The options of `morton train`, as they were typed.
struct TrainOptions {
  DeviceOptions device;
  ModelOptions model;
  DataOptions data;
  TrainerOptions trainer;
  TrainingRunOptions run;
  double validation =
      0.0;                 ///< share of the training examples; 0: the test part, where there is one
  std::int64_t batch = 0;  ///< 0: what the model's file fixes, or 100
  std::int64_t classes = 0;  ///< 0: those that the model has
  CompileOptions::Launches launches = CompileOptions::Launches::automatic;
  struct Plan {
    bool shown = false, why = false;
  } plan;
  /// automatic: MPI where mpirun started this process.
  enum class Ranks : std::uint8_t { automatic, mpi, one } ranks = Ranks::automatic;
  bool nesterov = false, recompute = false;
  struct Beginning {
    bool resume = false, restart = false;
  } beginning;
  std::string out;   ///< empty: after the model's name
  std::string html;  ///< empty: no page
  Format format = Format::table;
};

void add_train_options(CLI::App& command, TrainOptions& options);

/// Settles what follows from several options: Nesterov's momentum, the folder, the start. Throws
/// UsageError for those that contradict each other.
void settle(TrainOptions& options);

}  // namespace morton::cli
