// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/dataset.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton {

/// Inputs of several runs, made as they are needed.
struct InputRuns {
  std::int64_t runs = 0;
  std::int64_t examples = 0;  ///< of all runs
  std::function<std::vector<NamedTensor>(std::int64_t run)> inputs;
};

/// Which examples of a data set are shown, and how.
struct ExampleOptions {
  /// As EvaluationOptions has them.
  std::vector<float> mean, deviation;
  std::int64_t examples = 512;  ///< spread evenly over the data, in whole batches
};

/// Examples of the data as inputs of the compiled model. Throws UsageError for a model with other
/// inputs than one of f32, [batch, ...], and for data that do not fit.
[[nodiscard]] MORTON_API InputRuns example_runs(const CompiledModel& model, const Dataset& data,
                                                const ExampleOptions& options = {});

/// How a tensor of one model differs from that of the same name in another, over all runs.
struct TensorDifference {
  std::string name;
  Shape shape;                                   ///< in the last run
  double largest_error = 0.0, mean_error = 0.0;  ///< absolute differences
  /// 10 log10 of the sum of squares in the first model over that of the differences. Infinite where
  /// nothing differs, NaN of tensors without elements.
  double signal_to_noise_db = 0.0;
  std::int64_t elements = 0;
  std::int64_t not_finite = 0;  ///< of them in one model only, which no figure above counts
  /// Of outputs [rows, classes] of reals: the rows that are finite in both, and those of them whose
  /// greatest element has the same place. Further extents of 1 are allowed. 0 of other tensors.
  std::int64_t rows = 0, rows_alike = 0;
};

/// Tensors in the order of the first model.
struct ModelDifferences {
  std::vector<TensorDifference> outputs;
  std::vector<TensorDifference> inner;  ///< computed by nodes, and no outputs
  /// What one model alone has, or both in other shapes, or one as reals and the other not: of
  /// outputs, and of what has a shape.
  std::vector<Message> not_compared;
};

/// Which tensors are compared.
enum class ComparedTensors : std::uint8_t {
  outputs,
  /// Also what nodes compute under one name in both. It is computed by generic kernels
  /// (CompileOptions::Start::interim_alone), where nothing is fused that would hide it.
  all,
};

/// The shapes of inputs that both models take: where one leaves an extent open (-1), that of the
/// other. Throws UsageError where their inputs differ in names, types or extents.
[[nodiscard]] MORTON_API std::map<std::string, Shape> common_inputs(const Model& first,
                                                                    const Model& second);

/// Runs two models on the same inputs and says how their results differ: a model and its quantised
/// form, say. Throws UsageError where the models take other inputs, ModelError where no output has
/// the same name in both.
[[nodiscard]] MORTON_API ModelDifferences
compare_models(const CompiledModel& first, const CompiledModel& second, const InputRuns& runs,
               ComparedTensors tensors = ComparedTensors::outputs);

}  // namespace morton
