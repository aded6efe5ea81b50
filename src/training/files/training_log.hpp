// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "training/files/append_file.hpp"
#include "training/files/event_file.hpp"

namespace morton::training {

/// What is told of a training at one step. What was not measured then is absent.
struct LogRow {
  std::int64_t step = 0;  ///< steps done
  std::int64_t epoch = 0;
  std::optional<double> loss, accuracy;  ///< of the batch; accuracies from 0 to 1
  std::optional<double> validation_loss, validation_accuracy;
  std::optional<double> learning_rate;
  std::optional<double> images_per_second;
  double seconds = 0.0;  ///< since the training began, without those when it was stopped
};

/// The names of the columns, in order.
[[nodiscard]] std::vector<std::string> log_columns();
/// A row as a line of CSV or JSONL, newline included. Losses and rates give the f32 back exactly;
/// what is absent is empty or null, what is no finite number is "nan", "inf" or null.
[[nodiscard]] std::string csv_line(const LogRow& row);
[[nodiscard]] std::string jsonl_line(const LogRow& row);

/// Throws ModelError where log.csv or log.jsonl in a folder is there and is no training's log.
void require_logs(const std::filesystem::path& folder);

/// Gives log files of a folder that are damaged, or no logs, another name that is free there, so
/// that a log can go on after `steps_done` steps. Returns what to say of each.
[[nodiscard]] std::vector<std::string> set_damaged_logs_aside(const std::filesystem::path& folder,
                                                              std::int64_t steps_done);

/// log.csv, log.jsonl and a TensorBoard file in a folder, with the same numbers.
class TrainingLog {
 public:
  /// Whether rows are written at once, or held until `write_held`: what lies in the folder is then
  /// untouched for so long.
  enum class Rows : std::uint8_t { written, held };

  /// Begins after `steps_done` steps: 0 starts the files anew; else the lines up to that step stay
  /// and later ones, which a training that goes on from there writes again, are removed. Throws
  /// ModelError for a file with other lines, UsageError where nothing can be written.
  TrainingLog(std::filesystem::path folder, std::int64_t steps_done, Rows rows = Rows::written);

  void add(const LogRow& row);
  /// Writes the rows that are held; later ones are written at once.
  void write_held();
  /// TensorBoard only, and never held.
  void add_histogram(std::int64_t step, const std::string& tag, const Tensor& tensor) {
    events().add_histogram(step, tag, tensor);
  }
  void add_graph(const Graph& graph) { events().add_graph(graph); }

 private:
  void open();
  /// Opened with its first event: a run without any leaves no file.
  EventFile& events();

  std::filesystem::path folder_;
  std::int64_t steps_done_ = 0;
  std::vector<LogRow> held_;
  std::optional<AppendFile> csv_, jsonl_;  ///< nothing while rows are held
  std::optional<EventFile> events_;
};

}  // namespace morton::training
