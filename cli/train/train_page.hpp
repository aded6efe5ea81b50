// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "morton/evaluation.hpp"
#include "train/train_options.hpp"
#include "train/train_result.hpp"

namespace morton::cli {

/// What a model answers after its training.
struct ClassAnswers {
  std::string data;  ///< where the examples are from
  Evaluation evaluation;
  std::vector<std::string> class_names;  ///< one for each class
};

/// A training as a page for a browser. `log`: the text of its log.csv, which has the steps before a
/// resumption too.
[[nodiscard]] std::string page_of(const TrainResult& result, const TrainOptions& options,
                                  const std::string& log,
                                  const std::optional<ClassAnswers>& answers);

}  // namespace morton::cli
