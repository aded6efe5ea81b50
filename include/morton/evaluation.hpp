// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/dataset.hpp"
#include "morton/export.hpp"
#include "morton/model.hpp"

namespace morton {

/// How a model's answers are found.
struct EvaluationOptions {
  /// As TrainingRunOptions has them.
  std::vector<float> mean, deviation;
  /// Of a model with one output for an example: above it the answer is class 1, else class 0
  /// (`answer_threshold`).
  double threshold = 0.0;
  /// Told which share of the examples is done (0 to 1). May be empty.
  std::function<void(double)> progress;
};

/// How often a model's first choice was right.
struct MORTON_API Evaluation {
  std::int64_t examples = 0;
  std::int64_t right = 0;
  std::int64_t classes = 0;  ///< that the model tells apart; 2 of a model with one output
  /// [classes, classes]: examples by what they show (row) and the model's answer (column).
  std::vector<std::int64_t> confusion;

  /// The share of the examples that were right, 0 to 1; 0 of no examples.
  [[nodiscard]] double accuracy() const {
    return examples == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(examples);
  }
  /// How many examples of class `truth` were answered with `answer`; both are 0 to classes - 1.
  [[nodiscard]] std::int64_t count(std::int64_t truth, std::int64_t answer) const {
    return confusion[static_cast<std::size_t>(truth * classes + answer)];
  }
};

/// Shows every example to a model of one f32 input [batch, ...] and one output [batch, classes]
/// (further extents of 1 are allowed); of equal values the first class is the answer. Matrices
/// [features, batch] and [classes, batch] of other features than classes, R17's form, serve too.
/// One output for an example, [batch] or [batch, 1], tells classes 0 and 1 apart by the threshold.
/// Throws UsageError for other models and for data that do not fit; ModelError for labels out of
/// range and answers that are no numbers; DeviceError.
[[nodiscard]] MORTON_API Evaluation evaluate(const CompiledModel& model, const Dataset& data,
                                             const EvaluationOptions& options = {});

/// The threshold that parts the answers of a model with one output for an example: 0.5 where it
/// ends in a Sigmoid, else 0, as of logits.
[[nodiscard]] MORTON_API double answer_threshold(const Model& model);

}  // namespace morton
