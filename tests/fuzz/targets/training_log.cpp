// SPDX-License-Identifier: Apache-2.0
#include "training/files/training_log.hpp"

#include "fuzz/fuzz_target.hpp"
#include "fuzz/sections.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {

/// log.csv and log.jsonl of a training that goes on behind step 7: damaged ones get another name,
/// then all is a log to which a line is added.
void fuzz_training_log(std::string_view bytes) {
  static const TemporaryFolder kFolder;
  const std::string_view given = bytes;
  const auto write = [&] {
    bytes = given;
    for (const char* name : {"log.csv", "log.jsonl"}) write_section(kFolder / name, bytes);
  };
  constexpr std::int64_t kStepsDone = 7;
  write();
  read_or_refuse([&] { training::require_logs(kFolder.path()); });
  read_or_refuse([&] { training::TrainingLog(kFolder.path(), kStepsDone); });
  write();
  (void)training::set_damaged_logs_aside(kFolder.path(), kStepsDone);
  for (const char* name : {"log.csv.damaged", "log.jsonl.damaged"}) {
    std::filesystem::remove(kFolder / name);
  }
  training::TrainingLog log(kFolder.path(), kStepsDone);
  training::LogRow row;  // without numbers, so that no file of TensorBoard's is begun
  row.step = kStepsDone + 1;
  log.add(row);
  training::require_logs(kFolder.path());
}

}  // namespace morton::test
