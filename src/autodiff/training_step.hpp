// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autodiff/losses.hpp"
#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/optimizer.hpp"

namespace morton::autodiff {

/// What a training step is made from, besides the model.
struct TrainingStepOptions {
  std::int64_t batch = 1;
  /// Full shapes of inputs by name, where further extents are open.
  std::map<std::string, Shape> shapes;
  Loss loss = Loss::softmax_cross_entropy;
  TargetKind targets = TargetKind::labels;
  OptimizerOptions optimizer;
  std::optional<double> clip_norm;
  std::vector<std::string> freeze;  ///< names, with * and ? (TrainerOptions::freeze)
  /// Gradients of so many steps are added up before the parameters follow their mean; for more than
  /// one the update is apart.
  std::int64_t accumulate = 1;
  /// Examples of a step whose gradients are added up, of several processes; 0: the batch.
  std::int64_t examples = 0;
  /// Whether the step renews the parameters, or adds up their gradients and another graph renews.
  enum class Update : std::uint8_t { in_step, apart } update = Update::in_step;
  /// The loss is scaled on its way back, and updates whose gradients are not finite are left out:
  /// kLossScaleInput, kUnscaleInput, kOverflowOutput (conditional_updates.hpp).
  enum class LossScale : std::uint8_t { none, given } loss_scale = LossScale::none;
  /// Whether cheap results of the forward pass are kept or computed again (recomputation.hpp).
  enum class Activations : std::uint8_t { keep, recompute } activations = Activations::keep;
};

/// Names of the steps' inputs and outputs that no model gives.
inline constexpr const char* kTargetInput = "morton.target";
inline constexpr const char* kLossOutput = "morton.loss";    ///< f32 [N], of each example
inline constexpr const char* kRightOutput = "morton.right";  ///< f32 [N]; of labels only

/// Behind a parameter's name, that of its gradient as an input of the update that is apart.
inline constexpr const char* kGradientSuffix = "/gradient";

/// A model as it is trained: with its batch in front, also where the model has it last
/// (has_batch_last).
struct TrainingStep {
  /// Forward pass, loss, gradients and updates. Inputs: the model's, kTargetInput, and those that
  /// the optimizer, Dropout, accumulation and the loss's scale take. Parameters are states.
  /// Where the update is apart, the gradients are added up in states ("NAME/accumulated" for each
  /// of `trained`), and parameters stay as they are.
  Graph step;
  /// Where the update is apart: the optimizer. Its inputs are the gradients and what the optimizer
  /// takes; parameters and the optimizer's own are states. Else empty.
  Graph update;
  /// The model as it is used, with the loss behind it: the outputs are the model's, kLossOutput and
  /// kRightOutput; inputs the model's and kTargetInput. What `step` renews of the model are states
  /// here too.
  Graph evaluation;
  std::vector<std::string> trained;     ///< parameters that the step renews
  std::vector<std::string> frozen;      ///< parameters that stay
  std::vector<std::string> statistics;  ///< running statistics that the step renews
  /// What the model's file does not tell (AmbiguousParameters): scales among `trained` that may be
  /// fixed ones, and single numbers that stay though they may be learned ones.
  std::vector<std::string> ambiguous_scales, scalar_constants;
};

/// Throws UsageError for a model without exactly one input and one output, for a pattern that no
/// parameter matches and where no parameter is left to train; UnsupportedError that names a node
/// without a gradient.
[[nodiscard]] TrainingStep make_training_step(const Graph& model,
                                              const TrainingStepOptions& options);

}  // namespace morton::autodiff
