// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/output.hpp"
#include "morton/dataset.hpp"
#include "morton/model.hpp"
#include "morton/trainer.hpp"
#include "morton/training_run.hpp"

namespace morton::cli {

/// What the training came to, with the test part where another one was looked at on the way.
struct TrainResult {
  TrainingReport report;
  std::optional<BatchResult> test;
  std::string model_path;
  std::string labels_path{};  ///< empty where the data do not name their classes

  /// Unknown without a test part, or where its targets are shares.
  [[nodiscard]] std::optional<double> test_accuracy() const;
};

/// Writes the names of the model's classes to that file, for `morton run --labels`, and gives the
/// path; an empty text where the data name none, or the model has one output for two classes.
[[nodiscard]] std::string write_labels(const Dataset& data, const Model& model,
                                       const std::string& path);

/// For people, as rows of name and value.
[[nodiscard]] Table table_of(const TrainResult& result);

/// For people a table; for programs all that is known.
[[nodiscard]] std::string text_of(const TrainResult& result, Format format);

}  // namespace morton::cli
