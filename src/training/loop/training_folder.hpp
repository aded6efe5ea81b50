// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/rooms.hpp"
#include "morton/training_run.hpp"
#include "training/files/checkpoint.hpp"

namespace morton::training {

/// The best parameters, beside the checkpoints of a training's folder.
inline constexpr const char* kBestFile = "best.safetensors";

/// Throws UsageError where the training would write over what is in its folder or cannot write
/// there, ModelError where a log there is no training's.
void check_folder(const TrainingRunOptions& options);

[[nodiscard]] bool has_checkpoint(const CheckpointStore& store);

/// Removes what a killed training left half written, apart from checkpoints.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace morton::training
