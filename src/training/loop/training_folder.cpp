// SPDX-License-Identifier: Apache-2.0
#include "training/loop/training_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "training/files/training_log.hpp"

namespace morton::training {
namespace {

constexpr const char* kModelFile = "model.onnx";

/// Throws where a folder could not be made or written to. Makes nothing.
void require_writable(const std::filesystem::path& folder) {
  std::error_code status;
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there, status) && there.has_relative_path()) {
    there = there.parent_path();
  }
  if (!std::filesystem::is_directory(there, status)) {
    throw UsageError(folder.string() + ": cannot be created: " + there.string() +
                     " is no folder; take another one");
  }
  if (::access(there.c_str(), W_OK | X_OK) == 0) return;
  throw UsageError(folder.string() + ": cannot be written: " + there.string() + ": " +
                   std::strerror(errno));
}

}  // namespace

void check_folder(const TrainingRunOptions& options) {
  using Start = TrainingRunOptions::Start;
  const std::filesystem::path folder = options.folder;
  require_writable(folder);
  const bool has_one = has_checkpoint(CheckpointStore(folder));
  if (options.start == Start::resume && has_one) return;
  if (options.start != Start::anew && has_one) {
    throw UsageError(options.folder + ": holds the checkpoint of an earlier training; resume it (" +
                     setting("start", "resume") + "), start anew over it (" +
                     setting("start", "anew") + "), or take another " + setting("folder"));
  }
  // Logs alone are what a training leaves that ended before its first checkpoint.
  require_logs(folder);
  if (options.start == Start::anew) return;
  for (const char* name : {kModelFile, kBestFile}) {
    if (!std::filesystem::exists(folder / name)) continue;
    throw UsageError((folder / name).string() +
                     ": is there already, without a checkpoint, and a training would write over "
                     "it; start anew over it (" +
                     setting("start", "anew") + "), or take another " + setting("folder"));
  }
}

bool has_checkpoint(const CheckpointStore& store) {
  return std::filesystem::exists(store.newest()) || std::filesystem::exists(store.previous());
}

void remove_unfinished_files(const std::filesystem::path& folder) {
  for (const char* name : {kModelFile, kBestFile, "log.csv", "log.jsonl"}) {
    remove_unfinished(folder / name);
  }
}

}  // namespace morton::training
