// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autodiff/training_step.hpp"
#include "base/rooms.hpp"
#include "morton/trainer.hpp"
#include "training/ranks/ranks.hpp"

namespace morton::api {

/// Throws UsageError for options that are out of range or contradict each other.
void check_trainer_options(const TrainerOptions& options);
/// How the step's graph is made.
[[nodiscard]] TrainingStepOptions training_step_options(const TrainerOptions& options,
                                                        const Ranks& ranks);
/// How it is compiled: the graph has its batch already, and no other shapes.
[[nodiscard]] CompileOptions step_compile_options(const TrainerOptions& options);

}  // namespace morton::api
