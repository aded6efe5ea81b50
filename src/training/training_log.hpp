// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "training/append_file.hpp"
#include "training/event_file.hpp"

namespace morton {

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

/// log.csv, log.jsonl and a TensorBoard file in a folder, with the same numbers.
class TrainingLog {
 public:
  /// Begins after `steps_done` steps: 0 starts the files anew; else the lines up to that step stay
  /// and later ones, which a training that goes on from there writes again, are removed. Throws
  /// ModelError for a file with other lines, UsageError where nothing can be written.
  TrainingLog(const std::filesystem::path& folder, std::int64_t steps_done);

  void add(const LogRow& row);
  /// TensorBoard only.
  void add_histogram(std::int64_t step, const std::string& tag, const Tensor& tensor) {
    events_.add_histogram(step, tag, tensor);
  }
  void add_graph(const Graph& graph) { events_.add_graph(graph); }

 private:
  AppendFile csv_, jsonl_;
  EventFile events_;
};

}  // namespace morton
