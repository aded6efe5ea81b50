// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "morton/dataset.hpp"
#include "morton/model.hpp"
#include "train/train_options.hpp"

namespace morton::cli {

/// What is learned from, and what shows how well.
struct Examples {
  Dataset training;
  std::optional<Dataset> validation, test;
};

/// A model whose file states its batch is trained with that. Throws UsageError where the batch is
/// neither the first extent nor the last one of matrices.
void settle_batch(const Model& model, TrainOptions& options);

/// A model that leaves its pictures' size open is trained at that of the data.
void settle_shape(const Examples& examples, const Model& model, TrainOptions& options);

/// What of the options does not fit the examples is told before anything is built.
void check_course(const Examples& examples, const Model& model, const TrainOptions& options);

/// Labels that the model has no output for are refused before anything is built, where the model
/// states how many it has.
void check_labels(const Examples& examples, const Model& model, const TrainOptions& options);

}  // namespace morton::cli
