// SPDX-License-Identifier: Apache-2.0
//
// A training by several processes that MPI started.
#pragma once

#include <functional>

#include "train/train_options.hpp"

namespace morton::cli {

/// The communicator that `--ranks` asks for, or that mpirun's environment does; null for one
/// process. Ranks but the first print warnings and errors alone from then on. Throws UsageError for
/// options of ranks without any.
[[nodiscard]] std::shared_ptr<Communicator> communicator_for(const TrainOptions& options);

/// Whether this process writes files and results: it is the only one, or the first rank.
[[nodiscard]] bool is_first_rank(const TrainOptions& options);

/// For a training that writes nothing.
void take_folder_away(TrainOptions& options);

/// How the training is spread, on standard error.
void say_ranks(const TrainOptions& options);

/// Calls `train`. An error of one rank is told and ends all ranks; one that all have is told once.
int train_as_rank(const TrainOptions& options, const std::function<int()>& train);

}  // namespace morton::cli
